// Keeps the question directions of each embedder in the database: every process learns from the first.

import { createHash } from "node:crypto";
import { identityKey } from "../embedding/embedder.js";
import { learnQuestionDirections, type QuestionDirections } from "../embedding/question-direction.js";
import type { Wiring } from "./recall-parts.js";

export interface QuestionDirectionStore {
  /** Null while they are unknown, and for an embedder that has none. */
  current(): QuestionDirections | null;
  /** Asks the embedder, unless the answer is known. Rejects with `embedding_failed`. */
  learn(): Promise<void>;
}

/** What is kept for an embedder whose questions have no direction in common. */
const NONE = "none";

export function questionDirections({
  store,
  embedder,
}: Pick<Wiring, "store" | "embedder">): QuestionDirectionStore {
  const known = new Map<string, QuestionDirections | null>();
  const nameOfCurrent = (): string | null => {
    const identity =
      embedder.card.isContextual && embedder.state().status !== "off" ? embedder.identity() : null;
    if (identity === null) return null;
    return `question-direction:${createHash("sha256").update(identityKey(identity)).digest("hex").slice(0, 32)}`;
  };
  const read = (name: string): QuestionDirections | null | undefined => {
    if (known.has(name)) return known.get(name);
    const text = store.settings.get(name);
    const directions = text === null ? undefined : parse(text, embedder.identity()?.dimension ?? 0);
    if (directions !== undefined) known.set(name, directions);
    return directions;
  };
  return {
    current: () => {
      const name = nameOfCurrent();
      return name === null ? null : (read(name) ?? null);
    },
    learn: async () => {
      // A server tells its model with its first answer.
      if (embedder.card.isContextual && embedder.identity() === null) await embedder.embedQuery("memory");
      const name = nameOfCurrent();
      if (name === null || read(name) !== undefined) return;
      const directions = await learnQuestionDirections(embedder);
      // The backend may have become another model meanwhile.
      if (name === nameOfCurrent()) store.settings.put(name, directions === null ? NONE : format(directions));
    },
  };
}

function format({ latin, japanese }: QuestionDirections): string {
  return [latin, japanese].map((vector) => Buffer.from(vector.buffer).toString("base64")).join(" ");
}

/** Undefined for text that is not what `format` writes: it is learned anew. */
function parse(text: string, dimension: number): QuestionDirections | null | undefined {
  if (text === NONE) return null;
  const [latin, japanese] = text.split(" ").map((part) => Buffer.from(part, "base64"));
  if (latin?.length !== dimension * 4 || japanese?.length !== dimension * 4) return undefined;
  const toVector = (bytes: Buffer): Float32Array => new Float32Array(Uint8Array.from(bytes).buffer);
  return { latin: toVector(latin), japanese: toVector(japanese) };
}
