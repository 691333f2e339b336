import { describe, expect, it } from "vitest";
import { readConfig } from "../../../ts/config.js";
import { TOOLS } from "../../../ts/mcp/tools/index.js";
import { AccessList } from "../../../ts/service/access.js";
import { hasDemand, refusalOf } from "../../../ts/service/demands.js";

/** A token that names a variable. */
function named(name: string): string {
  return `\${${name}}`;
}

const FILE = {
  clients: [
    { client_id: "local", grants: { "agent-a": "read-write", "agent-b": "read", "*": "none" } },
    { client_id: "reader", token: "secret-token", grants: { "*": "read", "agent-c": "none" } },
    { client_id: "admin", token: named("ADMIN_TOKEN"), grants: { "*": "read-write" } },
  ],
};

function parse(file: unknown, variables: Record<string, string> = { ADMIN_TOKEN: "from-env" }): AccessList {
  return AccessList.parse(typeof file === "string" ? file : JSON.stringify(file), (name) => variables[name]);
}

const config = (more: Record<string, string> = {}) => readConfig({ CPERSONA_AGENT_ID: "agent-a", ...more });

function refused(
  client: string,
  tool: string,
  args: object = {},
  more: Record<string, string> = {},
): boolean {
  const caller = parse(FILE).callerOf(client);
  return refusalOf(caller, tool, args as Record<string, unknown>, config(more)) !== null;
}

describe("an access list", () => {
  it("knows its clients by their tokens", () => {
    const list = parse(FILE);
    expect(list.principalOf("secret-token")).toBe("reader");
    expect(list.principalOf("from-env")).toBe("admin");
    for (const token of ["", "secret", "secret-token ", named("ADMIN_TOKEN"), "local"])
      expect(list.principalOf(token)).toBeNull();
  });

  it("denies what is not granted", () => {
    const list = parse(FILE);
    const local = list.callerOf("local");
    expect([local.mayRead("agent-a"), local.mayWrite("agent-a")]).toEqual([true, true]);
    expect([local.mayRead("agent-b"), local.mayWrite("agent-b")]).toEqual([true, false]);
    expect([local.mayRead("agent-z"), local.mayRead("*"), local.mayRead("")]).toEqual([false, false, false]);
    const stranger = list.callerOf("stranger");
    expect([stranger.mayRead("agent-a"), stranger.mayRead("*")]).toEqual([false, false]);
  });

  it("gives every agent together the weakest of all grants", () => {
    const reader = parse(FILE).callerOf("reader");
    expect([reader.mayRead("agent-a"), reader.mayRead("agent-c"), reader.mayRead("*")]).toEqual([
      true,
      false,
      false,
    ]);
    const admin = parse(FILE).callerOf("admin");
    expect([admin.mayRead("*"), admin.mayWrite("*"), admin.mayWrite("agent-c")]).toEqual([true, true, true]);
  });

  const client = { client_id: "x", token: "t", grants: { "*": "read" } };
  it.each([
    ["{", "the file is not JSON"],
    [[], "the file must be an object"],
    [{}, "clients must be a list"],
    [{ clients: [], more: 1 }, "the file has the unknown key more"],
    [{ clients: [{ ...client, per_subject: true }] }, "clients[0] has the unknown key per_subject"],
    [{ clients: [{ ...client, client_id: "" }] }, "clients[0].client_id must be a text"],
    [{ clients: [{ ...client, token: undefined }] }, "clients[0].token is required"],
    [{ clients: [{ ...client, token: "a b" }] }, "clients[0].token must be printable ASCII without blanks"],
    [{ clients: [{ ...client, token: "" }] }, "clients[0].token must be printable ASCII without blanks"],
    [
      { clients: [{ ...client, token: named("NOPE") }] },
      "clients[0].token names the variable NOPE, which is not set",
    ],
    [{ clients: [{ ...client, client_id: "local" }] }, "clients[0]: local has no token, leave it out"],
    [{ clients: [{ ...client, grants: {} }] }, "clients[0].grants must not be empty"],
    [{ clients: [{ ...client, grants: { "": "read" } }] }, "clients[0].grants must not name an empty agent"],
    [
      { clients: [{ ...client, grants: { a: "write" } }] },
      "clients[0].grants must be none, read or read-write",
    ],
    [{ clients: [client, { ...client, client_id: "y" }] }, "clients[1].token is used by another client"],
    [{ clients: [client, { ...client, token: "u" }] }, "client_id x occurs twice"],
  ])("stops at %j", (file, text) => {
    expect(() => parse(file)).toThrow(`CPERSONA_ACL_FILE: ${text}`);
  });
});

describe("demands", () => {
  it("are stated for every tool, and refuse any other", () => {
    expect(TOOLS.filter(({ name }) => !hasDemand(name))).toEqual([]);
    expect(refused("admin", "no_such_tool")).toBe(true);
  });

  it.each([
    ["local", "recall", {}, false],
    ["local", "recall", { agent_id: "agent-b" }, false],
    ["local", "recall", { agent_id: "agent-z" }, true],
    ["local", "store", { content: "x" }, false],
    ["local", "store", { agent_id: "agent-b" }, true],
    ["local", "list_memories", { agent_id: "" }, true],
    ["local", "persistence_status", {}, false],
    ["local", "pause_persistence", {}, true],
    ["local", "check_health", {}, false],
    ["local", "check_health", { fix: true }, true],
    ["local", "check_health", { fix: true, checks: ["invalid_timestamp"] }, false],
    ["local", "check_health", { fix: true, checks: ["invalid_timestamp", "fts_integrity"] }, true],
    ["local", "check_health", { fix: true, agent_id: "agent-b", checks: ["invalid_timestamp"] }, true],
    ["local", "deep_check", { agent_id: "agent-b" }, false],
    ["local", "deep_check", { agent_id: "agent-b", fix: true }, true],
    ["local", "export_memories", { agent_id: "agent-a" }, true],
    ["local", "import_memories", { target_agent_id: "agent-a" }, true],
    ["local", "merge_memories", { source_agent_id: "agent-b", target_agent_id: "agent-a" }, false],
    [
      "local",
      "merge_memories",
      { source_agent_id: "agent-b", target_agent_id: "agent-a", mode: "move" },
      true,
    ],
    ["local", "merge_memories", { source_agent_id: "agent-a", target_agent_id: "agent-b" }, true],
    ["reader", "list_memories", { agent_id: "" }, true],
    ["reader", "get_contents", { agent_id: "agent-a", refs: ["mem:1"] }, false],
    ["admin", "list_memories", { agent_id: "" }, false],
    ["admin", "pause_persistence", {}, false],
    ["admin", "export_memories", { agent_id: "" }, false],
  ])("%s %s %j", (client, tool, args, expected) => {
    expect(refused(client, tool, args)).toBe(expected);
  });

  it("let a client export inside the export folder what it may write", () => {
    const folder = { CPERSONA_EXPORT_DIR: "/exports" };
    expect(refused("local", "export_memories", { agent_id: "agent-a" }, folder)).toBe(false);
    expect(refused("local", "export_memories", { agent_id: "agent-b" }, folder)).toBe(true);
    expect(refused("local", "export_memories", { agent_id: "" }, folder)).toBe(true);
    expect(refused("local", "import_memories", { target_agent_id: "agent-a" }, folder)).toBe(false);
    expect(refused("local", "import_memories", {}, folder)).toBe(true);
  });
});
