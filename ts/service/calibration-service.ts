// Calibration as a capability: on request, by itself in the background, and the precision that people set.

import { type Config, PRECISION_BETAS } from "../config.js";
import { describeError, invalidArgument, isStorageFault, MemoryError } from "../errors.js";
import { log } from "../log.js";
import {
  type CalibrateParts,
  type CalibrateRequest,
  type Calibration,
  calibrate,
} from "../maintenance/calibrate.js";
import { type CalibrationStore, type Precision, precisionName } from "../maintenance/calibration.js";

export interface CalibrationParts {
  readonly config: Config;
  readonly calibrations: CalibrationStore;
  /** what calibrating an agent works with; "" is all agents */
  readonly partsFor: (agentId: string) => CalibrateParts;
  /** agents with rows, most rows first, with their number of memories */
  readonly agents: () => readonly { agentId: string; rows: number }[];
  /** Takes the right to calibrate in the background for `ms`; false when another process has it. */
  readonly lease: (ms: number) => Promise<boolean>;
  readonly release: () => Promise<void>;
  /** width and name of the embedder's vectors; null while they are unknown */
  readonly embedder: () => { dimension: number; identity: string } | null;
}

export interface CalibrationOutcome {
  readonly calibration: Calibration;
  readonly request: CalibrateRequest;
  readonly oldThreshold: number;
  readonly dimension: number;
  readonly identity: string;
}

export interface PrecisionState {
  readonly precision: Precision | "custom";
  readonly beta: number;
  readonly overridden: boolean;
  readonly globalPrecision: Precision | "custom";
  readonly globalBeta: number;
}

const LEASE_MS = 15_000;
const MAX_SAMPLE = 5000;
const MAX_Z = 10;
/** Agents calibrated in one background run: the largest stores first. */
const MAX_AUTOMATIC_AGENTS = 20;

export class CalibrationService {
  readonly #parts: CalibrationParts;
  #running: Promise<void> | undefined;
  #stopped = false;

  constructor(parts: CalibrationParts) {
    this.#parts = parts;
  }

  /** Learns the levels of an agent ("" all agents) and keeps them. Throws `not_found` when there is too little to learn from. */
  async calibrate(agentId: string, options: Partial<CalibrateRequest> = {}): Promise<CalibrationOutcome> {
    const parts = this.#parts.partsFor(agentId);
    // A server tells its model with its first answer.
    if (this.#parts.embedder() === null) await parts.embed("memory");
    const embedder = this.#parts.embedder();
    if (embedder === null) throw new MemoryError("not_found", "Need at least 10 embeddings, found 0");
    const { calibrations, config } = this.#parts;
    const request = this.#request(agentId, options);
    const oldThreshold = calibrations.get(agentId)?.threshold ?? config.recall.minSimilarity;
    const calibration = await calibrate(request, parts, () => this.#stopped);
    if (this.#parts.embedder()?.identity !== embedder.identity)
      throw new MemoryError("embedding_failed", "the embedding server's model changed meanwhile");
    await calibrations.put(agentId, calibration);
    return { calibration, request, oldThreshold, ...embedder };
  }

  #request(agentId: string, options: Partial<CalibrateRequest>): CalibrateRequest {
    const defaults = this.#parts.config.calibration;
    const clamp = (value: number, low: number, high: number): number => Math.min(high, Math.max(low, value));
    return {
      sampleSize: clamp(options.sampleSize || defaults.sampleSize, 1, MAX_SAMPLE),
      method: options.method ?? "separation",
      zFactor: clamp(options.zFactor || defaults.zFactor, -MAX_Z, MAX_Z),
      percentile: options.percentile || defaults.percentile,
      beta: options.beta ?? this.precision(agentId).beta,
      acceptRelated: options.acceptRelated ?? true,
    };
  }

  /** Sets an agent's precision and calibrates with it; a failure leaves the old setting. Null clears it. */
  async setPrecision(agentId: string, beta: number | null): Promise<CalibrationOutcome> {
    const wanted = beta ?? this.#parts.config.calibration.beta;
    if (!(wanted > 0)) throw invalidArgument("beta", "must be above 0");
    const outcome = await this.calibrate(agentId, { beta: wanted });
    await this.#parts.calibrations.setBeta(agentId, beta);
    return outcome;
  }

  precision(agentId: string): PrecisionState {
    const globalBeta = this.#parts.config.calibration.beta;
    const own = this.#parts.calibrations.beta(agentId);
    const beta = own ?? globalBeta;
    return {
      precision: precisionName(beta),
      beta,
      overridden: own !== null,
      globalPrecision: precisionName(globalBeta),
      globalBeta,
    };
  }

  /**
   * Calibrates what is due. Runs one at a time; what cannot be calibrated yet is tried again when it has grown.
   * Rejects when the storage fails.
   */
  calibrateDue(options: { readonly all?: boolean } = {}): Promise<void> {
    this.#running ??= this.#calibrateDue(options.all ?? false).finally(async () => {
      this.#running = undefined;
      await this.#parts.release();
    });
    return this.#running;
  }

  /** Forgets an agent whose data is deleted. */
  forget(agentId: string): Promise<void> {
    return this.#parts.calibrations.remove(agentId);
  }

  /** Ends a background run at its next step, and resolves when it has ended. */
  async idle(): Promise<void> {
    this.#stopped = true;
    await this.#running?.catch(() => {});
  }

  async #calibrateDue(all: boolean): Promise<void> {
    const { calibrations } = this.#parts;
    if (!(await this.#parts.lease(LEASE_MS))) return;
    const agents = this.#parts.agents();
    const total = { agentId: "", rows: agents.reduce((sum, { rows }) => sum + rows, 0) };
    for (const { agentId, rows } of [...agents.slice(0, MAX_AUTOMATIC_AGENTS), total]) {
      if (this.#stopped) return;
      if (!all && !calibrations.isDue(agentId, rows)) continue;
      try {
        await this.calibrate(agentId, { acceptRelated: false });
      } catch (error) {
        if (isStorageFault(error)) throw error;
        log("debug", `not calibrated: ${describeError(error)}`);
        if (error instanceof MemoryError && error.code === "not_found")
          await calibrations.putFailure(agentId, rows);
      }
    }
  }
}

export function betaOf(precision: Precision): number {
  return PRECISION_BETAS[precision];
}
