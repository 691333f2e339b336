// One file from a server to a disk: resumed where it broke off, checked for size and hash, and under its own
// name only when it is whole. Until then it is `<path>.part`.

import { createHash } from "node:crypto";
import { createReadStream, renameSync, rmSync, statSync } from "node:fs";
import { open } from "node:fs/promises";
import { setTimeout as sleep } from "node:timers/promises";
import { describeError, MemoryError } from "../errors.js";
import { PRIVATE_FILE } from "../files.js";
import {
  connectionError,
  downloadError,
  type FileAnswer,
  type FileHash,
  getFile,
  PassingError,
} from "./request.js";

export interface DownloadTimes {
  /** a connection that is silent for so long is given up, ms */
  readonly silenceMs: number;
  /** in all, at least 1 */
  readonly attempts: number;
  /** before the second attempt, ms; doubles with each */
  readonly pauseMs: number;
}

export const PATIENT: DownloadTimes = { silenceMs: 30_000, attempts: 4, pauseMs: 1000 };

export interface FileRequest {
  readonly url: string;
  readonly path: string;
  /** what the file must be; null asks the server */
  readonly bytes: number | null;
  readonly sha256: string | null;
  /** a file that the server does not have is no error */
  readonly isOptional?: boolean;
}

/** Stores of files whose list nobody may see answer 403 for one that they do not have. */
const NOT_THERE = new Set([403, 404]);

/**
 * False when an optional file is not there. Throws `download_failed` with one line; then what came so far stays for
 * the next time, unless its size or hash is wrong.
 */
export async function downloadFile(
  request: FileRequest,
  times: DownloadTimes,
  progress: (done: number, total: number) => void,
): Promise<boolean> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await attemptOnce(request, times, progress);
    } catch (error) {
      if (!(error instanceof PassingError) || attempt >= times.attempts) throw asDownloadError(error);
      await sleep(times.pauseMs * 2 ** (attempt - 1));
    }
  }
}

async function attemptOnce(
  request: FileRequest,
  { silenceMs }: DownloadTimes,
  progress: (done: number, total: number) => void,
): Promise<boolean> {
  const part = `${request.path}.part`;
  const silence = new Silence(silenceMs);
  try {
    const had = sizeOf(part);
    const answer = await getFile(request.url, { start: had, signal: silence.signal });
    const { status } = answer.response;
    if (request.isOptional === true && NOT_THERE.has(status)) {
      await answer.response.body?.cancel();
      return false;
    }
    const expected = expectedOf(request, answer);
    if (status === 416 && had > 0) {
      await answer.response.body?.cancel();
      // The part is as long as the file, or longer: complete, or of another file.
      if (expected.total !== had) discard(part, "what came before does not fit the file; it was removed");
    } else {
      checkStatus(status);
      // Without a hash nobody could tell whether the beginning belongs to the same file.
      const isResumed = status === 206 && expected.hash !== null && startsAt(answer.response, had);
      if (status === 206 && !isResumed) {
        await answer.response.body?.cancel();
        rmSync(part, { force: true });
        throw new PassingError("the server cannot go on where it broke off");
      }
      await receive(answer.response, part, {
        start: isResumed ? had : 0,
        total: expected.total,
        silence,
        progress,
      });
    }
    silence.end();
    await check(part, expected);
    renameSync(part, request.path);
    return true;
  } catch (error) {
    if (silence.isOver) throw new PassingError(`the server was silent for ${silenceMs / 1000} s`);
    throw error;
  } finally {
    silence.end();
  }
}

interface Expected {
  readonly total: number | null;
  readonly hash: FileHash | null;
}

function expectedOf({ bytes, sha256 }: FileRequest, { total, hash }: FileAnswer): Expected {
  return { total: bytes ?? total, hash: sha256 === null ? hash : { kind: "sha256", hex: sha256 } };
}

function checkStatus(status: number): void {
  if (status === 200 || status === 206) return;
  if (status >= 500 || status === 429)
    throw new PassingError(`the server answered with HTTP status ${status}`);
  if (status === 404) throw downloadError("the server does not have this file (HTTP status 404)");
  if (status === 401 || status === 403)
    throw downloadError(`the server does not give this file to everyone (HTTP status ${status})`);
  throw downloadError(`the server answered with HTTP status ${status}`);
}

function startsAt({ headers }: Response, start: number): boolean {
  return headers.get("content-range")?.startsWith(`bytes ${start}-`) ?? false;
}

async function receive(
  response: Response,
  part: string,
  options: {
    readonly start: number;
    readonly total: number | null;
    readonly silence: Silence;
    readonly progress: (done: number, total: number) => void;
  },
): Promise<void> {
  const { start, total, silence, progress } = options;
  const file = await open(part, start === 0 ? "w" : "a", PRIVATE_FILE);
  let done = start;
  try {
    for await (const chunk of response.body ?? []) {
      silence.wake();
      done += chunk.byteLength;
      if (total !== null && done > total) break;
      await file.writeFile(chunk);
      progress(done, total ?? done);
    }
  } catch (error) {
    if (isOfDisk(error)) throw error;
    throw connectionError(error);
  } finally {
    await file.close();
  }
  if (total !== null && done > total)
    discard(part, "the file is longer than it should be; what came was removed");
  if (total !== null && done < total)
    throw new PassingError(`the connection broke off after ${done} of ${total} bytes`);
}

async function check(part: string, { total, hash }: Expected): Promise<void> {
  const size = sizeOf(part);
  if (total !== null && size !== total) discard(part, `the file has ${size} bytes instead of ${total}`);
  if (hash !== null && (await digestOf(part, hash.kind, size)) !== hash.hex)
    discard(part, "the file has another hash than it should have; what came was removed");
}

async function digestOf(path: string, kind: FileHash["kind"], size: number): Promise<string> {
  const digest = createHash(kind === "git" ? "sha1" : "sha256");
  if (kind === "git") digest.update(`blob ${size}\0`);
  for await (const chunk of createReadStream(path)) digest.update(chunk as Buffer);
  return digest.digest("hex");
}

function discard(part: string, message: string): never {
  rmSync(part, { force: true });
  throw downloadError(message);
}

function sizeOf(path: string): number {
  return statSync(path, { throwIfNoEntry: false })?.size ?? 0;
}

function isOfDisk(error: unknown): boolean {
  return error instanceof Error && "syscall" in error && error.syscall === "write";
}

function asDownloadError(error: unknown): MemoryError {
  if (error instanceof MemoryError) return error;
  const code = error instanceof Error && "code" in error ? String(error.code) : "";
  if (code === "ENOSPC") return downloadError("the disk is full");
  if (code === "EACCES" || code === "EPERM" || code === "EROFS")
    return downloadError("the folder of models cannot be written");
  return downloadError(`the file cannot be written: ${describeError(error).split("\n")[0]}`);
}

/** Aborts a connection that says nothing for a while. */
class Silence {
  readonly #abort = new AbortController();
  readonly #ms: number;
  #timer: NodeJS.Timeout | undefined;
  isOver = false;

  constructor(ms: number) {
    this.#ms = ms;
    this.wake();
  }

  get signal(): AbortSignal {
    return this.#abort.signal;
  }

  wake(): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => {
      this.isOver = true;
      this.#abort.abort();
    }, this.#ms);
  }

  end(): void {
    clearTimeout(this.#timer);
  }
}
