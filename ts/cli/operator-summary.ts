// The operator's words to every agent, for the server's instructions. Nothing is loaded when there are none.

import { existsSync } from "node:fs";
import type { Config } from "../config.js";

export async function operatorSummary({ maintenance }: Config): Promise<string> {
  const path = maintenance.operatingContextPath;
  if (path === null || !existsSync(path)) return "";
  const { OperatingContextReader } = await import("../maintenance/operating-context.js");
  const state = await new OperatingContextReader(path).read();
  return state.state === "present" ? state.context.summary : "";
}
