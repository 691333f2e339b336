// Vectors as bytes and as text, in files and settings: float32, little-endian as every platform of ours is.

/** The float32 values as base64. */
export function encodeVector(vector: Float32Array): string {
  return Buffer.from(vector.buffer, vector.byteOffset, vector.byteLength).toString("base64");
}

/** Null when the text is no whole number of finite float32 values. */
export function decodeVector(text: string): Float32Array | null {
  if (!/^[A-Za-z0-9+/]*={0,2}$/.test(text)) return null;
  return readVector(Buffer.from(text, "base64"));
}

/** Null for bytes that are no whole number of finite float32 values, and for none. */
export function readVector(bytes: Uint8Array): Float32Array | null {
  if (bytes.byteLength === 0 || bytes.byteLength % 4 !== 0) return null;
  const vector = new Float32Array(Uint8Array.from(bytes).buffer);
  return vector.every((value) => Number.isFinite(value)) ? vector : null;
}
