// The one error of a failing backend. Its message is ours: no address, no key, no text of the server.

import { MemoryError } from "../errors.js";
import type { EmbedderFailure } from "./embedder.js";

export class EmbeddingError extends MemoryError {
  readonly reason: EmbedderFailure;

  constructor(reason: EmbedderFailure, message: string) {
    super("embedding_failed", message);
    this.name = "EmbeddingError";
    this.reason = reason;
  }
}
