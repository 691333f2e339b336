// Every behaviour that users may rely on: an id, where the promise comes from, and one sentence. Tests cite the
// ids (`verifies.ts`, the scenario files); `coverage.test.ts` fails for an id that nothing cites.
// Sources: "seed N §M" the mission's documents, "design" this project's decisions, "tools" the wire contract.

export interface Requirement {
  readonly source: string;
  readonly sentence: string;
}

function from<const T extends Readonly<Record<string, string>>>(
  source: string,
  sentences: T,
): { [Id in keyof T]: Requirement } {
  return Object.fromEntries(
    Object.entries(sentences).map(([id, sentence]) => [id, { source, sentence }]),
  ) as { [Id in keyof T]: Requirement };
}

export const REQUIREMENTS = {
  ...from("seed 000 §1", {
    "context.chronological":
      "recall_with_context answers by the moment that stamps name, whatever their offset, and a stamp without one is UTC",
    "context.undated-first": "messages without a readable stamp come before all others, in merged order",
    "order.best-is-last": "recall answers in ascending relevance: the last row is the best match",
  }),
  ...from("seed 000 §2", {
    "signal.priority":
      "the signal that keys a row is confidence, else rsf, else cosine, else rrf, and match_reason names it",
    "signal.only-on-scored-rows":
      "rows without a score, as the keyword rows of cascade, carry no match_reason",
    "confidence.orders":
      "confidence, where it is on, orders the answer, and rrf and rsf give the same rows in the same order",
    "confidence.gates": "confidence, where it is on, is what the quality gate looks at",
    "confidence.is-no-match-strength":
      "under confidence an exact match on an old row may lie below a paraphrase",
  }),
  ...from("seed 000 §3", {
    "penalty.old-rows-sink": "memories from before the newest episode sink, unless told otherwise",
    "penalty.switch": "CPERSONA_EPISODE_PENALTY_ENABLED switches the episode penalty off",
    "penalty.rate": "CPERSONA_EPISODE_DECAY_RATE sets how fast older memories sink",
    "penalty.floor": "CPERSONA_EPISODE_DECAY_FLOOR is the least that is left of a score",
    "penalty.boundary": "memories at the boundary and after it keep their score",
    "penalty.needs-an-episode": "without an episode nothing sinks",
    "penalty.scope": "only an episode that the query may see sets the boundary: agent, project and channel",
    "penalty.undated-is-exempt": "a memory without a readable stamp keeps its score",
  }),
  ...from("seed 000 §4", {
    "window.newest-rows": "search by meaning sees the newest CPERSONA_MAX_MEMORIES rows of the scope",
    "window.memories-and-episodes-each": "the window counts memories and episodes each for themselves",
    "window.words-reach-further": "rows older than the window are found by their words",
    "window.far-list": "CPERSONA_VECTOR_REACH adds the rows between window and reach as a list of their own",
    "window.far-list-adds-only": "the far list leaves the signals of the rows inside the window as they were",
    "window.reach-beyond-window": "a reach that is not larger than the window changes nothing",
    "window.cascade-ignores-reach": "cascade ignores the reach",
    "window.far-limit":
      "CPERSONA_VECTOR_FAR_LIMIT bounds the rows of the far list, and never lifts them over limit",
    "window.rsf-counts-the-far-list":
      "under rsf the far list counts as one more channel, which lowers every fused score",
  }),
  ...from("seed 000 §5", {
    "update.changes-the-row": "update_memory changes a stored row, and it is found by its new text",
    "pause.skips": "while persistence is paused, a write is skipped",
    "dedup.msg-id": "a known msg_id is skipped and answers with the id of the row that holds it",
    "dedup.msg-id-ignores-channel": "a msg_id counts across channels",
    "dedup.msg-id-per-project": "a msg_id counts inside its project",
    "dedup.msg-id-sees-global-pool": "a msg_id in the global pool also counts for a write to a project",
    "dedup.content": "a text that the bucket holds is skipped and answers with the id of its row",
    "dedup.content-per-channel": "the same text is stored again in another channel",
    "dedup.content-per-project": "the same text is stored again in another project",
    "dedup.content-sees-global-pool": "a text in the global pool or the shared channel also counts",
    "dedup.narrow-copy-does-not-count": "a copy inside a project or channel does not stop a wider write",
    "dedup.per-agent": "agents do not share copies",
    "dedup.never-changes-a-row": "there is no upsert: storing again changes nothing of the stored row",
    "dedup.skips-say-why": "a skip names its reason",
    "store.rejection-has-reason": "a refused write answers rejected with a reason",
  }),
  ...from("seed 000 §6", {
    "autocut.under-confidence": "autocut cuts at the largest gap of confidence",
    "autocut.pure-cosine": "autocut cuts a list of raw cosines, and no list in which a row has none",
    "autocut.inert-in-fusion": "autocut changes nothing under rrf and rsf, whatever its settings",
  }),
  ...from("seed 000 §7", {
    "profile.from-50-rows":
      "the profile row appears from 50 rows in scope on, memories and episodes together",
    "profile.unscored-last":
      "with confidence off the profile stands behind all scored rows and falls to the limit first",
    "profile.scored-with-confidence":
      "with confidence on the profile row is scored like any other and stands high",
    "profile.one-row": "there is one profile row, and an update replaces it",
  }),
  ...from("seed 000 §8", {
    "gate.fallback-only-with-confidence":
      "gate_fallback marks keyword hits below the gate, and exists with confidence only",
  }),
  ...from("seed 000 §9", {
    "lock.protects": "a locked row is neither deleted nor changed",
    "lock.does-not-rank": "a lock changes nothing of the ranking",
  }),
  ...from("seed 000 §10", {
    "health.status": "check_health gives one verdict, status, and no healthy",
    "shape.unknown-tool": "an unknown tool answers with a bare error",
    "shape.failures-carry-ok-false": "a failed tool call carries ok false and its error",
    "shape.reads-carry-no-ok": "a successful read carries no ok",
  }),
  ...from("seed 001", {
    "context.echo": "conversation entries are cut like rows and carry no ref",
    "episode.found": "an archived episode is found under its own ref",
    "preview.pure-prefix":
      "a long text is shown as a pure prefix of at most 500 characters, without any mark",
    "preview.marked-only-when-cut": "content_truncated and content_len are there only when the text was cut",
    "preview.code-points": "a cut falls between code points and never splits an emoji",
    "preview.can-be-excluded": "a preview passed back as exclude_contents excludes its row",
    "preview.setting": "CPERSONA_RECALL_PREVIEW_CHARS sets the length, and 0 shows every text whole",
    "preview.library-is-whole": "the library gives whole texts, only the wire cuts",
    "contents.whole-rows": "get_contents gives whole rows for refs",
    "contents.missing": "malformed and unknown refs come back in missing and spoil nothing else",
    "contents.foreign-is-missing": "another agent's ref is missing, as if it did not exist",
    "contents.at-most-20": "more than 20 refs, or none, are refused",
    "excerpt.matching-passage": "a row that the preview cuts carries the passages that answer, in text order",
    "excerpt.qualifier": "a passage comes with the sentence that limits it",
    "excerpt.only-on-cut-rows": "rows shown whole, blank queries and full content carry no excerpt",
    "excerpt.setting": "CPERSONA_RECALL_EXCERPT_CHARS sets the length, and 0 switches excerpts off",
    "excerpt.basis": "excerpt_basis tells what the excerpt was made from",
    "excerpt.code-points": "no cut of an excerpt splits an emoji, its sequences or a combined character",
    "full-content.whole":
      "full_content gives whole rows, best first within 200,000 characters, and says when it bit",
    "ref.on-every-row": "every row of the database carries its ref",
  }),
  ...from("seed 003", {
    "ambient.sentinel": "a prompt that the store knows nothing about gets exactly the sentinel",
    "ambient.block": "a prompt that a memory answers gets the block with its literal headings and manifest",
    "ambient.persona-follows-the-prompt":
      "the persona line is the value or intention that fits the prompt, or empty",
    "ambient.exclude-tags": "excluded tags hold for every slot, for reasons and for contradictions",
    "ambient.because": "a declared reason of a hit comes with it",
    "ambient.contradiction": "a declared contradiction between rows is shown",
    "ambient.wording": "CPERSONA_AMBIENT_LANG sets the language of headings and sentinel",
    "ambient.breakdown": "score parts are shown only on request",
    "ambient.history": "earlier prompts carry a short connecting prompt, and nothing carries thanks",
    "ambient.passive": "an ambient call changes nothing that ranks",
    "ambient.safe": "stored text cannot close the block, open a tag or forge the manifest",
    "ambient.no-structured-content": "ambient_recall answers with text, and with data as text when asked",
    "relate.declared":
      "relations are declared and removed between the agent's own rows, and say what they did",
  }),
  ...from("design", {
    "window.newest-of-equal-stamps": "of rows of one second the newest ids are inside the window",
    "gate.keyword-hits-after-calibration":
      "a keyword hit is shown after calibration and with strict precision",
    "gate.unrelated-before-calibration":
      "an unrelated query gives nothing before calibration, however few rows there are",
    "recall.form-of-questions":
      "rows that are like a question only in being questions do not push out the row that answers it",
    "store.blocks-behind-a-slow-embedder":
      "a write waits a quarter of a second for the blocks of a long record; the others are embedded behind it",
    "contents.ranges": "get_contents gives a span or blocks of a row, in characters of its stored text",
    "contents.unresolved": "a range that cannot be given comes back in unresolved with its reason",
    "list.cursor": "lists go on behind next_cursor, without gaps and repeats, until it is absent",
    "bounds.answer": "an answer stays within its stated size and says what it shortened or left out",
    "contents.budget": "what does not fit into one answer is deferred by name, and the first row always fits",
    "dedup.near-duplicates-are-kept":
      "a text that differs in anything is stored: corrections look like copies",
    "dedup.other-source": "the same text from another source is skipped",
    "dedup.deleted-copy-is-gone": "a text whose row was deleted is stored again",
    "words.short-cjk": "two-character words of Japanese and Korean are found",
    "words.width-and-case": "width, case and half-width kana do not matter",
    "words.short-and-numbers": "two-letter words and bare numbers are found",
    "words.stemming": "English words are found in their other forms",
    "words.hits-survive": "a keyword hit is always shown, whatever its cosine and the size of the store",
    "words.identifiers": "identifiers, paths and versions are found whole and by their parts",
    "words.exact-identifier-first":
      "a row that holds an exact identifier of the question is the best, whatever else resembles it",
    "words.without-embedder": "recall works without an embedder",
    "words.unrelated-is-empty": "a query that shares only function words with the store gives nothing",
    "meaning.without-common-words": "a row that shares no word with the query is found by its meaning",
    "meaning.embedder-down": "without its embedder, recall finds rows by words and says so",
    "meaning.store-without-vector": "a write during an outage of the embedder is kept and found by its words",
    "meaning.vectors-come-back":
      "vectors that an outage or an import left out are made by themselves, and recall says so until then",
    "meaning.model-change":
      "after a change of the model rows are found by words, and embedded anew once by one process of all",
    "meaning.vector-service":
      "a vector service ranks in the scope that was asked for, and the vectors here stand in when it fails",
    "meaning.vector-service-catches-up": "what a vector service missed is pushed or removed later",
    "meaning.vector-service-purge": "deleting an agent's data purges it at the vector service",
    "meaning.fresh-rows": "a stored row is found by meaning at once",
    "agent.default": "a call that names no agent is the configured agent's",
    "agent.empty-says-who-has-rows":
      "an answer that is empty because the agent has no rows names agents that do",
    "project.setting": "CPERSONA_PROJECT_ID is the default of writes, and of reads with the global pool",
    "project.star": "project * reads all projects and cannot be written to",
    "bounds.content": "a text over 16,000 characters is cut and says truncated",
    "bounds.keys": "id, agent_id, channel and project_id over 256 characters are refused",
    "bounds.timestamp": "a timestamp over 64 characters is refused",
    "bounds.json": "serialised source or metadata over 8,000 characters are refused",
    "bounds.query": "a query of 100,000 characters is answered, a longer one refused",
    "bounds.tools-list": "the list of tools stays within 28,000 characters, the core ones within 10,000",
    "text.well-formed": "lone surrogates and NUL are refused at the door, in every text field",
    "arguments.coerced": "wrong types that can mean only one thing are taken for it",
    "arguments.null-is-absent": "null counts as not given",
    "arguments.named-in-refusals": "every refusal names the field and its rule",
    "ties.newer-row-wins": "of rows of the same second the newer id counts as newer",
    "memory.survives-restart": "what was stored is there after a restart, by words and by meaning",
    "memory.two-processes": "two servers on one database see each other's rows at once",
    "stdio.initialize-first": "initialize is answered before anything slow, whatever state the storage is in",
    "stdio.only-protocol": "stdout carries protocol frames only, however the start goes",
    "stdio.ends-with-stdin": "the server ends within a second of stdin's end and answers what is running",
    "stdio.ends-on-signal": "the server ends on SIGTERM",
    "stdio.broken-storage-is-said":
      "without a usable database every call fails with one line that says what to do",
    "files.private": "the database is readable by its owner only",
  }),
  ...from("tools", {
    "context.leaves-out-what-is-held":
      "rows whose text the conversation holds are left out of recall_with_context",
    "context.filter-only":
      "entries of roles other than user and assistant filter and are not shown, and context_filter_only names them",
    "context.field-issues":
      "fields of entries that are no text are taken as absent, and context_field_issues names them",
    "recall.deep": "a deep recall halves the gate and knows no age",
    "scope.every-mode": "agent, project, channel and source_id restrict the answer in every recall mode",
    "exclude.every-mode": "exclude_contents holds in every recall mode, by 32 characters of prefix",
    "profile.never-excluded": "exclude_contents does not leave out the profile row",
    "profile.empty-query": "an empty query counts the profile among its limit and puts it last",
    "words.no-query-syntax": "nothing in a query is syntax: no query makes recall fail",
    "store.two-forms": "store takes flat arguments and a message object, and refuses a mixture",
    "store.cleaning": "annotations of earlier recalls are removed, and the text is trimmed",
    "store.source": "type words of a source are folded; without a source it is the agent",
    "store.timestamp": "the caller's timestamp is kept as written, and now stands in for none",
    "store.future": "a timestamp far ahead of the clock is noted, refused or ignored by setting",
    "scope.agent": "an agent never sees another agent's rows, in any tool",
    "scope.project":
      "a project sees itself and the global pool; omitted sees all, empty only the global pool",
    "scope.channel": "a channel sees itself and the shared one; omitted or empty sees all",
    "scope.axes-combine": "agent, project and channel restrict together",
    "source-id.exact": "a source_id that ends in a letter or digit means exactly that id",
    "source-id.prefix": "any other source_id means ids that start with it",
    "exclude.equal-text": "a row whose text equals an entry is left out, without regard to case and blanks",
    "exclude.prefix-from-32": "prefixes count from 32 characters on, in both directions",
    "exclude.does-not-cost-rows": "excluded rows do not use up places of the answer",
    "recall.empty-query": "an empty query gives the newest memories, the newest last",
    "recall.limit": "at most limit rows come back, and limit 0 gives none",
    "recall.row-keys":
      "rows carry source, timestamp and id only when they have them, and match_reason when scored",
    "list.newest-first": "list_memories goes from the newest to the oldest",
    "list.scope": "list_memories keeps to agent, project and channel; agent '' lists all agents",
    "list.limit": "list_memories answers at most limit rows, cut like previews",
    "delete.removes": "a deleted memory is gone from recall, lists and contents",
    "delete.only-own": "deleting an unknown or foreign row fails the same way and deletes nothing",
    "shape.structured-equals-content": "structured content equals the text of the answer, failures included",
    "shape.schemas": "every answer, failures included, fits its tool's output schema",
    "shape.hints": "every tool says whether it reads, writes or destroys",
    "shape.input-schemas": "input schemas are plain objects without combinators or foreign references",
  }),
} as const;

export type RequirementId = keyof typeof REQUIREMENTS;

/** Promises that later work keeps; listed so that they are not forgotten. Nothing cites them yet. */
export const KNOWN_GAPS: Readonly<Record<string, string>> = {};
