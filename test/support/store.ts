// A store by itself, and SQL beside it for looking at what it wrote and for doing damage.

import { join } from "node:path";
import { onTestFinished } from "vitest";
import { loadDriver, type SqlRow } from "../../ts/store/driver.js";
import { Store } from "../../ts/store/store.js";
import { DRIVER } from "./settings.js";
import { tempFolder } from "./temp.js";

export function openStore(path = join(tempFolder(), "memory.db"), busyTimeoutMs = 5000): Store {
  const store = Store.open({ path, driver: DRIVER, synchronous: "NORMAL", busyTimeoutMs });
  onTestFinished(() => {
    try {
      store.close();
    } catch {
      // the test closed it itself
    }
  });
  return store;
}

/** Runs SQL on a connection of its own and gives the rows of the last statement. */
export function sql(path: string, ...statements: string[]): SqlRow[] {
  const connection = loadDriver(DRIVER).connect(path, { readOnly: false });
  try {
    connection.exec("PRAGMA busy_timeout = 5000");
    for (const statement of statements.slice(0, -1)) connection.exec(statement);
    const last = statements.at(-1) ?? "";
    if (/^\s*(select|pragma [^=]*$)/i.test(last)) return connection.prepare(last).all();
    connection.exec(last);
    return [];
  } finally {
    connection.close();
  }
}
