// What an import did, in numbers and in words.

import type { Survey } from "./survey.js";

const MAX_ERRORS = 100;

export interface ImportOutcome {
  readonly dryRun: boolean;
  readonly importedMemories: number;
  readonly skippedMemories: number;
  readonly importedEpisodes: number;
  readonly skippedEpisodes: number;
  readonly updatedProfiles: number;
  readonly skippedProfiles: number;
  /** CPersona's graph as the file carries it */
  readonly associations: { readonly entities: number; readonly mentions: number; readonly relations: number };
  readonly folders: { readonly folders: number; readonly members: number };
  /** relations that were added here */
  readonly relations: number;
  /** what has no place here, by name */
  readonly leftOut: Readonly<Record<string, number>>;
  readonly vectors: { readonly kept: number; readonly dropped: number };
  readonly futureTimestamps: number;
  readonly futureEpisodeTimestamps: number;
  readonly errors: readonly string[];
}

export class ImportReport {
  importedMemories = 0;
  skippedMemories = 0;
  importedEpisodes = 0;
  skippedEpisodes = 0;
  updatedProfiles = 0;
  skippedProfiles = 0;
  relations = 0;
  danglingRelations = 0;
  keptVectors = 0;
  droppedVectors = 0;
  futureTimestamps = 0;
  futureEpisodeTimestamps = 0;
  readonly #survey: Survey;
  readonly #dryRun: boolean;
  readonly #errors: string[] = [];
  #unlisted = 0;

  constructor(survey: Survey, { dryRun }: { readonly dryRun: boolean }) {
    this.#survey = survey;
    this.#dryRun = dryRun;
    const { memories, episodes } = survey.withoutProject;
    if (memories + episodes > 0)
      this.#say(`${memories} memories and ${episodes} episodes name no project; they go to the global pool`);
  }

  /** A record that was not taken. */
  refuse(place: string, reason: string): void {
    this.#say(`${place}: refused: ${reason}`);
  }

  /** A record that was taken with something missing. */
  note(place: string, what: string): void {
    this.#say(`${place}: ${what}`);
  }

  #say(text: string): void {
    if (this.#errors.length < MAX_ERRORS) this.#errors.push(text);
    else this.#unlisted++;
  }

  outcome(): ImportOutcome {
    const { counts } = this.#survey;
    return {
      dryRun: this.#dryRun,
      importedMemories: this.importedMemories,
      skippedMemories: this.skippedMemories,
      importedEpisodes: this.importedEpisodes,
      skippedEpisodes: this.skippedEpisodes,
      updatedProfiles: this.updatedProfiles,
      skippedProfiles: this.skippedProfiles,
      associations: { entities: counts.entity, mentions: counts.mention, relations: counts.relation },
      folders: { folders: counts.folder, members: counts.folder_member },
      relations: this.relations,
      leftOut: this.#leftOut(),
      vectors: { kept: this.keptVectors, dropped: this.droppedVectors },
      futureTimestamps: this.futureTimestamps,
      futureEpisodeTimestamps: this.futureEpisodeTimestamps,
      errors:
        this.#unlisted === 0
          ? this.#errors
          : [...this.#errors, `${this.#unlisted} more errors were not listed`],
    };
  }

  #leftOut(): Record<string, number> {
    const { counts, otherRelations, unknownTypes } = this.#survey;
    const all: [string, number][] = [
      ["entities", counts.entity],
      ["mentions", counts.mention],
      ["folders", counts.folder],
      ["folder_members", counts.folder_member],
      ...Array.from(otherRelations, ([name, n]): [string, number] => [`relations: ${name}`, n]),
      ["relations to records that are not in the file", this.danglingRelations],
      ...Array.from(unknownTypes, ([name, n]): [string, number] => [`records: ${name.slice(0, 64)}`, n]),
    ];
    return Object.fromEntries(all.filter(([, n]) => n > 0));
  }
}
