// A session summary. It moves the episode boundary of its scope to now.

import type { Config } from "../config.js";
import type { WriteScope } from "../domain/scope.js";
import { parseInstant, storageStamp } from "../domain/time.js";
import type { NewEpisode } from "../store/episodes.js";
import type { NewEmbedding } from "../store/store.js";
import { cleanText } from "../text/clean.js";
import type { EmbedText } from "./block-embedder.js";
import { checkScope, checkText, cleanRequired } from "./checks.js";

export interface EpisodeRequest {
  readonly scope: WriteScope;
  readonly summary: string;
  readonly keywords?: string | undefined;
  /** the session's messages; only their timestamps are used */
  readonly history?: readonly { readonly timestamp?: unknown }[] | undefined;
  readonly resolved?: boolean | undefined;
}

export interface EpisodeOutcome {
  readonly id: number;
  readonly truncated: boolean;
}

export interface ArchiveEpisodeParts {
  readonly config: Config;
  readonly clock: { now(): number };
  readonly embedText: EmbedText;
  readonly addEpisode: (episode: NewEpisode, embedding: NewEmbedding | null) => Promise<number>;
}

/** Throws `invalid_argument`. The same summary twice makes two episodes: sessions may end alike. */
export async function archiveEpisode(
  request: EpisodeRequest,
  parts: ArchiveEpisodeParts,
): Promise<EpisodeOutcome> {
  const { contentChars } = parts.config.limits;
  checkScope(request.scope);
  const summary = cleanRequired("summary", request.summary, contentChars);
  checkText("keywords", request.keywords ?? "");
  const keywords = cleanText(request.keywords ?? "", contentChars);
  const episode: NewEpisode = {
    ...request.scope,
    summary: summary.text,
    keywords: keywords.text,
    ...sessionTimes(request.history ?? []),
    resolved: request.resolved ?? false,
    createdAt: storageStamp(parts.clock.now()),
  };
  const id = await parts.addEpisode(episode, await parts.embedText(summary.text));
  return { id, truncated: summary.truncated || keywords.truncated };
}

/** The stamps of the earliest and the latest moment, as they were written. */
function sessionTimes(history: readonly { readonly timestamp?: unknown }[]): {
  startTime: string | null;
  endTime: string | null;
} {
  const stamps = history
    .map(({ timestamp }) => timestamp)
    .filter((stamp): stamp is string => typeof stamp === "string");
  const dated = stamps.flatMap((stamp) => {
    const instant = parseInstant(stamp);
    return instant === null ? [] : [{ stamp, instant }];
  });
  dated.sort((a, b) => a.instant - b.instant);
  return { startTime: dated[0]?.stamp ?? null, endTime: dated[dated.length - 1]?.stamp ?? null };
}
