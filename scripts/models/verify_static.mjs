// Second implementation of the static embedder, in another language than the reference; checks golden.json.
//   node verify_static.mjs DIR      (DIR holds static.ste and golden.json)
import { readFileSync } from "node:fs";

const dir = process.argv[2];
const raw = readFileSync(`${dir}/static.ste`);
const buf = raw.buffer.slice(raw.byteOffset, raw.byteOffset + raw.length);
const dv = new DataView(buf);
const V = dv.getUint32(8, true),
  d = dv.getUint32(12, true),
  maxlen = dv.getUint32(16, true),
  unk = dv.getFloat32(20, true),
  bits = dv.getUint32(28, true);
let o = 32;
const take = (T, n) => {
  const a = new T(buf, o, n);
  o += a.byteLength;
  return a;
};
const scores = take(Float32Array, V),
  offs = take(Uint32Array, V + 1),
  scales = take(Float32Array, V);
take(Float32Array, d);
let rows = take(Uint8Array, (V * d * bits) / 8);
if (bits === 8) rows = new Int8Array(rows.buffer, rows.byteOffset, V * d);
else {
  const packed = rows;
  rows = new Int8Array(V * d);
  packed.forEach((b, i) => {
    rows[2 * i] = (b & 15) - 8;
    rows[2 * i + 1] = (b >> 4) - 8;
  });
}
const blob = raw.subarray(o),
  ids = new Map();
for (let i = 0; i < V; i++) ids.set(blob.toString("utf8", offs[i], offs[i + 1]), i);
const SPACE = /[\t-\r \x85\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000]+/gu;
function encode(text) {
  const t = text
    .normalize("NFKC")
    .toLowerCase()
    .replace(SPACE, "\u2581")
    .replace(/^\u2581+|\u2581+$/gu, "");
  if (!t) return [];
  const s = Array.from("\u2581" + t),
    n = s.length;
  const best = new Float64Array(n + 1).fill(-Infinity),
    from = new Int32Array(n + 1),
    id = new Int32Array(n + 1).fill(-1);
  best[0] = 0;
  for (let i = 0; i < n; i++) {
    let key = "";
    for (let e = i + 1; e <= Math.min(n, i + maxlen); e++) {
      key += s[e - 1];
      const k = ids.get(key);
      if (k !== undefined && best[i] + scores[k] > best[e]) {
        best[e] = best[i] + scores[k];
        from[e] = i;
        id[e] = k;
      }
    }
    if (best[i] + unk > best[i + 1]) {
      best[i + 1] = best[i] + unk;
      from[i + 1] = i;
      id[i + 1] = -1;
    }
  }
  const out = [];
  for (let e = n; e > 0; e = from[e]) if (id[e] >= 0) out.push(id[e]);
  return out.reverse();
}
function embed(list) {
  const acc = new Float32Array(d);
  for (const k of list) for (let j = 0; j < d; j++) acc[j] += Math.fround(scales[k] * rows[k * d + j]);
  let n = 0;
  for (const x of acc) n += x * x;
  n = Math.sqrt(n);
  return n > 0 ? acc.map((x) => x / n) : acc;
}
let bad = 0,
  worst = 0;
const golden = JSON.parse(readFileSync(`${dir}/golden.json`, "utf8"));
for (const g of golden) {
  const list = encode(g.text),
    v = embed(list);
  const diff = Math.max(0, ...g.vector.map((x, i) => Math.abs(x - v[i])));
  worst = Math.max(worst, diff);
  if (JSON.stringify(list) !== JSON.stringify(g.ids) || diff > 2e-6) {
    bad++;
    console.log("differs:", g.text, diff, list.join(), "|", g.ids.join());
  }
}
const t0 = performance.now();
let tokens = 0,
  reps = 200;
for (let r = 0; r < reps; r++) for (const g of golden) tokens += encode(g.text).length;
console.log(
  `${golden.length - bad} passed, ${bad} failed; largest difference ${worst.toExponential(2)}; encode ${((performance.now() - t0) / reps / golden.length).toFixed(3)} ms/text`,
);
process.exit(bad ? 1 : 0);
