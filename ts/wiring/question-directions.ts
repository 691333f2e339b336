// Keeps the question directions of each embedder in the database: every process learns from the first.

import { createHash } from "node:crypto";
import { decodeVector, encodeVector } from "../domain/vector-bytes.js";
import { identityKey, presentIdentity } from "../embedding/embedder.js";
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
  const presentKey = (): string | null => {
    const identity = embedder.card.isContextual ? presentIdentity(embedder) : null;
    return identity === null ? null : identityKey(identity);
  };
  const read = (key: string): QuestionDirections | null | undefined => {
    if (known.has(key)) return known.get(key);
    const text = store.settings.get(settingOf(key));
    const directions = text === null ? undefined : parse(text, embedder.identity()?.dimension ?? 0);
    if (directions !== undefined) known.set(key, directions);
    return directions;
  };
  return {
    current: () => {
      const key = presentKey();
      return key === null ? null : (read(key) ?? null);
    },
    learn: async () => {
      // A server tells its model with its first answer.
      if (embedder.card.isContextual && embedder.identity() === null) await embedder.embedQuery("memory");
      const key = presentKey();
      if (key === null || read(key) !== undefined) return;
      const directions = await learnQuestionDirections(embedder);
      // The backend may have become another model meanwhile.
      if (key !== presentKey()) return;
      const text = directions === null ? NONE : format(directions);
      await store.database.write(() => store.settings.put(settingOf(key), text), { background: true });
    },
  };
}

function settingOf(key: string): string {
  return `question-direction:${createHash("sha256").update(key).digest("hex").slice(0, 32)}`;
}

function format({ latin, japanese }: QuestionDirections): string {
  return `${encodeVector(latin)} ${encodeVector(japanese)}`;
}

/** Undefined for text that is not what `format` writes: it is learned anew. */
function parse(text: string, dimension: number): QuestionDirections | null | undefined {
  if (text === NONE) return null;
  const [latin, japanese] = text.split(" ").map(decodeVector);
  if (latin?.length !== dimension || japanese?.length !== dimension) return undefined;
  return { latin, japanese };
}
