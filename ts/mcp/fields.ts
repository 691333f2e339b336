// Arguments that several tools share, with the words an agent reads.

import { z } from "zod";

/** Longest agent, project, channel and id, in characters. */
export const MAX_KEY_CHARS = 256;
export const MAX_QUERY_CHARS = 100_000;

export const agentId = z.string().optional().describe("whose memory; default: the configured agent");
export const channel = z.string().optional().describe("sees this channel and the shared one");
export const projectId = z
  .string()
  .optional()
  .describe('sees this project and the global pool; "" global only, "*" all');
export const writeChannel = z.string().optional();
export const writeProject = z.string().optional().describe('"" or omitted: global pool');
