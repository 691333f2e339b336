// Everything but the hook; a file of its own, since the hook is bundled for the quickest start.

/** `opened` is told when a server's memory is open: by then the code that every session needs is compiled. */
export async function runProgram(args: readonly string[], opened: () => void = () => {}): Promise<void> {
  const { endWithStdout, guardProcess } = await import("./guard.js");
  guardProcess();
  if (args.length === 0) {
    const { serve } = await import("./commands/serve.js");
    return serve(opened);
  }
  const { runCommand } = await import("./args.js");
  endWithStdout();
  return runCommand(args);
}
