/**
 * Importing the built package and the first execution, as a whole process, above a script with one raw spawn: medians of
 * interleaved starts. From the sources of a checkout Node strips the types of every file first, which takes far longer.
 */

import { execFileSync, spawn } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { interleave, quantile } from "../measure.ts";

const rounds = Number(process.argv[2] ?? 25);
const root = fileURLToPath(new URL("../..", import.meta.url));
const directory = mkdtempSync(join(tmpdir(), "prx-bench-"));

const scripts = {
  raw: `import { execFileSync, spawn } from "node:child_process";
await new Promise((resolve) => {
  const child = spawn("/bin/true", [], { detached: true, stdio: ["ignore", "pipe", "pipe"] });
  child.stdout.resume();
  child.stderr.resume();
  child.once("close", resolve);
});`,
  prx: `import { createRuntime } from ${JSON.stringify(`${root}dist/mod.js`)};
const runtime = await createRuntime({ runtime: { backend: "native" } });
await runtime.execute("/bin/true");
await runtime.close();`,
};
execFileSync("node", [join(root, "scripts", "build.ts")], { cwd: root, stdio: "inherit" });
for (const [name, text] of Object.entries(scripts)) writeFileSync(join(directory, `${name}.mjs`), text);

const runtimes = {
  node: { command: ["node"], mostMs: 40 },
  bun: { command: ["bun"], mostMs: 25 },
  deno: { command: ["deno", "run", "-A", "--config", `${root}deno.json`], mostMs: 40 },
};
for (const [name, { command, mostMs }] of Object.entries(runtimes)) {
  const start = (script: string) => () =>
    new Promise<void>((resolve, reject) => {
      const [program = "", ...args] = command;
      const child = spawn(program, [...args, join(directory, `${script}.mjs`)], { stdio: "ignore" });
      child.once("error", reject);
      child.once("close", (code) => (code === 0 ? resolve() : reject(new Error(`${script} exited with ${code}`))));
    });
  const samples = await interleave(
    [
      { name: "raw", run: start("raw") },
      { name: "prx", run: start("prx") },
    ],
    { rounds, warmUp: 3 },
  );
  const [raw, prx] = ["raw", "prx"].map((script) => quantile(samples.get(script) ?? [], 0.5)) as [number, number];
  const above = prx - raw;
  console.log(
    `${name}: one raw spawn ${raw.toFixed(0)} ms, prx-runtime ${prx.toFixed(0)} ms, ${above.toFixed(0)} ms above (to be at most ${mostMs})`,
  );
}
rmSync(directory, { recursive: true });
