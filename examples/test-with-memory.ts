/**
 * Tests without processes: the memory backend runs functions as if they were programs, and its endings can be scripted.
 *
 *     node examples/test-with-memory.ts        bun examples/test-with-memory.ts        deno run -A examples/test-with-memory.ts
 */

import assert from "node:assert/strict";
import { createRuntime, type Runtime } from "../mod.ts";
import { type MemoryOptions, memory } from "../testing.ts";

/** What is under test: it takes any runtime, and knows nothing of where the command runs. */
async function lint(runtime: Runtime, source: string): Promise<string> {
  const out = await runtime.execute("linter", ["--stdin"], { stdin: source, timeoutMs: 500 });
  if (out.outcome !== "completed") return `The linter gave no answer: ${out.cause ?? out.outcome}`;
  return out.exitCode === 0 ? "Nothing to complain about" : out.stdout.trimEnd();
}

/** A runtime whose `linter` is a function. */
function runtimeWith(options: MemoryOptions): Promise<Runtime> {
  const config = { runtime: { backend: "memory", kill_grace_secs: 0.05 } };
  return createRuntime(config, { backends: { memory: memory(options) } });
}

const linter: MemoryOptions["programs"] = {
  linter: async ({ stdin, stdout }) => {
    const source = await new Response(stdin).text();
    if (!source.includes("var ")) return 0;
    await stdout.write("Use let or const instead of var\n");
    return 1;
  },
};

{
  await using runtime = await runtimeWith({ programs: linter });
  assert.equal(await lint(runtime, "const a = 1;"), "Nothing to complain about");
  assert.equal(await lint(runtime, "var a = 1;"), "Use let or const instead of var");
}
console.log("ok: what the linter says is handed on");

{
  // A program that never ends: the time limit is the real one, above the seam.
  await using runtime = await runtimeWith({ programs: { linter: async ({ sleep }) => sleep(60_000) } });
  assert.equal(await lint(runtime, ""), "The linter gave no answer: timed_out");
}
console.log("ok: a linter that hangs is no answer");

{
  // A node that dies under the command, which no test with real processes could ask for.
  await using runtime = await runtimeWith({
    programs: { linter: async ({ sleep }) => sleep(60_000) },
    loss: { afterMs: 10, cause: "node_lost" },
  });
  assert.equal(await lint(runtime, ""), "The linter gave no answer: node_lost");
}
console.log("ok: a lost linter is no answer");
// → ok: what the linter says is handed on
// → ok: a linter that hangs is no answer
// → ok: a lost linter is no answer
