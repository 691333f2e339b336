// Settings that many recall tests start from, and the modes that a promise has to hold in.

import type { EmbedStub } from "../support/embed-stub.js";
import type { Settings } from "../support/settings.js";

export const embeddedBy = (stub: EmbedStub, more: Settings = {}): Settings => ({
  CPERSONA_EMBEDDING_MODE: "http",
  CPERSONA_EMBEDDING_URL: stub.url,
  ...more,
});

/** Rows of one minute would else come along as neighbours and share their scores. */
export const ALONE: Settings = { CPERSONA_NEIGHBOUR_SHARE: "0" };

export const UNCUT: Settings = { CPERSONA_AUTOCUT_ENABLED: "false" };

export const CONFIDENT: Settings = { CPERSONA_CONFIDENCE_ENABLED: "true" };

export const MODES: readonly (readonly [string, Settings])[] = [
  ["rrf", { CPERSONA_RECALL_MODE: "rrf" }],
  ["rsf", { CPERSONA_RECALL_MODE: "rsf" }],
  ["cascade", { CPERSONA_RECALL_MODE: "cascade" }],
  ["confidence over rrf", { CPERSONA_RECALL_MODE: "rrf", ...CONFIDENT }],
  ["confidence over cascade", { CPERSONA_RECALL_MODE: "cascade", ...CONFIDENT }],
];
