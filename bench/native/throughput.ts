/** A 1 GiB `stream` against the raw pipe: MiB/s as a ratio, and the peak of the resident memory. */

import { spawn } from "node:child_process";
import { createRuntime } from "../../mod.ts";
import { interleave, quantile, runtimeName } from "../measure.ts";

const mebibytes = Number(process.argv[2] ?? 1024);
const rounds = Number(process.argv[3] ?? 5);
const command = ["-c", String(mebibytes * 1024 * 1024), "/dev/zero"];
await using runtime = await createRuntime({ runtime: { backend: "native" } });

/** The raw pipe at its fastest on this runtime, which on Node and Bun is plain `data` events. */
const raw = () =>
  new Promise<void>((resolve, reject) => {
    const child = spawn("head", command, { detached: true, stdio: ["ignore", "pipe", "pipe"] });
    let bytes = 0;
    child.stdout.on("data", (chunk: Uint8Array) => {
      bytes += chunk.byteLength;
    });
    child.stderr.resume();
    child.once("error", reject);
    child.once("close", () => check(bytes, resolve, reject));
  });

const streamed = async () => {
  let bytes = 0;
  for await (const event of runtime.stream("head", command, { timeoutMs: 0 })) {
    if (event.type === "stdout") bytes += event.data.byteLength;
    peak = Math.max(peak, bytes % (64 << 20) < 65_536 ? process.memoryUsage.rss() : 0);
  }
  await new Promise<void>((resolve, reject) => check(bytes, resolve, reject));
};

function check(bytes: number, resolve: () => void, reject: (error: Error) => void): void {
  const wanted = mebibytes * 1024 * 1024;
  if (bytes === wanted) resolve();
  else reject(new Error(`${bytes} bytes instead of ${wanted}`));
}

let peak = 0;
const before = process.memoryUsage.rss();
const samples = await interleave(
  [
    { name: "raw pipe", run: raw },
    { name: "prx-runtime", run: streamed },
  ],
  { rounds, warmUp: 1 },
);
const rate = (name: string) => mebibytes / (quantile(samples.get(name) ?? [], 0.5) / 1000);
console.log(`${runtimeName()}: ${mebibytes} MiB of stdout, median of ${rounds} interleaved rounds`);
for (const name of samples.keys()) {
  console.log(
    `  ${name.padEnd(12)} ${rate(name).toFixed(0)} MiB/s  ${(rate(name) / rate("raw pipe")).toFixed(2)} x raw`,
  );
}
console.log(
  `  resident memory: ${(before / 2 ** 20).toFixed(0)} MiB before, at most ${(peak / 2 ** 20).toFixed(0)} MiB while streaming`,
);
