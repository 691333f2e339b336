// Stores with something of everything, and files to import.

import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { MemoryService } from "../../../ts/service/memory-service.js";
import { tempFolder } from "../../support/temp.js";

/** Two agents with memories, relations, an episode that ends like another, and a profile. */
export async function fill(service: MemoryService): Promise<void> {
  const put = (content: string, more: object = {}) =>
    service.store({ agentId: "agent-a", content, ...more } as Parameters<MemoryService["store"]>[0]);
  await put("the staging host is gamma 🎌", {
    msgId: "m1",
    tags: ["infra"],
    metadata: { n: 1, deep: [null, "東京"] },
  });
  await put("長い文の例。".repeat(300), { timestamp: "2025-01-02T03:04:05+09:00", projectId: "x" });
  await put("never give up", {
    kind: "value",
    channel: "chat",
    source: { type: "User", id: "u1", name: "Kei" },
  });
  await put("the staging host is delta", { relations: [{ type: "supersedes", ref: "mem:1" }] });
  await service.setLocked(1, true, { agentId: "agent-a" });
  await service.archiveEpisode({
    agentId: "agent-a",
    summary: "we shipped it",
    keywords: "ship parser",
    resolved: true,
  });
  await service.archiveEpisode({
    agentId: "agent-a",
    summary: "we shipped it",
    history: [{ timestamp: "2025-01-01T00:00:00Z" }, { timestamp: "2025-01-01T02:00:00Z" }],
  });
  await service.updateProfile("Prefers short answers.", { agentId: "agent-a" });
  await service.store({ agentId: "agent-b", content: "the staging host is gamma 🎌" });
}

export function newPath(name = "export.jsonl"): string {
  return join(tempFolder(), name);
}

export async function exportTo(service: MemoryService, path: string, more: object = {}): Promise<string> {
  await service.maintenance.exportMemories({ agentId: "", outputPath: path, embeddings: true, ...more });
  return readFileSync(path, "utf8");
}

export function importFrom(service: MemoryService, inputPath: string, more: object = {}) {
  return service.maintenance.importMemories({ inputPath, targetAgent: "", dryRun: false, ...more });
}

/** A file of these records, with a header that counts them. */
export function writeFile(records: readonly object[], header: object = {}): string {
  const path = newPath("given.jsonl");
  const count = (type: string): number =>
    records.filter((record) => "_type" in record && record._type === type).length;
  const head = {
    _type: "header",
    version: "cpersona-export/1.1",
    agent_id: "",
    memory_count: count("memory"),
    episode_count: count("episode"),
    profile_count: count("profile"),
    ...header,
  };
  writeFileSync(path, [head, ...records].map((line) => `${JSON.stringify(line)}\n`).join(""));
  return path;
}

export function memoryRecord(content: string, more: object = {}): object {
  return { _type: "memory", agent_id: "agent-a", project_id: "", content, ...more };
}

/** The export without its moment. */
export function timeless(text: string): string {
  return text.replace(/"exported_at":"[^"]*"/, "");
}
