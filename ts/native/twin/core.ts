// The native core's stand-in: the same interface in plain TypeScript, for platforms without the addon and as
// the oracle of its tests.

import type { NativeCore } from "../contract.js";
import { twinFusion } from "./fusion.js";
import { openTwinStaticTable } from "./static-table.js";
import { openTwinVectorIndex } from "./vector-index.js";
import { checkThreads } from "./vector-rules.js";

export const twinCore: NativeCore = {
  kind: "twin",
  simd: "typescript",
  version: "twin",
  fusion: twinFusion,
  openVectorIndex: openTwinVectorIndex,
  openStaticTable: openTwinStaticTable,
  xorWords,
};

function xorWords(bytes: Uint8Array, threads: number): number {
  checkThreads(threads);
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  let sum = 0;
  for (let at = 0; at + 4 <= bytes.byteLength; at += 4) sum ^= view.getUint32(at, true);
  return sum >>> 0;
}
