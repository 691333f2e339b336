// Options of `model`.

import type { Command } from "commander";

export function addModel(program: Command): void {
  const model = program.command("model").description("embedding models that run on this machine (mode onnx)");
  model
    .command("list")
    .description("models that can be pulled, and those that are here")
    .action(async () => {
      const { modelList } = await import("./commands/model.js");
      modelList();
    });
  model
    .command("pull")
    .description("fetch a model, or go on where it broke off")
    .argument("<name>", "a name from the list, or any with --from")
    .option("--from <url>", "a folder on a server, with manifest.json or the files of a model")
    .option("--again", "fetch it even when it is here")
    .action(async (name: string, options: { from?: string; again?: boolean }) => {
      const { modelPull } = await import("./commands/model.js");
      await modelPull(name, options);
    });
  model
    .command("use")
    .description("make a model the default of this user; the environment wins over it")
    .argument("<name>", "a model that is here, or `static` for the embedder inside the package")
    .action(async (name: string) => {
      const { modelUse } = await import("./commands/model.js");
      modelUse(name);
    });
}
