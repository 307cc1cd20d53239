/**
 * `execute("/bin/true")` against a raw spawn, execa and tinyexec, as ratios to the raw spawn, in two ways. Alone: each candidate
 * in processes of its own, which take turns in an order drawn anew each round; the ratio is taken within a round. That is what a
 * program with one of these libraries sees. Together: all candidates in one process, run by run. There each also pays for
 * what the one before it leaves behind, such as garbage, clean-up that is still under way and caches full of other code.
 */

import { execFileSync, spawn } from "node:child_process";
import { fileURLToPath } from "node:url";
import { execa } from "execa";
import { x } from "tinyexec";
import { createRuntime } from "../../mod.ts";
import { type Candidate, interleave, quantile, runtimeName, shuffled } from "../measure.ts";

const rounds = 11;
const runs = 200;
const runsTogether = 300;
/** So many that what runs often is compiled: the first hundred are a start, which `startup.ts` measures. */
const warmUp = 100;
const base = "raw spawn";
const config = { runtime: { backend: "native" } };

/** As the fair opponent does it: a process group of its own, piped output, read to the end. */
const raw = () =>
  new Promise((resolve, reject) => {
    const child = spawn("/bin/true", [], { detached: true, stdio: ["ignore", "pipe", "pipe"] });
    child.stdout.resume();
    child.stderr.resume();
    child.once("error", reject);
    child.once("close", resolve);
  });

/** The candidate that this process is for; without one it is the process that compares all. */
const own = process.argv[2];
await using runtime = own === undefined || own === "prx-runtime" ? await createRuntime(config) : null;
const candidates: readonly Candidate[] = [
  { name: base, run: raw },
  { name: "prx-runtime", run: async () => runtime?.execute("/bin/true") },
  { name: "execa", run: () => execa("/bin/true", [], { detached: true, stdin: "ignore" }) },
  { name: "tinyexec", run: async () => x("/bin/true", [], { nodeOptions: { detached: true } }) },
];

interface Figures {
  readonly median: number;
  readonly p95: number;
}

const figuresOf = (times: readonly number[]): Figures => ({ median: quantile(times, 0.5), p95: quantile(times, 0.95) });
const middle = (values: readonly number[]) =>
  quantile(
    [...values].sort((a, b) => a - b),
    0.5,
  );

function show(name: string, { median, p95 }: Figures, ratio: number): void {
  const figures = `median ${median.toFixed(2)} ms  p95 ${p95.toFixed(2)} ms`;
  console.log(`  ${name.padEnd(12)} ${figures}  ${ratio.toFixed(2)} x raw`);
}

/** One candidate, in a process that runs nothing else. */
function measureAlone(name: string): Figures {
  const flags = "Deno" in globalThis ? ["run", "--allow-all"] : [];
  const answer = execFileSync(process.execPath, [...flags, fileURLToPath(import.meta.url), name], { encoding: "utf8" });
  return JSON.parse(answer);
}

function compareAlone(): void {
  const measured = new Map(candidates.map(({ name }) => [name, [] as Figures[]]));
  for (let round = 0; round < rounds; round += 1) {
    for (const { name } of shuffled(candidates)) measured.get(name)?.push(measureAlone(name));
  }
  console.log(`${runtimeName()}: /bin/true, alone: ${rounds} rounds of ${runs} runs`);
  const raws = measured.get(base) ?? [];
  for (const [name, all] of measured) {
    const figures = { median: middle(all.map(({ median }) => median)), p95: middle(all.map(({ p95 }) => p95)) };
    show(name, figures, middle(all.map(({ median }, round) => median / (raws[round]?.median ?? Number.NaN))));
  }
}

async function compareTogether(): Promise<void> {
  const samples = await interleave(candidates, { rounds: runsTogether, warmUp });
  console.log(`${runtimeName()}: /bin/true, together: ${runsTogether} runs`);
  const { median: rawMedian } = figuresOf(samples.get(base) ?? []);
  for (const [name, times] of samples) show(name, figuresOf(times), figuresOf(times).median / rawMedian);
}

if (own === undefined) {
  compareAlone();
  await compareTogether();
} else {
  const alone = candidates.filter(({ name }) => name === own);
  const samples = await interleave(alone, { rounds: runs, warmUp });
  console.log(JSON.stringify(figuresOf(samples.get(own) ?? [])));
}
