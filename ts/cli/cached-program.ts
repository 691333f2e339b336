// Stands for everything but the hook in the bundled command: that has a bundle of its own.

import { loadCompiled } from "./compiled-bundle.js";

type Program = typeof import("./program.js");

export const runProgram: Program["runProgram"] = (args) => {
  const { exports, keepAtEnd } = loadCompiled<Program>("program");
  return exports.runProgram(args, keepAtEnd);
};
