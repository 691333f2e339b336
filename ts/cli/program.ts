// Everything but the hook; a file of its own, since the hook is bundled for the quickest start.

export async function runProgram(args: readonly string[]): Promise<void> {
  if (args.length === 0) {
    const { serve } = await import("./commands/serve.js");
    return serve();
  }
  const { runCommand } = await import("./args.js");
  return runCommand(args);
}
