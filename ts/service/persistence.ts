// Pausing what is written, for one session. Another session is not silenced.

import { invalidArgument } from "../errors.js";

export interface PauseState {
  readonly paused: boolean;
  /** ISO 8601, UTC; null when not paused */
  readonly expiresAt: string | null;
  readonly remainingSeconds: number | null;
}

/** Pauses live in memory and end with the process. */
const MAX_PAUSES = 256;

export class PersistencePauses {
  readonly #clock: { now(): number };
  /** session key -> end, ms since the epoch */
  readonly #ends = new Map<string, number>();

  constructor(clock: { now(): number }) {
    this.#clock = clock;
  }

  pause(sessionKey: string, ttlSeconds: number): PauseState {
    this.#dropEnded();
    const key = sessionOf(sessionKey);
    if (!this.#ends.has(key) && this.#ends.size >= MAX_PAUSES) {
      throw invalidArgument("session_key", `cannot be paused: ${MAX_PAUSES} sessions are paused already`);
    }
    this.#ends.set(key, this.#clock.now() + ttlSeconds * 1000);
    return this.state(key);
  }

  /** Returns whether the session was paused. */
  resume(sessionKey: string): boolean {
    this.#dropEnded();
    return this.#ends.delete(sessionOf(sessionKey));
  }

  state(sessionKey: string): PauseState {
    this.#dropEnded();
    const end = this.#ends.get(sessionOf(sessionKey));
    if (end === undefined) return { paused: false, expiresAt: null, remainingSeconds: null };
    return {
      paused: true,
      expiresAt: new Date(end).toISOString(),
      remainingSeconds: Math.ceil((end - this.#clock.now()) / 1000),
    };
  }

  #dropEnded(): void {
    const now = this.#clock.now();
    for (const [key, end] of this.#ends) if (end <= now) this.#ends.delete(key);
  }
}

/** Blank keys and the literal `transport` share one bucket without a key. */
function sessionOf(sessionKey: string): string {
  const key = sessionKey.trim();
  return key === "transport" ? "" : key;
}
