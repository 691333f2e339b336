import { readdirSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
// @ts-expect-error a plain script without types
import { addonFile, TARGETS } from "../../../scripts/native-targets.mjs";
import { platformOf } from "../../../ts/native/platform.js";

const ROOT = fileURLToPath(new URL("../../..", import.meta.url));

interface Target {
  readonly rust: string;
  readonly triple: string;
  readonly os: string;
  readonly cpu: string;
  readonly libc?: "glibc" | "musl";
}

interface Manifest {
  readonly name: string;
  readonly version: string;
  readonly main: string;
  readonly files: string[];
  readonly os: string[];
  readonly cpu: string[];
  readonly libc?: string[];
  readonly engines: { readonly node: string };
}

const targets = TARGETS as readonly Target[];
const manifestOf = (folder: string) =>
  JSON.parse(readFileSync(`${ROOT}/${folder}/package.json`, "utf8")) as Manifest;

describe("the platform packages", () => {
  it("are one for each target", () => {
    expect(readdirSync(`${ROOT}/npm`).sort()).toEqual(targets.map(({ triple }) => triple).sort());
  });

  it.each(targets)(
    "$triple is named, matched and versioned as the loader and the main package want",
    (target) => {
      const manifest = manifestOf(`npm/${target.triple}`);
      const libc = target.libc === "glibc" ? "gnu" : (target.libc ?? null);
      expect(platformOf(target.os, target.cpu, libc).triple).toBe(target.triple);
      const main = manifestOf(".");
      expect(manifest.name).toBe(`${main.name}-${target.triple}`);
      expect(manifest.version).toBe(main.version);
      expect(manifest.engines).toEqual(main.engines);
      expect([manifest.main, manifest.files]).toEqual([addonFile(target.triple), [addonFile(target.triple)]]);
      expect([manifest.os, manifest.cpu]).toEqual([[target.os], [target.cpu]]);
      expect(manifest.libc).toEqual(target.libc === undefined ? undefined : [target.libc]);
    },
  );

  it("hold no binary in the checkout", () => {
    for (const { triple } of targets) {
      expect(readdirSync(`${ROOT}/npm/${triple}`).sort()).toEqual(["README.md", "package.json"]);
    }
  });

  it("share their version with the Rust workspace", () => {
    const cargo = readFileSync(`${ROOT}/Cargo.toml`, "utf8");
    const version = /\[workspace\.package\]\s*version = "([^"]+)"/.exec(cargo)?.[1];
    expect(version).toBe(manifestOf(".").version);
  });
});
