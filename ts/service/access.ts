// Who may read and write whose rows: CPERSONA_ACL_FILE. Deny by default; anything wrong in the file stops the
// start, because a list that is half understood protects nobody.

import { createHash, timingSafeEqual } from "node:crypto";
import { JsonError, parseJson } from "../domain/json.js";
import { MemoryError } from "../errors.js";

export type Grant = "none" | "read" | "read-write";
const GRANTS: readonly Grant[] = ["none", "read", "read-write"];

/** The client of the stdio server, which has no token. */
export const LOCAL_CLIENT = "local";
/** In grants and demands: every agent. */
export const EVERY_AGENT = "*";

/** What one client may do. An agent of `*` means every agent. */
export interface Caller {
  readonly clientId: string;
  mayRead(agentId: string): boolean;
  mayWrite(agentId: string): boolean;
}

interface Client {
  readonly clientId: string;
  /** null for `local` */
  readonly tokenHash: Buffer | null;
  readonly grants: ReadonlyMap<string, Grant>;
}

export class AccessList {
  readonly #clients: readonly Client[];

  private constructor(clients: readonly Client[]) {
    this.#clients = clients;
  }

  /** Reads the file's text. `variable` looks up `${NAME}` tokens. Throws `invalid_setting` with one line. */
  static parse(text: string, variable: (name: string) => string | undefined): AccessList {
    const file = asObject(readJson(text), "the file");
    onlyKeys(file, ["clients"], "the file");
    if (!Array.isArray(file["clients"])) throw wrong("clients must be a list");
    const tokens = new Set<string>();
    const clients = file["clients"].map((entry, i) => readClient(entry, i, variable, tokens));
    const ids = clients.map(({ clientId }) => clientId);
    for (const id of ids)
      if (ids.indexOf(id) !== ids.lastIndexOf(id)) throw wrong(`client_id ${id} occurs twice`);
    return new AccessList(clients);
  }

  /** The client that this token belongs to, or null. Takes the same time for every token. */
  principalOf(token: string): string | null {
    const given = hash(token);
    let found: string | null = null;
    for (const { clientId, tokenHash } of this.#clients)
      if (tokenHash !== null && timingSafeEqual(tokenHash, given)) found = clientId;
    return found;
  }

  /** An unknown client may do nothing. */
  callerOf(clientId: string): Caller {
    const grants =
      this.#clients.find((client) => client.clientId === clientId)?.grants ?? new Map<string, Grant>();
    const level = (agentId: string): number => GRANTS.indexOf(grantOf(grants, agentId));
    return {
      clientId,
      mayRead: (agentId) => level(agentId) >= GRANTS.indexOf("read"),
      mayWrite: (agentId) => level(agentId) >= GRANTS.indexOf("read-write"),
    };
  }
}

/** A grant for the very agent beats `*` in both directions; every agent together needs `*` and the weakest of all. */
function grantOf(grants: ReadonlyMap<string, Grant>, agentId: string): Grant {
  const all = grants.get(EVERY_AGENT) ?? "none";
  if (agentId !== EVERY_AGENT && agentId !== "") return grants.get(agentId) ?? all;
  if (!grants.has(EVERY_AGENT)) return "none";
  const weakest = Math.min(...Array.from(grants.values(), (grant) => GRANTS.indexOf(grant)));
  return GRANTS[weakest] ?? "none";
}

function readClient(
  entry: unknown,
  index: number,
  variable: (name: string) => string | undefined,
  tokens: Set<string>,
): Client {
  const where = `clients[${index}]`;
  const client = asObject(entry, where);
  onlyKeys(client, ["client_id", "token", "grants"], where);
  const clientId = client["client_id"];
  if (typeof clientId !== "string" || clientId.trim() === "")
    throw wrong(`${where}.client_id must be a text`);
  const token = readToken(client["token"], where, variable);
  if (clientId === LOCAL_CLIENT && token !== null) throw wrong(`${where}: local has no token, leave it out`);
  if (clientId !== LOCAL_CLIENT && token === null) throw wrong(`${where}.token is required`);
  if (token !== null && tokens.has(token)) throw wrong(`${where}.token is used by another client`);
  if (token !== null) tokens.add(token);
  return {
    clientId,
    tokenHash: token === null ? null : hash(token),
    grants: readGrants(client["grants"], where),
  };
}

function readToken(
  value: unknown,
  where: string,
  variable: (name: string) => string | undefined,
): string | null {
  if (value === undefined || value === null) return null;
  if (typeof value !== "string") throw wrong(`${where}.token must be a text`);
  const name = /^\$\{([A-Za-z_][A-Za-z0-9_]*)\}$/.exec(value)?.[1];
  const token = name === undefined ? value : (variable(name) ?? "");
  if (name !== undefined && token === "")
    throw wrong(`${where}.token names the variable ${name}, which is not set`);
  if (!/^[\x21-\x7e]+$/.test(token)) throw wrong(`${where}.token must be printable ASCII without blanks`);
  return token;
}

function readGrants(value: unknown, where: string): Map<string, Grant> {
  const grants = Object.entries(asObject(value, `${where}.grants`));
  if (grants.length === 0) throw wrong(`${where}.grants must not be empty`);
  return new Map(
    grants.map(([agentId, given]) => {
      const grant = GRANTS.find((candidate) => candidate === given);
      if (agentId.trim() === "") throw wrong(`${where}.grants must not name an empty agent`);
      if (grant === undefined) throw wrong(`${where}.grants must be none, read or read-write`);
      return [agentId, grant];
    }),
  );
}

function readJson(text: string): unknown {
  try {
    return parseJson(text);
  } catch (error) {
    throw error instanceof JsonError ? wrong(`the file ${error.fault}`) : error;
  }
}

function asObject(value: unknown, what: string): Record<string, unknown> {
  if (typeof value === "object" && value !== null && !Array.isArray(value))
    return value as Record<string, unknown>;
  throw wrong(`${what} must be an object`);
}

function onlyKeys(object: Record<string, unknown>, known: readonly string[], where: string): void {
  const unknown = Object.keys(object).find((key) => !known.includes(key));
  if (unknown !== undefined) throw wrong(`${where} has the unknown key ${unknown.slice(0, 64)}`);
}

function wrong(what: string): MemoryError {
  return new MemoryError("invalid_setting", `CPERSONA_ACL_FILE: ${what}`, { field: "CPERSONA_ACL_FILE" });
}

function hash(token: string): Buffer {
  return createHash("sha256").update(token, "utf8").digest();
}
