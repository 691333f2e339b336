// Thresholds between two samples of scores, and what they admit.

export interface Separation {
  readonly threshold: number;
  /** Youden's J at the threshold: share of positives admitted minus share of nulls admitted */
  readonly youdenJ: number;
}

const CANDIDATES = 256;

/**
 * The threshold c that maximises `TPR(c) + beta × (1 - FPR(c))` over 256 evenly spaced values of the joint
 * range; of equal ones the middle of the first run, so that it lies between the samples and not at their edge.
 */
export function separate(nulls: readonly number[], positives: readonly number[], beta: number): Separation {
  const all = [...nulls, ...positives];
  const low = Math.min(...all);
  const high = Math.max(...all);
  const gain = (c: number): number => admitted(positives, c) + beta * (1 - admitted(nulls, c));
  let best = Number.NEGATIVE_INFINITY;
  let first = low;
  let last = low;
  for (let i = 0; i < CANDIDATES; i++) {
    const c = low + ((high - low) * i) / (CANDIDATES - 1);
    const value = gain(c);
    if (value > best + 1e-12) {
      best = value;
      first = c;
      last = c;
    } else if (Math.abs(value - best) <= 1e-12 && c - last <= ((high - low) / (CANDIDATES - 1)) * 1.5)
      last = c;
  }
  const threshold = (first + last) / 2;
  return { threshold, youdenJ: admitted(positives, threshold) - admitted(nulls, threshold) };
}

/** Share of the scores at or above the threshold. */
export function admitted(scores: readonly number[], threshold: number): number {
  return scores.length === 0 ? 0 : scores.filter((score) => score >= threshold).length / scores.length;
}

export interface Distribution {
  readonly mean: number;
  readonly std: number;
  readonly median: number;
  readonly p95: number;
}

export function describeScores(scores: readonly number[]): Distribution {
  const mean = scores.reduce((sum, score) => sum + score, 0) / Math.max(1, scores.length);
  const variance = scores.reduce((sum, score) => sum + (score - mean) ** 2, 0) / Math.max(1, scores.length);
  return { mean, std: Math.sqrt(variance), median: quantile(scores, 0.5), p95: quantile(scores, 0.95) };
}

/** Linear between the neighbouring values; 0 for no scores. */
export function quantile(scores: readonly number[], share: number): number {
  const sorted = [...scores].sort((a, b) => a - b);
  const at = (sorted.length - 1) * share;
  const low = sorted[Math.floor(at)] ?? 0;
  const high = sorted[Math.ceil(at)] ?? low;
  return low + (high - low) * (at - Math.floor(at));
}

/** Numbers in [0, 1) that are the same for the same seed (mulberry32). */
export function seededRandom(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}
