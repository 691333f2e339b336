// What the server and its model process say to each other.

import type { EmbedderFailure } from "../embedder.js";
import type { OnnxModel } from "./model-folder.js";

export interface OpenMessage {
  readonly open: { readonly model: OnnxModel; readonly threads: number };
}

export interface EmbedMessage {
  readonly id: number;
  /** goes in front of each text */
  readonly prefix: string;
  readonly texts: readonly string[];
  /** goes before texts that are to be stored */
  readonly isUrgent: boolean;
}

export type ModelMessage =
  | {
      readonly id: number /** null for a text that the model does not know */;
      readonly rows: readonly (Float32Array | null)[];
    }
  /** without `id`: the model cannot be opened */
  | { readonly id?: number; readonly reason: EmbedderFailure; readonly message: string };
