/**
 * The first steps: run a command, look at the result, tell the ways in which it can end apart.
 *
 *     node examples/hello.ts        bun examples/hello.ts        deno run -A examples/hello.ts
 */

import { createRuntime, RuntimeError } from "../mod.ts";

await using runtime = await createRuntime({ runtime: { backend: "native" } });

const hello = await runtime.execute("echo", ["hello", "from", runtime.name]);
console.log(hello.outcome, hello.exitCode, hello.stdout.trimEnd());
// → completed 0 hello from native

// A non-zero exit is a result. Arguments reach the command as they are: no shell reads them.
const seven = await runtime.execute("sh", ["-c", 'echo "$1" >&2; exit 7', "sh", "$HOME; * stays as it is"]);
console.log(seven.outcome, seven.exitCode, seven.stderr.trimEnd());
// → completed 7 $HOME; * stays as it is

// Why it ended is in `outcome`, never in a number that has to be guessed at.
const slow = await runtime.execute("sleep", ["60"], { timeoutMs: 100 });
console.log(slow.outcome, slow.exitCode, slow.signal);
// → timed_out 143 SIGTERM

// Files go in and out of a directory of the execution's own, which is removed afterwards.
const sorted = await runtime.execute("sort", ["-o", "sorted.txt", "names.txt"], {
  files: { "names.txt": "Turing\nHopper\nLovelace\n" },
  outputs: ["sorted.txt"],
});
console.log(new TextDecoder().decode(sorted.files["sorted.txt"]).split("\n").join(" "));
// → Hopper Lovelace Turing

// What could not be run at all is an error, with a code of a closed list.
try {
  await runtime.execute("no-such-program");
} catch (error) {
  if (!(error instanceof RuntimeError)) throw error;
  console.log(error.code, error.started);
  // → command_not_found no
}
