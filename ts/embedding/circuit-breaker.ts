// Stops asking a backend that fails: after two failures in a row it is left alone for a while, then asked
// once. It counts outcomes; what a failure is, the caller decides.

const FAILURES_TO_OPEN = 2;
const FIRST_PAUSE_MS = 5_000;
const LONGEST_PAUSE_MS = 60_000;

/** Leave to ask once. Exactly one of the methods must follow. */
export interface Permit {
  succeeded(): void;
  failed(): void;
  /** The request was given up by ourselves: says nothing about the backend. */
  dropped(): void;
}

export class CircuitBreaker {
  readonly #now: () => number;
  #failures = 0;
  #pauseMs = 0;
  #openUntil = 0;
  #isProbing = false;

  /** @param now milliseconds */
  constructor(now: () => number) {
    this.#now = now;
  }

  /** Whether the backend counts as failing; stays true while a probe runs. */
  get isOpen(): boolean {
    return this.#pauseMs > 0;
  }

  /** Null while the backend is left alone, or while another call probes it. */
  enter(): Permit | null {
    const isProbe = this.isOpen;
    if (isProbe && (this.#isProbing || this.#now() < this.#openUntil)) return null;
    if (isProbe) this.#isProbing = true;
    const endProbe = () => {
      if (isProbe) this.#isProbing = false;
    };
    return {
      succeeded: () => {
        endProbe();
        this.#failures = 0;
        this.#pauseMs = 0;
      },
      failed: () => {
        endProbe();
        this.#failures++;
        // Calls that began before the pause fail late; only the probe may lengthen it.
        if (isProbe ? this.isOpen : !this.isOpen && this.#failures >= FAILURES_TO_OPEN) this.#pause();
      },
      dropped: endProbe,
    };
  }

  #pause(): void {
    this.#pauseMs = this.isOpen ? Math.min(this.#pauseMs * 2, LONGEST_PAUSE_MS) : FIRST_PAUSE_MS;
    this.#openUntil = this.#now() + this.#pauseMs;
  }
}
