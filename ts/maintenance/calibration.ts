// Keeps what calibration learned, for each agent and each embedder, and decides when to learn again.

import { createHash } from "node:crypto";
import { PRECISION_BETAS } from "../config.js";
import type { CalibratedLevels } from "../recall/recall-parts.js";
import type { Calibration } from "./calibrate.js";

/** Named values of the database. */
export interface SettingsStore {
  get(name: string): string | null;
  put(name: string, value: string): Promise<void>;
  remove(name: string): Promise<void>;
}

export type Precision = keyof typeof PRECISION_BETAS;

/** The name of a beta, or `custom`. */
export function precisionName(beta: number): Precision | "custom" {
  const known = Object.entries(PRECISION_BETAS).find(([, value]) => value === beta);
  return known === undefined ? "custom" : (known[0] as Precision);
}

/** Grown to so many times the rows it was made with, a calibration is made anew. */
const GROWTH = 2;
/** From so many rows on a store is calibrated by itself. */
const MIN_AUTOMATIC_ROWS = 30;

/** `agentId` "" stands for all agents together, used where an agent has no calibration of its own. */
export class CalibrationStore {
  readonly #settings: SettingsStore;
  /** identity of the embedder, or null while it is unknown */
  readonly #identity: () => string | null;

  constructor(settings: SettingsStore, identity: () => string | null) {
    this.#settings = settings;
    this.#identity = identity;
  }

  /** The agent's own calibration, else that of all agents; null before there is one for this embedder. */
  get(agentId: string): Calibration | null {
    return this.own(agentId) ?? (agentId === "" ? null : this.own(""));
  }

  own(agentId: string): Calibration | null {
    const text = this.#name(agentId) === null ? null : this.#settings.get(this.#name(agentId) as string);
    if (text === null) return null;
    try {
      return JSON.parse(text) as Calibration;
    } catch {
      return null;
    }
  }

  async put(agentId: string, calibration: Calibration): Promise<void> {
    const name = this.#name(agentId);
    if (name !== null) await this.#settings.put(name, JSON.stringify(calibration));
  }

  /** Notes that nothing could be learned from so many rows: trying costs seconds in a large store. */
  async putFailure(agentId: string, rows: number): Promise<void> {
    const name = this.#name(agentId, "calibration-failed");
    if (name !== null) await this.#settings.put(name, String(rows));
  }

  /** Names hold no agent or model text, so that any of them is a valid name. */
  #name(agentId: string, what = "calibration"): string | null {
    const identity = this.#identity();
    if (identity === null) return null;
    return `${what}:${createHash("sha256").update(`${identity}\n${agentId}`).digest("hex").slice(0, 32)}`;
  }

  /** Forgets what belongs to an agent. */
  async remove(agentId: string): Promise<void> {
    for (const name of [this.#name(agentId), this.#name(agentId, "calibration-failed")])
      if (name !== null) await this.#settings.remove(name);
    await this.setBeta(agentId, null);
  }

  /**
   * `globalBeta` counts where the agent has no precision of its own. Given the `rows` that it has now, what was
   * learned from less than half of them counts no more: the first rows of a store are often of one topic.
   */
  levels(agentId: string, globalBeta: number, rows: number | null = null): CalibratedLevels {
    const found = this.get(agentId);
    const known = found !== null && rows !== null && rows >= found.rows * GROWTH ? null : found;
    return {
      unrelated: known?.unrelated ?? null,
      cosine: known?.threshold ?? null,
      confidence: known?.confidence ?? null,
      beta: this.beta(agentId) ?? globalBeta,
    };
  }

  /** The agent's own weight of precision, or null where the setting of all agents counts. */
  beta(agentId: string): number | null {
    const text = this.#settings.get(precisionSetting(agentId));
    return text === null ? null : Number(text);
  }

  async setBeta(agentId: string, beta: number | null): Promise<void> {
    if (beta === null) await this.#settings.remove(precisionSetting(agentId));
    else await this.#settings.put(precisionSetting(agentId), String(beta));
  }

  /** Whether a store of so many rows should be calibrated by itself now. */
  isDue(agentId: string, rows: number): boolean {
    const failed = this.#name(agentId, "calibration-failed");
    if (rows < MIN_AUTOMATIC_ROWS || failed === null) return false;
    const tried = Math.max(this.own(agentId)?.rows ?? 0, Number(this.#settings.get(failed) ?? 0));
    return rows >= tried * GROWTH;
  }
}

function precisionSetting(agentId: string): string {
  return `precision:${createHash("sha256").update(agentId).digest("hex").slice(0, 32)}`;
}
