// A model on this machine, run by a child process that starts with the first text and ends with the embedder.

import { type ChildProcess, fork } from "node:child_process";
import { type Backend, type BackendAnswer, type BackendRequest, toUnitVectors } from "../backend.js";
import type { EmbedderIdentity } from "../embedder.js";
import { EmbeddingError } from "../failure.js";
import type { EmbedMessage, ModelMessage } from "./messages.js";
import { type OnnxModel, readModelFolder } from "./model-folder.js";

export interface OnnxBackendOptions {
  readonly folder: string;
  /** of one run, at least 1 */
  readonly threads: number;
  /** the script of the model process */
  readonly script: string;
  /** the process ends after so long without a request, ms; 0 keeps it */
  readonly idleMs: number;
}

interface Waiting {
  readonly texts: number;
  readonly resolve: (answer: BackendAnswer) => void;
  readonly reject: (error: EmbeddingError) => void;
}

export class OnnxBackend implements Backend {
  readonly provider = "onnx";
  /** A large model takes a second for a few texts on a slow machine, and a request has a time limit. */
  readonly textsPerRequest = 16;
  readonly #options: OnnxBackendOptions;
  readonly #waiting = new Map<number, Waiting>();
  #model: OnnxModel | null = null;
  #child: ChildProcess | null = null;
  #problem: EmbeddingError | null = null;
  #idle: NodeJS.Timeout | undefined;
  #lastId = 0;

  constructor(options: OnnxBackendOptions) {
    this.#options = options;
  }

  problem(): EmbeddingError | null {
    return this.#problem;
  }

  /** Null while the folder cannot be read. */
  model(): OnnxModel | null {
    try {
      return this.#mustModel();
    } catch {
      return null;
    }
  }

  identity(): EmbedderIdentity | null {
    const model = this.model();
    if (model === null) return null;
    return { provider: this.provider, model: model.id, dimension: model.dimension, prefixes: model.prefixes };
  }

  async ask(request: BackendRequest): Promise<BackendAnswer> {
    clearTimeout(this.#idle);
    try {
      return await this.#ask(request);
    } finally {
      this.#restLater();
    }
  }

  /** A model takes some hundred megabytes, and many sessions are open that nobody uses. */
  #restLater(): void {
    clearTimeout(this.#idle);
    if (this.#options.idleMs === 0 || this.#waiting.size > 0 || this.#child === null) return;
    this.#idle = setTimeout(() => this.close(), this.#options.idleMs).unref();
  }

  async #ask({ texts, role, timeoutMs, signal }: BackendRequest): Promise<BackendAnswer> {
    const prefix = this.#mustModel().prefixes[role];
    const child = this.#child ?? this.#start();
    const id = ++this.#lastId;
    const message: EmbedMessage = {
      id,
      prefix,
      texts,
      isUrgent: role === "query",
    };
    const answer = new Promise<BackendAnswer>((resolve, reject) => {
      const timer = setTimeout(() => {
        const late = new EmbeddingError("unreachable", `no vector of the model in ${timeoutMs} ms`);
        this.#settle(id)?.reject(late);
        // Texts have time enough: it hangs, or is at work that nobody waits for.
        if (role === "document") this.#endChild(late);
      }, timeoutMs);
      const giveUp = () =>
        this.#settle(id)?.reject(new EmbeddingError("unreachable", "the embedder is closed"));
      signal.addEventListener("abort", giveUp);
      const done = () => {
        clearTimeout(timer);
        signal.removeEventListener("abort", giveUp);
      };
      this.#waiting.set(id, {
        texts: texts.length,
        resolve: (value) => {
          done();
          resolve(value);
        },
        reject: (error) => {
          done();
          reject(error);
        },
      });
    });
    // What cannot be sent is noticed by the child's end.
    child.send(message, () => {});
    return answer;
  }

  /** Killed: a run cannot be stopped in the middle, and the child has nothing to lose. */
  close(): void {
    clearTimeout(this.#idle);
    this.#child?.kill("SIGKILL");
    this.#child = null;
  }

  #mustModel(): OnnxModel {
    if (this.#model !== null) return this.#model;
    try {
      this.#model = readModelFolder(this.#options.folder);
      this.#problem = null;
      return this.#model;
    } catch (error) {
      this.#problem =
        error instanceof EmbeddingError
          ? error
          : new EmbeddingError("misconfigured", "the model's folder cannot be read");
      throw this.#problem;
    }
  }

  #start(): ChildProcess {
    const child = fork(this.#options.script, [], {
      // Typed arrays arrive as such.
      serialization: "advanced",
      execArgv: [],
      stdio: ["ignore", "ignore", "ignore", "ipc"],
    });
    this.#child = child;
    child.on("message", (message: ModelMessage) => this.#receive(message));
    child.on("error", () => this.#lose(child, "cannot be started"));
    child.on("exit", (code, signal) => this.#lose(child, `ended (${signal ?? `exit code ${code}`})`));
    // It must not keep a finished command alive; requests keep it by their timers.
    child.unref();
    child.channel?.unref();
    child.send({ open: { model: this.#mustModel(), threads: this.#options.threads } }, () => {});
    return child;
  }

  #receive(message: ModelMessage): void {
    if ("rows" in message) {
      const waiting = this.#settle(message.id);
      this.#problem = null;
      try {
        waiting?.resolve(this.#answerOf(message.rows, waiting.texts));
      } catch (error) {
        waiting?.reject(error as EmbeddingError);
      }
      return;
    }
    const error = new EmbeddingError(message.reason, message.message);
    if (message.id !== undefined) this.#settle(message.id)?.reject(error);
    else {
      // A model that cannot be opened does not get better by itself: the next request starts anew.
      this.#problem = error;
      this.#endChild(error);
    }
  }

  #answerOf(rows: readonly (Float32Array | null)[], texts: number): BackendAnswer {
    const width = this.#mustModel().dimension;
    const known = rows.filter((row) => row !== null);
    if (rows.length !== texts || known.some((row) => row.length !== width))
      throw new EmbeddingError("misconfigured", "the model's vectors do not fit its config.json");
    const units = known.length === 0 ? [] : toUnitVectors(known, known.length, "the model").vectors;
    let next = 0;
    return {
      vectors: rows.map((row) => (row === null ? null : (units[next++] ?? null))),
      width,
      model: null,
    };
  }

  #lose(child: ChildProcess, how: string): void {
    if (this.#child !== child) return;
    this.#child = null;
    this.#rejectAll(new EmbeddingError("unreachable", `the model's process ${how}`));
  }

  /** The next request starts another. */
  #endChild(error: EmbeddingError): void {
    this.close();
    this.#rejectAll(error);
  }

  #rejectAll(error: EmbeddingError): void {
    for (const id of [...this.#waiting.keys()]) this.#settle(id)?.reject(error);
  }

  #settle(id: number): Waiting | undefined {
    const waiting = this.#waiting.get(id);
    this.#waiting.delete(id);
    return waiting;
  }
}
