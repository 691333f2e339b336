// What an embedding backend looks like to the rest of the program: vectors of unit length, the identity that
// is written beside them, and a card that says how to use their cosines. Providers stand beside this file.

/** Who made a vector. Vectors of different identities are never compared. */
export interface EmbedderIdentity {
  /** `static`, `onnx`, `http`, `api` */
  readonly provider: string;
  /** name of the model; empty when a server does not tell and no setting names it */
  readonly model: string;
  readonly dimension: number;
  /** text put in front of what is embedded; both empty for models that want none */
  readonly prefixes: { readonly query: string; readonly document: string };
}

/** How to use an embedder's cosines. None of it is global: every model has its own. */
export interface EmbedderCard {
  /** share of the vote in rank fusion, where the lexical list has 1 */
  readonly fusionWeight: number;
  /** length dimension, unit norm: the direction that all texts share; null when there is none or it is unknown */
  readonly centre: Float32Array | null;
  /** median cosine of unrelated texts; null when unknown */
  readonly unrelatedCosine: number | null;
  /** whether a vector depends on the form of a text (question, statement) and not only on its words */
  readonly isContextual: boolean;
  /** ISO 639-1 codes of the languages it is good at; null when unknown */
  readonly languages: readonly string[] | null;
}

/**
 * Why a backend fails: nobody answers (network, timeout, 5xx); it answers, but not as it should; or it
 * answers as another model than before, and the embedder must be opened again to use that one.
 */
export type EmbedderFailure = "unreachable" | "misconfigured" | "model_changed";

export type EmbedderState =
  | { readonly status: "off" }
  /** not asked yet, or one failure so far */
  | { readonly status: "unknown" }
  | { readonly status: "ready" }
  /** `detail` is one sentence for `doctor`, free of addresses and keys */
  | { readonly status: "failing"; readonly reason: EmbedderFailure; readonly detail: string };

export interface Embedder {
  /**
   * Null when off, or not known yet: an HTTP backend tells its dimension with its first answer. Once known it
   * never changes, and every vector handed out belongs to it.
   */
  identity(): EmbedderIdentity | null;
  readonly card: EmbedderCard;
  /**
   * Unit vector of a question, or null when the text has none (blank, or in a script the model does not know).
   * Rejects with `embedding_failed` when the backend fails. The array may be shared: do not change it.
   */
  embedQuery(text: string): Promise<Float32Array | null>;
  /** The same for texts to be stored, in their order; all or nothing. */
  embedDocuments(texts: readonly string[]): Promise<(Float32Array | null)[]>;
  state(): EmbedderState;
  /** Ends running requests; later calls reject. */
  close(): void;
}

/** The identity of the vectors in use; null while the embedder is off or its identity is not known. */
export function presentIdentity(embedder: Pick<Embedder, "state" | "identity">): EmbedderIdentity | null {
  return embedder.state().status === "off" ? null : embedder.identity();
}

/** The label written beside every vector, e.g. `http:bge-m3:1024`; equal labels mean comparable vectors. */
export function identityKey(identity: EmbedderIdentity): string {
  const { provider, model, dimension, prefixes } = identity;
  const base = `${provider}:${model}:${dimension}`;
  if (prefixes.query === "" && prefixes.document === "") return base;
  return `${base}:${JSON.stringify([prefixes.query, prefixes.document])}`;
}

/** Level of unrelated texts on the calibrated scale, and the limit up to which raw cosines need no calibration. */
const CALIBRATED_UNRELATED = 0.4;

/**
 * A cosine on the scale that thresholds are written for. Equal to `raw` for embedders whose unrelated texts
 * lie below 0.4 or are unknown, else on the straight line that takes their unrelated median to 0.4 and 1 to 1
 * (so far below the median it can be less than -1).
 */
export function calibratedCosine(card: Pick<EmbedderCard, "unrelatedCosine">, raw: number): number {
  const { unrelatedCosine } = card;
  if (unrelatedCosine === null || unrelatedCosine < CALIBRATED_UNRELATED) return raw;
  return 1 - ((1 - raw) * (1 - CALIBRATED_UNRELATED)) / (1 - unrelatedCosine);
}
