// What a reader is told while the search by meaning is less than whole: everything once, then in short, until
// all is well again.

import type { Degraded } from "../recall/retrievers/meaning.js";

export interface Advisory {
  /** `hint`: it is set up so, or mends itself; `fault`: something fails */
  readonly severity: "hint" | "fault";
  readonly reason: string;
  /** what was seen and what to do about it; null in the short form */
  readonly details: { readonly evidence: string; readonly runbook: string } | null;
  /** whom the long form was for: a caller with a session key, or everybody in this process */
  readonly scope: "session" | "process";
}

/** Sessions that are remembered; the oldest is told again. */
const MAX_SESSIONS = 256;

export class Advisories {
  readonly #isOn: boolean;
  readonly #isShared: boolean;
  readonly #told = new Set<string>();

  /** @param isShared callers without a session key may be anybody, and get the long form each time */
  constructor(isOn: boolean, isShared: boolean) {
    this.#isOn = isOn;
    this.#isShared = isShared;
  }

  /** Null while nothing is wrong. */
  of(sessionKey: string | undefined, degraded: Degraded | null, gaps: Gaps): Advisory | null {
    const about = describe(degraded, gaps);
    if (about === null) {
      // The next outage is another one.
      this.#told.clear();
      return null;
    }
    if (!this.#isOn) return null;
    const session = (sessionKey ?? "").trim();
    const scope = session === "" || session === "transport" ? "process" : "session";
    const isKnown = this.#told.has(session) && !(scope === "process" && this.#isShared);
    this.#remember(session);
    const { evidence, runbook, ...rest } = about;
    return { ...rest, details: isKnown ? null : { evidence, runbook }, scope };
  }

  #remember(session: string): void {
    this.#told.add(session);
    if (this.#told.size <= MAX_SESSIONS) return;
    const oldest = this.#told.values().next();
    if (!oldest.done) this.#told.delete(oldest.value);
  }
}

/** What records may lack at the moment. */
export interface Gaps {
  /** a vector: they are found by their words only */
  readonly vectors: boolean;
  /** an entry in the words index */
  readonly words: boolean;
}

interface About {
  readonly severity: Advisory["severity"];
  readonly reason: string;
  readonly evidence: string;
  readonly runbook: string;
}

function describe(degraded: Degraded | null, gaps: Gaps): About | null {
  switch (degraded?.what) {
    case "off":
      return {
        severity: "hint",
        reason: "embeddings are switched off: rows were found by words only",
        evidence: "CPERSONA_EMBEDDING_MODE is none",
        runbook: "Ask with the words that a row would hold. Another CPERSONA_EMBEDDING_MODE adds meaning.",
      };
    case "words_only":
      return {
        severity: "fault",
        reason: "embeddings are unavailable: rows were found by words only",
        evidence: degraded.reason,
        runbook:
          "Ask with the words that a row would hold. What is stored now gets its vector later. People start the embedding server again and run `cpersona-native doctor`.",
      };
    case "local_vectors":
      return {
        severity: "fault",
        reason: "the vector service is unavailable: the vectors kept here were searched",
        evidence: degraded.reason,
        runbook:
          "Answers are as usual within the newest rows. What is stored now is pushed later. People start the vector service again and run `cpersona-native doctor`.",
      };
    case "newest_vectors":
      return {
        severity: "hint",
        reason: "the vector index is not ready: older rows were found by words only",
        evidence: degraded.reason,
        runbook:
          "Ask again in a few seconds, or with the words that a row would hold. Where it stays so, people run `cpersona-native doctor`.",
      };
  }
  if (gaps.words)
    return {
      severity: "hint",
      reason: "the words index is being repaired: some records are found by their meaning only",
      evidence: "it was damaged, or lacked records; it is filled from the records, newest first",
      runbook: "Ask again in a minute, or look rows up with list_memories. It mends itself.",
    };
  if (!gaps.vectors) return null;
  return {
    severity: "hint",
    // How many would tell of other agents' rows.
    reason: "some records have no vector yet: they are found by their words only",
    evidence: "they were stored while the embedder was away, imported without vectors, or the model changed",
    runbook: "Nothing to do: they are filled in by themselves. check_health says how many are left.",
  };
}
