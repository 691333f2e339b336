// `npm run demo [-- files or folders]`: makes the clone ready, then runs the built demonstration.
import { ensureReady } from "./setup.mjs";

await ensureReady();
await import(new URL("../dist/cli/demo/main.js", import.meta.url).href);
