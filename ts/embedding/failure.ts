// The one error of a failing backend. Its message is ours: no address, no key, no text of the server.

import { MemoryError } from "../errors.js";
import type { EmbedderFailure } from "./embedder.js";

export class EmbeddingError extends MemoryError {
  readonly reason: EmbedderFailure;
  /** the server is there and refused what was in the request (status 400, 413, 422): others may be taken */
  readonly refusesTexts: boolean;

  constructor(reason: EmbedderFailure, message: string, { refusesTexts = false } = {}) {
    super("embedding_failed", message);
    this.name = "EmbeddingError";
    this.reason = reason;
    this.refusesTexts = refusesTexts;
  }
}
