// Fields that several tools share, with the words an agent reads.

import { z } from "zod";

export const MAX_QUERY_CHARS = 100_000;

export const agentId = z.string().optional().describe("default: the configured agent");
export const channel = z.string().optional().describe("this channel and the shared one");
export const projectId = z
  .string()
  .optional()
  .describe('this project and the global pool; "" global only, "*" all');
export const sourceId = z
  .string()
  .optional()
  .describe("memories of this source id; a prefix if it ends in punctuation");
export const writeChannel = z.string().optional();
export const writeProject = z.string().optional().describe('"": global pool');
export const sessionKey = z.string().max(256).optional();

/** Keys that every answer may have. */
export const answerFields = { ok: z.boolean().optional(), error: z.string().optional() };
