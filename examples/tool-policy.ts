/**
 * Tools with a policy of the operator's: what the configuration allows, a request can narrow and never widen.
 *
 *     node examples/tool-policy.ts        bun examples/tool-policy.ts        deno run -A examples/tool-policy.ts
 */

import { fileURLToPath } from "node:url";
import { createRuntime, loadConfig, RuntimeError } from "../mod.ts";

const config = await loadConfig(fileURLToPath(new URL("./tool-policy.toml", import.meta.url)));
await using runtime = await createRuntime(config);

// The tool's name stands for its program and its first arguments.
const counted = await runtime.execute("word-count", [], { stdin: "one two three" });
console.log(counted.stdout.trim());
// → 3

// Asking for more than the tool has is answered by a warning, not by more.
const greedy = await runtime.execute("word-count", [], { stdin: "", timeoutMs: 60_000 });
for (const { code, message } of greedy.warnings.filter((warning) => warning.code === "narrowed")) {
  console.log(`${code}: ${message}`);
}
// → narrowed: Time limit narrowed from 60000 ms to 5000 ms, the most that tool and operator allow

// What would happen can be looked at first. Names of variables are shown, their values never.
const { plan } = await runtime.explain("word-count");
console.log(plan.argv.join(" "), plan.limits.timeoutMs, plan.limits.maxOutputBytes, plan.env["LC_ALL"]);
// → wc -w 5000 1024 <redacted>

// A policy that this backend cannot keep is refused before anything runs. A local process always has the host's network.
const { refused, clauses } = await runtime.explain("crawler");
console.log(refused === null, clauses.find(({ clause }) => clause === "network")?.verdict.grade);
// → false impossible
try {
  await runtime.execute("crawler");
} catch (error) {
  if (!(error instanceof RuntimeError)) throw error;
  console.log(error.code, error.started);
  // → policy_unenforceable no
}

// A variable by which a loader or an interpreter would run code of its own does not pass unless the operator names it.
try {
  await runtime.execute("word-count", [], { env: { LD_PRELOAD: "./mine.so" } });
} catch (error) {
  if (!(error instanceof RuntimeError)) throw error;
  console.log(error.code);
  // → invalid_request
}
