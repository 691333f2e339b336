// The process that runs a model, a child of the server. ONNX Runtime holds the thread that it runs on, and ends
// the whole process when that thread is stopped in the middle; here it can neither delay nor end the server.

import { readFileSync } from "node:fs";
import { parseJson } from "../../domain/json.js";
import { EmbeddingError } from "../failure.js";
import type { EmbedMessage, ModelMessage, OpenMessage } from "./messages.js";
import type { OnnxModel } from "./model-folder.js";
import { type OnnxSession, openSession } from "./session.js";
import { Tokens } from "./tokens.js";

interface Opened {
  readonly session: OnnxSession;
  readonly tokens: Tokens;
  readonly dimension: number;
}

const urgent: EmbedMessage[] = [];
const patient: EmbedMessage[] = [];
let opening: Promise<Opened> | undefined;
let isWorking = false;

process.on("message", (message: OpenMessage | EmbedMessage) => {
  if ("open" in message) {
    opening = open(message.open.model, message.open.threads);
    opening.catch((error: unknown) => send(failure(error)));
    return;
  }
  (message.isUrgent ? urgent : patient).push(message);
  work().catch((error: unknown) => send(failure(error)));
});
// The server is gone, or does not need the model any more. Then nothing keeps this process alive.
process.on("disconnect", () => {
  urgent.length = 0;
  patient.length = 0;
  opening?.then(({ session }) => session.release()).catch(() => {});
});
// A Ctrl-C on a terminal reaches the whole group; the server decides.
process.on("SIGINT", () => {});

async function open(model: OnnxModel, threads: number): Promise<Opened> {
  const tokens = openTokens(model);
  const padId = model.padId ?? tokens.padId ?? 0;
  return { session: await openSession({ ...model, padId }, threads), tokens, dimension: model.dimension };
}

function openTokens({ tokenizerFile, tokenizerConfigFile, maxTokens }: OnnxModel): Tokens {
  try {
    const config = tokenizerConfigFile === null ? {} : readObject(tokenizerConfigFile);
    return new Tokens(readObject(tokenizerFile), config, maxTokens);
  } catch {
    throw new EmbeddingError("misconfigured", "the model's tokenizer.json cannot be used");
  }
}

async function work(): Promise<void> {
  if (isWorking) return;
  isWorking = true;
  // A question may come in while the model is being opened.
  await opening?.catch(() => {});
  for (
    let next = urgent.shift() ?? patient.shift();
    next !== undefined;
    next = urgent.shift() ?? patient.shift()
  )
    await answer(next);
  isWorking = false;
}

async function answer({ id, prefix, texts }: EmbedMessage): Promise<void> {
  try {
    if (opening === undefined) throw new EmbeddingError("misconfigured", "no model was opened");
    const { session, tokens, dimension } = await opening;
    const ids = texts.map((text) => tokens.idsOf(text, prefix));
    const known = ids.filter((row) => row !== null);
    const flat = await session.embed(known, letQuestionsPass);
    let next = 0;
    const rows = ids.map((row) => {
      return row === null ? null : flat.slice(next * dimension, ++next * dimension);
    });
    send({ id, rows });
  } catch (error) {
    send({ ...failure(error), id });
  }
}

/** Answers questions that came in while texts are being embedded. */
async function letQuestionsPass(): Promise<void> {
  await new Promise(setImmediate);
  if (!process.connected) throw new EmbeddingError("unreachable", "the server is gone");
  for (let next = urgent.shift(); next !== undefined; next = urgent.shift()) await answer(next);
}

function readObject(path: string): object {
  return parseJson(readFileSync(path, "utf8")) as object;
}

function failure(error: unknown): Extract<ModelMessage, { reason: unknown }> {
  const isOurs = error instanceof EmbeddingError;
  return {
    reason: isOurs ? error.reason : "misconfigured",
    message: isOurs ? error.message : "the model cannot be used",
  };
}

function send(message: ModelMessage): void {
  // The server may be gone by now; nobody is left to tell.
  if (process.connected) process.send?.(message, undefined, undefined, () => {});
}
