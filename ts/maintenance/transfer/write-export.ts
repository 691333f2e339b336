// Lines to a file, in large pieces, letting other calls run in between.

import { nextTurn } from "../../next-turn.js";
import { writeAtomically } from "./paths.js";
import type { Line } from "./wire.js";

const PIECE_CHARS = 1 << 20;

export async function writeExport(path: string, lines: Iterable<Line>): Promise<void> {
  await writeAtomically(path, async (file) => {
    let piece = "";
    for (const line of lines) {
      piece += `${JSON.stringify(line)}\n`;
      if (piece.length < PIECE_CHARS) continue;
      await file.writeFile(piece);
      piece = "";
      await nextTurn();
    }
    await file.writeFile(piece);
  });
}
