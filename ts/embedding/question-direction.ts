// The direction that questions share in a contextual model's space. Such a model places "what did she say about
// it" near every short question, whatever it asks about; taken off the query, the rest says what is asked for.
// A shift of the query only: stored vectors, indexes and the cosines that are shown stay as they are.

import type { Embedder } from "./embedder.js";

/** Mean unit vectors of questions without a subject, by the script of the query. */
export interface QuestionDirections {
  readonly latin: Float32Array;
  readonly japanese: Float32Array;
}

/**
 * Recall@10 of the vector list alone without and with it, LoCoMo development questions: multilingual-e5-small with
 * one prefix 44.4 and 57.4, cut to bare keywords 49.5 and 56.8, with two prefixes 55.9 and 58.4 (0.5);
 * all-MiniLM-L6-v2 49.4 and 51.4; JSQuAD with e5 97.1 and 97.7. Between 0.5 and 0.85 hardly anything changes.
 */
const SHARE = 0.6;
/** Shorter means point nowhere: the questions have no direction in common (e5 0.91, MiniLM 0.46). */
const MIN_LENGTH = 0.4;

const LATIN = [
  "What did she say about it?",
  "When did he go there?",
  "Where does she live now?",
  "Who did they meet last week?",
  "Why did he decide to do that?",
  "How long has she been doing this?",
  "What is the name of the thing he uses?",
  "What kind of work does he do?",
  "How many times did they go?",
  "Which one does she like best?",
  "What happened after that?",
  "What are the plans for next month?",
  "Did she ever try it?",
  "What is his favourite place?",
  "How did he feel about it?",
  "What would she probably choose?",
  "When is it due?",
  "Who is responsible for this?",
  "What did we decide?",
  "Which version are we using?",
  "How do I set it up?",
  "Where is the file?",
  "What is the reason for the error?",
  "What changed since last time?",
];

const JAPANESE = [
  "それは何ですか。",
  "いつ行きましたか。",
  "どこに住んでいますか。",
  "誰が決めましたか。",
  "なぜそうなったのですか。",
  "どうやって使いますか。",
  "いくつありますか。",
  "どれが一番好きですか。",
  "その後どうなりましたか。",
  "来月の予定は何ですか。",
  "名前は何といいますか。",
  "どんな仕事をしていますか。",
  "何年に始まりましたか。",
  "どのくらいかかりますか。",
  "その原因は何か。",
  "何と呼ばれているか。",
  "どこにありますか。",
  "担当者は誰ですか。",
  "何を決めましたか。",
  "どのバージョンを使っていますか。",
  "設定の方法は?",
  "期限はいつですか。",
  "前回から何が変わりましたか。",
  "何で有名ですか。",
];

/**
 * Asks the embedder for its questions, one after the other so that real ones come between. Null when they have no
 * direction in common. Rejects with `embedding_failed`.
 */
export async function learnQuestionDirections(
  embedder: Pick<Embedder, "embedQuery">,
): Promise<QuestionDirections | null> {
  const latin = await meanOf(LATIN, embedder);
  const japanese = await meanOf(JAPANESE, embedder);
  if (latin === null || japanese === null || latin.length !== japanese.length) return null;
  const both = latin.map((value, i) => (value + (japanese[i] ?? 0)) / 2);
  return Math.hypot(...both) < MIN_LENGTH ? null : { latin, japanese };
}

async function meanOf(
  texts: readonly string[],
  embedder: Pick<Embedder, "embedQuery">,
): Promise<Float32Array | null> {
  let mean: Float32Array | null = null;
  for (const text of texts) {
    const vector = await embedder.embedQuery(text);
    if (vector === null) return null;
    mean ??= new Float32Array(vector.length);
    for (let i = 0; i < mean.length; i++) mean[i] = (mean[i] ?? 0) + (vector[i] ?? 0) / texts.length;
  }
  return mean;
}

const KANA_OR_HAN = /[\p{scx=Hiragana}\p{scx=Katakana}\p{scx=Han}]/u;

/** What the vectors are searched with: the query's unit vector without the direction, unit norm again. */
export function withoutQuestionDirection(
  query: Float32Array,
  text: string,
  { latin, japanese }: QuestionDirections,
): Float32Array {
  const direction = KANA_OR_HAN.test(text) ? japanese : latin;
  const rest = query.map((value, i) => value - SHARE * (direction[i] ?? 0));
  const norm = Math.hypot(...rest);
  return norm === 0 ? query : rest.map((value) => value / norm);
}
