// Chooses what computes: the native addon where it loads, the TypeScript twins elsewhere, with one line that
// says why. Settings are passed in.

import { describeError, MemoryError } from "../errors.js";
import { nativeCore } from "./binding.js";
import type { NativeCore } from "./contract.js";
import { describeFailures, loadAddon, type NativeLoad } from "./loader.js";
import { twinCore } from "./twin/core.js";

export interface CoreOptions {
  /** `auto` falls back to the twins, `off` uses only them, `required` throws instead. Default `auto`. */
  readonly mode?: "auto" | "off" | "required";
  /** instruction set to use instead of the CPU's best: `avx512`, `avx2`, `neon`, `scalar` */
  readonly simd?: string | undefined;
}

export interface OpenedCore {
  readonly core: NativeCore;
  /** one line for the log when not everything is as asked; null when it is */
  readonly notice: string | null;
  /** what the loader saw, for `doctor`; null with `mode: "off"` */
  readonly load: NativeLoad | null;
}

/** Throws `invalid_setting` only with `mode: "required"`. */
export function openCore(options: CoreOptions = {}, loadNative: () => NativeLoad = loadAddon): OpenedCore {
  const { mode = "auto", simd } = options;
  if (mode === "off") return { core: twinCore, notice: null, load: null };
  const load = loadNative();
  if (load.binding === null) {
    const where = `no native addon for ${load.platform.triple} could be loaded`;
    if (mode === "required") throw new MemoryError("invalid_setting", where, { cause: causeOf(load) });
    const notice = `${where}, so the slower TypeScript code runs (${describeFailures(load).join("; ")})`;
    return { core: twinCore, notice, load };
  }
  const notice = simd === undefined ? null : forceSimd(load.binding, simd, mode);
  return { core: nativeCore(load.binding), notice, load };
}

function forceSimd(
  binding: NonNullable<NativeLoad["binding"]>,
  simd: string,
  mode: "auto" | "required",
): string | null {
  try {
    binding.forceSimd(simd);
    return null;
  } catch (error) {
    const message = describeError(error);
    if (mode === "required")
      throw new MemoryError("invalid_setting", message, { field: "simd", cause: error });
    return `${message}, so ${binding.simdLevel()} is used`;
  }
}

/** All failures in the order of the attempts, each with its own cause. */
function causeOf(load: NativeLoad): AggregateError {
  const errors = load.failures.map(({ place, error }) => new Error(place, { cause: error }));
  return new AggregateError(errors, describeFailures(load).join("; "));
}
