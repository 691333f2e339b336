// The addon for tests: loaded once, or a reason that tests can show when they skip.

import { nativeCore } from "../../ts/native/binding.js";
import { describeFailures, loadAddon } from "../../ts/native/loader.js";

const load = loadAddon();

const binding = load.binding;
const native = binding === null ? null : nativeCore(binding);

/** For titles of skipped suites: empty when the addon is there. */
export const nativeAbsence =
  binding === null ? ` (skipped, no addon: ${describeFailures(load).join("; ")})` : "";

/** Inside a suite that runs only with the addon. */
export function theAddon(): { binding: NonNullable<typeof binding>; core: NonNullable<typeof native> } {
  if (binding === null || native === null) throw new Error(`no native addon${nativeAbsence}`);
  return { binding, core: native };
}
