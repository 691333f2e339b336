// Stands for the hook in the bundled command: the hook's own bundle.

import { loadCompiled } from "../compiled-bundle.js";

type Hook = typeof import("./ambient-hook.js");

export const runAmbientHook: Hook["runAmbientHook"] = (args) => {
  const { exports, keepAtEnd } = loadCompiled<Hook>("hook");
  return exports.runAmbientHook(args, keepAtEnd);
};
