// Finds and loads the native addon: the platform package first, then a build in this checkout. It keeps the
// real reason of every failure, since "not installed", "needs a newer glibc" and "damaged file" look alike
// from afar. It reads no setting: the caller passes them.

import { createRequire } from "node:module";
import { describeError } from "../errors.js";
import { packageRoot, packageVersion } from "../package-root.js";
import type { NativeBinding } from "./binding.js";
import { differingLimits } from "./limits.js";
import { detectPlatform, type Platform } from "./platform.js";

const PACKAGE = "cpersona-native";

/** A place where the addon could have been. */
interface LoadFailure {
  /** `package cpersona-native-linux-x64-gnu`, or `local build` */
  readonly place: string;
  /** what went wrong there, as it was thrown */
  readonly error: unknown;
}

export interface NativeLoad {
  readonly platform: Platform;
  readonly binding: NativeBinding | null;
  /** the place that the binding came from */
  readonly place: string | null;
  /** the places tried without success, in order */
  readonly failures: readonly LoadFailure[];
}

export interface LoadPlaces {
  readonly platform: Platform;
  /** folder from which the platform package is resolved, and `crates/node` found */
  readonly root: string;
  /** version that an addon must have; null accepts any */
  readonly version: string | null;
}

/** Tries each place in turn; never throws. */
export function loadAddon(places: LoadPlaces = defaultPlaces()): NativeLoad {
  const { platform, root } = places;
  const require = createRequire(`${root}/package.json`);
  const packageName = `${PACKAGE}-${platform.triple}`;
  const candidates = [
    { place: `package ${packageName}`, id: packageName },
    { place: "local build", id: `${root}/crates/node/${PACKAGE}.${platform.triple}.node` },
  ];
  const failures: LoadFailure[] = [];
  for (const { place, id } of candidates) {
    try {
      const binding = require(id) as NativeBinding;
      checkVersion(binding, places.version);
      checkLimits(binding);
      return { platform, binding, place, failures };
    } catch (error) {
      failures.push({ place, error });
    }
  }
  return { platform, binding: null, place: null, failures };
}

/** One line for each failed place, for `doctor`; the first line of a cause says what matters. */
export function describeFailures(load: NativeLoad): string[] {
  return load.failures.map(({ place, error }) => {
    const isAbsent = (error as { code?: unknown }).code === "MODULE_NOT_FOUND";
    return `${place}: ${isAbsent ? "not found" : describeError(error).split("\n", 1)[0]}`;
  });
}

function defaultPlaces(): LoadPlaces {
  return { platform: detectPlatform(), root: packageRoot(), version: packageVersion() };
}

/** An addon of another version would take other arguments; a left-over platform package is one. */
function checkVersion(binding: NativeBinding, expected: string | null): void {
  const found = binding.addonVersion();
  if (expected !== null && found !== expected) {
    throw new Error(`the addon has version ${found}, but ${expected} is needed`);
  }
}

/** Otherwise what one implementation takes, the other would refuse. */
function checkLimits(binding: NativeBinding): void {
  const differing = differingLimits(binding.limits?.());
  if (differing.length > 0) throw new Error(`the addon has other limits (${differing.join(", ")})`);
}
