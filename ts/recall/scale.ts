// Raw cosines -> the calibrated scale that thresholds are written for.

import { calibratedCosine } from "../embedding/embedder.js";
import type { CalibratedLevels, RecallParts } from "./recall-parts.js";

/**
 * The embedder's card knows its unrelated texts from many collections; a store alone teaches what no card says.
 * Measured: in a store of two languages the store's own median is low, and then everything looks related.
 */
export function cosineScale(
  { embedder }: RecallParts,
  { unrelated }: Pick<CalibratedLevels, "unrelated">,
): (raw: number) => number {
  const unrelatedCosine = embedder.card.unrelatedCosine ?? unrelated;
  return (raw) => calibratedCosine({ unrelatedCosine }, raw);
}
