/**
 * A 1 GiB `stream` against the raw pipe: MiB/s as a ratio, and the peak of the resident memory. Each runs in processes of its
 * own, which take turns: in a common one neither peak would be known, and each would pay for the other's garbage.
 */

import { execFileSync, spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { createRuntime } from "../../mod.ts";
import { quantile, runtimeName, shuffled } from "../measure.ts";

const mebibytes = 1024;
const rounds = 5;
const command = ["-c", String(mebibytes * 1024 * 1024), "/dev/zero"];
const names = ["raw pipe", "prx-runtime"] as const;
/** The candidate that this process is for; without one it is the process that compares them. */
const own = process.argv[2];
await using runtime = own === "prx-runtime" ? await createRuntime({ runtime: { backend: "native" } }) : null;

interface Figures {
  readonly rate: number;
  readonly beforeMiB: number;
  readonly peakMiB: number;
}

/** The raw pipe at its fastest on this runtime, which on Node and Bun is plain `data` events. */
function raw(): Promise<number> {
  return new Promise((resolve, reject) => {
    const child = spawn("head", command, { detached: true, stdio: ["ignore", "pipe", "pipe"] });
    let bytes = 0;
    child.stdout.on("data", (chunk: Uint8Array) => {
      bytes += chunk.byteLength;
    });
    child.stderr.resume();
    child.once("error", reject);
    child.once("close", () => resolve(bytes));
  });
}

async function streamed(): Promise<number> {
  let bytes = 0;
  if (runtime === null) return bytes;
  for await (const event of runtime.stream("head", command, { timeoutMs: 0 })) {
    if (event.type === "stdout") bytes += event.data.byteLength;
  }
  return bytes;
}

/** One line of proc_pid_status(5), in MiB: `VmRSS` is what is resident, `VmHWM` the most that ever was. */
function memoryMiB(line: "VmRSS" | "VmHWM"): number {
  const found = new RegExp(`^${line}:\\s+(\\d+) kB$`, "m").exec(readFileSync("/proc/self/status", "utf8"));
  return Number(found?.[1]) / 1024;
}

async function measure(run: () => Promise<number>): Promise<Figures> {
  const beforeMiB = memoryMiB("VmRSS");
  const since = performance.now();
  const bytes = await run();
  const seconds = (performance.now() - since) / 1000;
  if (bytes !== mebibytes * 1024 * 1024) throw new Error(`${bytes} bytes are not ${mebibytes} MiB`);
  return { rate: mebibytes / seconds, beforeMiB, peakMiB: memoryMiB("VmHWM") };
}

function measureAlone(name: string): Figures {
  const flags = "Deno" in globalThis ? ["run", "--allow-all"] : [];
  const answer = execFileSync(process.execPath, [...flags, fileURLToPath(import.meta.url), name], { encoding: "utf8" });
  return JSON.parse(answer);
}

const middle = (values: readonly number[]) =>
  quantile(
    [...values].sort((a, b) => a - b),
    0.5,
  );

function compare(): void {
  const measured = new Map<string, Figures[]>(names.map((name) => [name, []]));
  for (let round = 0; round < rounds; round += 1) {
    for (const name of shuffled(names)) measured.get(name)?.push(measureAlone(name));
  }
  console.log(`${runtimeName()}: ${mebibytes} MiB of stdout, median of ${rounds} rounds, each in a process of its own`);
  const raws = measured.get("raw pipe") ?? [];
  for (const [name, all] of measured) {
    const ratio = middle(all.map(({ rate }, round) => rate / (raws[round]?.rate ?? Number.NaN)));
    const memory = `${middle(all.map(({ beforeMiB }) => beforeMiB)).toFixed(0)} MiB resident before, at most ${Math.max(...all.map(({ peakMiB }) => peakMiB)).toFixed(0)} MiB`;
    console.log(
      `  ${name.padEnd(12)} ${middle(all.map(({ rate }) => rate)).toFixed(0)} MiB/s  ${ratio.toFixed(2)} x raw  ${memory}`,
    );
  }
}

if (own === undefined) compare();
else console.log(JSON.stringify(await measure(own === "raw pipe" ? raw : streamed)));
