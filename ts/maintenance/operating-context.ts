// The operator's own words for every agent: a TOML file beside the store. Absent, switched off or unreadable
// means that nothing happens.

import { stat } from "node:fs/promises";
import { describeError } from "../errors.js";
import { readRegularFile } from "../files.js";

export interface OperatingContext {
  readonly revision: string;
  /** goes into the instructions of the server */
  readonly summary: string;
  readonly projectIds: readonly string[];
  readonly enforce: "off" | "warn" | "reject";
  /** agent -> project */
  readonly defaults: Readonly<Record<string, string>>;
  /** name -> text */
  readonly doctrine: ReadonlyMap<string, string>;
}

export type OperatingContextState =
  | { readonly state: "dormant" }
  | { readonly state: "unreadable"; readonly reason: string }
  | { readonly state: "present"; readonly context: OperatingContext };

const MAX_FILE_BYTES = 1 << 20;

export class OperatingContextReader {
  readonly #path: string | null;
  #known: { readonly mtimeMs: number; readonly state: OperatingContextState } | null = null;

  /** `path` null: switched off. */
  constructor(path: string | null) {
    this.#path = path;
  }

  /** Reads the file when it has changed, so that edits count without a restart. */
  async read(): Promise<OperatingContextState> {
    const found = this.#path === null ? null : await stat(this.#path).catch(() => null);
    if (found === null || !found.isFile()) return { state: "dormant" };
    if (this.#known?.mtimeMs === found.mtimeMs) return this.#known.state;
    const state = await this.#parse();
    this.#known = { mtimeMs: found.mtimeMs, state };
    return state;
  }

  async #parse(): Promise<OperatingContextState> {
    try {
      const text = readRegularFile(this.#path as string, MAX_FILE_BYTES);
      const { parse } = await import("smol-toml");
      return { state: "present", context: toContext(parse(text)) };
    } catch (error) {
      return { state: "unreadable", reason: describeError(error).split("\n")[0] ?? "" };
    }
  }
}

function toContext(raw: Record<string, unknown>): OperatingContext {
  if (raw["version"] !== 1) throw new Error("version must be 1");
  const instructions = table(raw["instructions"], "instructions");
  const registry = table(raw["registry"], "registry");
  const enforce = registry["enforce"] ?? "warn";
  if (enforce !== "off" && enforce !== "warn" && enforce !== "reject")
    throw new Error("registry.enforce must be off, warn or reject");
  const sections = raw["doctrine"] ?? [];
  if (!Array.isArray(sections)) throw new Error("doctrine must be a list of tables");
  return {
    revision: String(raw["context_revision"] ?? ""),
    summary: text(instructions["summary"], "instructions.summary"),
    projectIds: texts(registry["project_ids"] ?? [], "registry.project_ids"),
    enforce,
    defaults: Object.fromEntries(
      Object.entries(table(raw["defaults"], "defaults")).map(([agent, project]) => [
        agent,
        text(project, `defaults.${agent}`),
      ]),
    ),
    doctrine: new Map(
      sections.map((section, i) => {
        const { name, body } = table(section, `doctrine[${i}]`);
        return [text(name, `doctrine[${i}].name`), text(body, `doctrine[${i}].body`)];
      }),
    ),
  };
}

function table(value: unknown, name: string): Record<string, unknown> {
  if (value === undefined) return {};
  if (typeof value !== "object" || value === null || Array.isArray(value))
    throw new Error(`${name} must be a table`);
  return value as Record<string, unknown>;
}

function text(value: unknown, name: string): string {
  if (value === undefined) return "";
  if (typeof value !== "string") throw new Error(`${name} must be a text`);
  return value;
}

function texts(value: unknown, name: string): string[] {
  if (!Array.isArray(value) || value.some((item) => typeof item !== "string"))
    throw new Error(`${name} must be a list of texts`);
  return value as string[];
}
