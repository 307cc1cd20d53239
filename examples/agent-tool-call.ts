/**
 * An agent's loop: a model asks for tool calls, each runs under a time limit, and the user can stop all of it.
 *
 *     node examples/agent-tool-call.ts        bun examples/agent-tool-call.ts        deno run -A examples/agent-tool-call.ts
 */

import { createRuntime, type ExecutionOutput, RuntimeError } from "../mod.ts";

/** What a model asks for. A real one answers this as JSON. */
interface ToolCall {
  readonly command: string;
  readonly args: readonly string[];
}

await using runtime = await createRuntime({ runtime: { backend: "native", kill_grace_secs: 0.2 } });

/** Stands in for a model: three calls that it thinks up, whatever it is told. */
const script: readonly ToolCall[] = [
  { command: "sh", args: ["-c", "printf 'src\\ntest\\n'"] },
  { command: "sh", args: ["-c", "echo looking; sleep 60"] },
  { command: "ripgrep-that-is-not-installed", args: ["TODO"] },
  { command: "sh", args: ["-c", "sleep 60 & sleep 60"] },
];

const user = new AbortController();

for (const [turn, call] of script.entries()) {
  // The user loses patience during the last call.
  if (turn === script.length - 1) setTimeout(() => user.abort(), 300);
  console.log(`${turn + 1}. ${await runTool(call, user.signal)}`);
}
// → 1. exit 0: src test
// → 2. no answer within a second; so far: looking
// → 3. not run (command_not_found)
// → 4. stopped by the user

/** One call, as text for the model. Every ending has words of its own, so that the model does not take one for another. */
async function runTool({ command, args }: ToolCall, signal: AbortSignal): Promise<string> {
  try {
    return describe(await runtime.execute(command, args, { timeoutMs: 1000, maxOutputBytes: 4096, signal }));
  } catch (error) {
    if (!(error instanceof RuntimeError)) throw error;
    // `started` says whether the command may have done something already: with "no" a retry is safe.
    return `${error.started === "no" ? "not run" : "perhaps run"} (${error.code})`;
  }
}

function describe({ outcome, exitCode, stdout, stdoutTruncated, cause }: ExecutionOutput): string {
  const said = `${stdout.trim().replaceAll("\n", " ")}${stdoutTruncated ? " …" : ""}`;
  switch (outcome) {
    case "completed":
      return `exit ${exitCode}: ${said}`;
    case "timed_out":
      return `no answer within a second; so far: ${said}`;
    case "cancelled":
      return "stopped by the user";
    case "out_of_memory":
      return "it needed more memory than it may have";
    case "lost":
      return `its end is not known (${cause})`;
  }
}
