// The inner product of vectors: in a process that answers one prompt, a call per value would cost ten times the loop.

/** Of two vectors of one length, summed in double precision. */
export function dot(a: Float32Array, b: Float32Array): number {
  let sum = 0;
  for (let i = 0; i < a.length; i++) sum += (a[i] as number) * (b[i] ?? 0);
  return sum;
}
