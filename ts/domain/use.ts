// How use fades: a count from last month weighs half of one from today.

/** Uses and shared uses lose half their weight in this time. */
const USE_HALF_LIFE_MS = 30 * 86_400_000;
/** No pair of records weighs more, however often it is used. */
export const MAX_CO_USE = 8;

/** What is left of a weight after some time. */
export function decayed(weight: number, elapsedMs: number): number {
  return weight * 0.5 ** (Math.max(0, elapsedMs) / USE_HALF_LIFE_MS);
}
