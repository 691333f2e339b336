import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { LIMITS } from "../../../ts/native/limits.js";
import { describeFailures, type LoadPlaces, loadAddon } from "../../../ts/native/loader.js";
import { detectPlatform, libcOfMappings, platformOf } from "../../../ts/native/platform.js";

const PLATFORM = platformOf("linux", "x64", "gnu");
/** What an addon of this checkout says of its limits. */
const LIMITS_EXPORT = `; exports.limits = () => (${JSON.stringify(LIMITS)})`;
const PACKAGE = "cpersona-native-linux-x64-gnu";

describe("the platform", () => {
  it("names triples as the platform packages are named", () => {
    expect(PLATFORM.triple).toBe("linux-x64-gnu");
    expect(platformOf("linux", "arm64", "musl").triple).toBe("linux-arm64-musl");
    expect(platformOf("darwin", "arm64", null).triple).toBe("darwin-arm64");
    expect(platformOf("win32", "x64", null).triple).toBe("win32-x64-msvc");
  });

  it("tells the C library by what is mapped", () => {
    const line = (path: string) => `7f00-7f01 r-xp 00000000 08:01 123    ${path}\n`;
    expect(libcOfMappings(line("/lib/ld-musl-x86_64.so.1"))).toBe("musl");
    expect(libcOfMappings(line("/usr/lib/x86_64-linux-gnu/libc.so.6"))).toBe("gnu");
    expect(libcOfMappings(line("/usr/bin/node"))).toBeNull();
  });

  it("detects this process", () => {
    const platform = detectPlatform();
    expect(platform.os).toBe(process.platform);
    expect(platform.libc === null).toBe(process.platform !== "linux");
  });
});

describe("the loader", () => {
  let root: string;
  let places: LoadPlaces;

  beforeEach(() => {
    root = mkdtempSync(join(tmpdir(), "loader-"));
    places = { platform: PLATFORM, root, version: "1.2.3" };
  });

  afterEach(() => rmSync(root, { recursive: true }));

  function writePackage(main: string, content: string): void {
    const folder = join(root, "node_modules", PACKAGE);
    mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, "package.json"), JSON.stringify({ name: PACKAGE, main }));
    writeFileSync(join(folder, main), content);
  }

  it("says what it looked for when there is nothing", () => {
    const load = loadAddon(places);
    expect(load.binding).toBeNull();
    expect(describeFailures(load)).toEqual([`package ${PACKAGE}: not found`, "local build: not found"]);
  });

  it("refuses an addon whose limits are others, and names them", () => {
    const other = { ...LIMITS, maxDimension: 65_535 };
    const version = "exports.addonVersion = () => '1.2.3'";
    writePackage("addon.cjs", `${version}; exports.limits = () => (${JSON.stringify(other)})`);
    expect(loadAddon(places).binding).toBeNull();
    expect(describeFailures(loadAddon(places))[0]).toContain("other limits (maxDimension)");
  });

  it("refuses an addon that is older than the table of limits", () => {
    writePackage("addon.cjs", "exports.addonVersion = () => '1.2.3'");
    expect(describeFailures(loadAddon(places))[0]).toContain("other limits (maxDimension, ");
  });

  it("takes the platform package first", () => {
    writePackage("addon.cjs", `exports.addonVersion = () => '1.2.3'${LIMITS_EXPORT}`);
    const load = loadAddon(places);
    expect(load.place).toBe(`package ${PACKAGE}`);
    expect(load.binding?.addonVersion()).toBe("1.2.3");
    expect(load.failures).toEqual([]);
  });

  it("keeps the real cause of a binary that does not load", () => {
    writePackage("addon.node", "this is no shared library");
    const load = loadAddon(places);
    expect(load.binding).toBeNull();
    expect(load.failures[0]?.error).toMatchObject({ code: "ERR_DLOPEN_FAILED" });
    expect(describeFailures(load)[0]).not.toContain("not found");
  });

  it("refuses an addon of another version and goes on looking", () => {
    writePackage("addon.cjs", "exports.addonVersion = () => '1.0.0'");
    const load = loadAddon(places);
    expect(load.binding).toBeNull();
    expect(describeFailures(load)[0]).toContain("version 1.0.0, but 1.2.3 is needed");
    expect(load.failures).toHaveLength(2);
  });
});
