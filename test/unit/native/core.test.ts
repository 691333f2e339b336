import { describe, expect, it } from "vitest";
import { openCore } from "../../../ts/native/core.js";
import type { NativeLoad } from "../../../ts/native/loader.js";
import { platformOf } from "../../../ts/native/platform.js";
import { twinCore } from "../../../ts/native/twin/core.js";
import { nativeAbsence, theAddon } from "../../support/native.js";

const cause = new Error("/lib/libc.so.6: version `GLIBC_2.99' not found\nmore");
const failing = (): NativeLoad => ({
  platform: platformOf("linux", "x64", "gnu"),
  binding: null,
  place: null,
  failures: [{ place: "local build", error: cause }],
});

describe("opening the core", () => {
  it("falls back to the twins with one line that names platform and cause", () => {
    const { core, notice } = openCore({}, failing);
    expect(core).toBe(twinCore);
    expect(notice).toContain("linux-x64-gnu");
    expect(notice).toContain("GLIBC_2.99");
    expect(notice).not.toContain("\n");
  });

  it("throws when native code is required, with the cause kept", () => {
    const open = () => openCore({ mode: "required" }, failing);
    expect(open).toThrow(expect.objectContaining({ code: "invalid_setting" }));
    try {
      open();
    } catch (error) {
      const attempts = (error as { cause: AggregateError }).cause.errors as Error[];
      expect(attempts[0]?.cause).toBe(cause);
    }
  });

  it("does not look for the addon when it is switched off", () => {
    const opened = openCore({ mode: "off" }, () => {
      throw new Error("looked");
    });
    expect(opened).toEqual({ core: twinCore, notice: null, load: null });
  });
});

describe.skipIf(nativeAbsence !== "")(`opening the native core${nativeAbsence}`, () => {
  it("is native without a notice", () => {
    const { core, notice } = openCore();
    expect([core.kind, notice]).toEqual(["native", null]);
    expect(["avx512", "avx2", "neon", "scalar"]).toContain(core.simd);
  });

  it("reads memory like the twin", (context) => {
    const { xorWords } = openCore().core;
    if (xorWords === null) context.skip("a published addon has no entries for benchmarks");
    const bytes = Uint8Array.from({ length: 10_007 }, (_, i) => (i * 37 + (i >> 3)) & 255);
    for (const part of [bytes, bytes.subarray(3), bytes.subarray(0, 515), bytes.subarray(0, 2)])
      for (const threads of [1, 2, 5])
        expect(xorWords?.(part, threads)).toBe(twinCore.xorWords?.(part, threads));
    for (const read of [xorWords, twinCore.xorWords])
      expect(() => read?.(bytes, 0)).toThrow(expect.objectContaining({ field: "threads" }));
  });

  it("uses a named level, and refuses or reports one that is not there", () => {
    const best = theAddon().binding.simdLevel();
    expect(openCore({ simd: "scalar" }).core.simd).toBe("scalar");
    expect(openCore({ simd: best }).core.simd).toBe(best);
    const { core, notice } = openCore({ simd: "mmx" });
    expect(core.simd).toBe(best);
    expect(notice).toContain(`${best} is used`);
    expect(() => openCore({ simd: "mmx", mode: "required" })).toThrow(
      expect.objectContaining({ code: "invalid_setting", field: "simd" }),
    );
  });
});
