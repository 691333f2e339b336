// Reads CPERSONA_ACL_FILE at the start. Anything wrong with it is one line and no server.

import { readFileSync } from "node:fs";
import { type Config, environmentVariable } from "../config.js";
import { MemoryError } from "../errors.js";
import { AccessList } from "../service/access.js";

/** Null where no access list is set. Throws `invalid_setting`. */
export function loadAccess({ aclFile }: Config): AccessList | null {
  if (aclFile === null) return null;
  let text: string;
  try {
    text = readFileSync(aclFile, "utf8");
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code ?? "unreadable";
    throw new MemoryError("invalid_setting", `CPERSONA_ACL_FILE cannot be read (${code})`, {
      field: "CPERSONA_ACL_FILE",
    });
  }
  return AccessList.parse(text, environmentVariable);
}
