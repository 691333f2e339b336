// Reads CPERSONA_ACL_FILE at the start. Anything wrong with it is one line and no server.

import { type Config, environmentVariable } from "../config.js";
import { MemoryError } from "../errors.js";
import { readRegularFile } from "../files.js";
import { AccessList } from "../service/access.js";

const MAX_FILE_BYTES = 1 << 20;

/** Null where no access list is set. Throws `invalid_setting`. */
export function loadAccess({ aclFile }: Config): AccessList | null {
  if (aclFile === null) return null;
  let text: string;
  try {
    text = readRegularFile(aclFile, MAX_FILE_BYTES);
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code ?? "unreadable";
    throw new MemoryError("invalid_setting", `CPERSONA_ACL_FILE cannot be read (${code})`, {
      field: "CPERSONA_ACL_FILE",
    });
  }
  return AccessList.parse(text, environmentVariable);
}
