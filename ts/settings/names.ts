// The settings that hold a name: who is asking, and for which project.

import { invalidArgument } from "../errors.js";
import { projectOfFolder, workingFolder } from "../project-folder.js";
import type { Environment, SettingReader } from "./reader.js";

const MAX_NAME_CHARS = 256;

/** Null when unset. Throws `invalid_argument` for a name over 256 characters. */
export function shortName(read: SettingReader, name: string): string | null {
  const value = read.text(name);
  if (value === undefined) return null;
  if (value.length > MAX_NAME_CHARS)
    throw invalidArgument(name, `must have at most ${MAX_NAME_CHARS} characters`);
  return value;
}

/** `auto` names the project after the repository that the agent works in. */
export function projectSetting(read: SettingReader, environment: Environment): string | null {
  const name = shortName(read, "CPERSONA_PROJECT_ID");
  if (name !== "auto") return name;
  return projectOfFolder(environment["CLAUDE_PROJECT_DIR"] || workingFolder());
}
