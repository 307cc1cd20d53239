/** `npm run bench:native`: every benchmark of the native backend, on each runtime, one after another. */

import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("../..", import.meta.url));
const runtimes = [["node"], ["bun"], ["deno", "run", "--allow-all"]] as const;

function run(command: readonly string[], script: string): void {
  const [program = "", ...args] = command;
  const { status } = spawnSync(program, [...args, join("bench", "native", script)], { cwd: root, stdio: "inherit" });
  if (status !== 0) process.exitCode = 1;
}

for (const runtime of runtimes) run(runtime, "spawn.ts");
for (const runtime of runtimes) run(runtime, "throughput.ts");
run(["node"], "startup.ts");
run(["node"], join("..", "..", "scripts", "bundle-core.ts"));
