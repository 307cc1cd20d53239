/** `execute("/bin/true")` against a raw spawn, execa and tinyexec: medians of interleaved rounds, as ratios to the raw spawn. */

import { spawn } from "node:child_process";
import { execa } from "execa";
import { x } from "tinyexec";
import { createRuntime } from "../../mod.ts";
import { interleave, quantile, runtimeName } from "../measure.ts";

const rounds = Number(process.argv[2] ?? 300);
await using runtime = await createRuntime({ runtime: { backend: "native" } });

/** As the fair opponent does it: a process group of its own, piped output, read to the end. */
const raw = () =>
  new Promise((resolve, reject) => {
    const child = spawn("/bin/true", [], { detached: true, stdio: ["ignore", "pipe", "pipe"] });
    child.stdout.resume();
    child.stderr.resume();
    child.once("error", reject);
    child.once("close", resolve);
  });

const samples = await interleave(
  [
    { name: "raw spawn", run: raw },
    { name: "prx-runtime", run: () => runtime.execute("/bin/true") },
    { name: "execa", run: () => execa("/bin/true", [], { detached: true, stdin: "ignore" }) },
    { name: "tinyexec", run: async () => x("/bin/true", [], { nodeOptions: { detached: true } }) },
  ],
  { rounds, warmUp: 20 },
);
const base = quantile(samples.get("raw spawn") ?? [], 0.5);
console.log(`${runtimeName()}: /bin/true, ${rounds} interleaved rounds`);
for (const [name, times] of samples) {
  const median = quantile(times, 0.5);
  const figures = `median ${median.toFixed(2)} ms  p95 ${quantile(times, 0.95).toFixed(2)} ms`;
  console.log(`  ${name.padEnd(12)} ${figures}  ${(median / base).toFixed(2)} x raw`);
}
