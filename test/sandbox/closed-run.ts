/** Runs a command in each directory that is named, with protected names that are missing there, and prints what came of it. */

import type { Sandbox } from "./against.ts";
import { sandboxedRuntime } from "./ways.ts";

const [script = "", ...directories] = process.argv.slice(2);
const backend = process.env["PRX_AGAINST"] as Sandbox;
await using runtime = await sandboxedRuntime(backend, { protected_paths: [".git/hooks/", ".bashrc"] });
const told: string[] = [];
for (const workingDir of directories) {
  const running = runtime.execute("/bin/sh", ["-c", script], { workingDir });
  told.push(
    await running.then(
      ({ stdout }) => stdout,
      ({ code, message }) => `${code}: ${message}`,
    ),
  );
}
console.log(JSON.stringify(told));
