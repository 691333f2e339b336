// Run under an emulated CPU: does the addon load there, choose the level that CPU has, and find what the twin
// finds, by every method?
//   qemu-x86_64-static -cpu Nehalem node scripts/check-old-cpu.mjs scalar
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openCore } from "../dist/native/core.js";
import { twinCore } from "../dist/native/twin/core.js";

const DIMENSION = 100;
const ROWS = 3000;
const [level] = process.argv.slice(2);
const counts = { passed: 0, failed: 0 };

function check(what, found, expected) {
  const isRight = String(found) === String(expected);
  counts[isRight ? "passed" : "failed"]++;
  console.log(`${isRight ? "ok" : "FAILED"}: ${what}${isRight ? "" : `: ${found}, not ${expected}`}`);
}

let seed = 1;
function random() {
  seed = (Math.imul(seed, 1103515245) + 12345) & 0x7fffffff;
  return seed / 0x7fffffff - 0.5;
}

function unitRows(count) {
  const rows = Float32Array.from({ length: count * DIMENSION }, random);
  for (let at = 0; at < rows.length; at += DIMENSION) {
    const row = rows.subarray(at, at + DIMENSION);
    const norm = Math.hypot(...row);
    for (let i = 0; i < DIMENSION; i++) row[i] /= norm;
  }
  return rows;
}

function fill(core, folder, vectors) {
  const index = core.openVectorIndex({
    folder,
    dimension: DIMENSION,
    identity: new Uint8Array(16),
    centre: null,
  });
  index.lock();
  index.append({
    keys: Float64Array.from({ length: ROWS }, (_, i) => i * 2),
    blocks: new Uint32Array(ROWS),
    scopes: new Uint32Array(ROWS),
    times: Float64Array.from({ length: ROWS }, (_, i) => i),
    vectors,
  });
  index.publish(1);
  return index;
}

const { core } = openCore({ mode: "required" });
check("the level in use", core.simd, level);
const folder = mkdtempSync(join(tmpdir(), "cpersona-old-cpu-"));
const vectors = unitRows(ROWS);
const [index, plain] = [fill(core, folder, vectors), fill(twinCore, null, vectors)];
for (const method of ["exact", "int8", "bits", "auto"]) {
  for (const row of [0, 1234]) {
    const ask = {
      query: vectors.subarray(row * DIMENSION, (row + 1) * DIMENSION),
      ...{ scopes: null, near: null, far: null, masked: null, only: null, extra: null },
      ...{ nearLimit: 5, farLimit: 0, floor: -1, method },
    };
    check(`${method}, row ${row}`, index.search(ask).keys, plain.search(ask).keys);
  }
}
index.close();
rmSync(folder, { recursive: true });
console.log(`${counts.passed} passed, ${counts.failed} failed, 0 skipped`);
process.exitCode = counts.failed > 0 ? 1 : 0;
