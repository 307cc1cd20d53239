/**
 * Ten thousand executions, 64 at a time, on the runtime that runs this file; fails when anything has grown.
 *
 *     node test/soak/native-10k.ts [EXECUTIONS] [AT-A-TIME]
 */

import process from "node:process";
import { createRuntime, type Runtime } from "../../mod.ts";
import { asScript, type FixtureName } from "../../testing.ts";
import { countsAtRest, isolateState, markedProcesses } from "../fixtures/host-target.ts";
import { runtimeName } from "../fixtures/runtimes.ts";

const executions = Number(process.argv[2] ?? 10_000);
const atATime = Number(process.argv[3] ?? 64);
/** What allocators and garbage collectors may keep: a leak of 20 KB per execution would be 200 MB. */
const mostGrownMB = 100;
const marker = { SOAK_MARKER: crypto.randomUUID() };

type Round = (runtime: Runtime, signal: AbortSignal) => Promise<void>;

function claim(holds: boolean, what: string): void {
  if (!holds) throw new Error(what);
}

async function run(runtime: Runtime, fixture: FixtureName, rest: { args?: readonly string[]; options?: object } = {}) {
  const { command, args } = asScript(fixture, rest.args);
  return runtime.execute(command, args, { ...rest.options, env: marker });
}

const stdin = new Uint8Array(100_000);

/** Every way in which an execution can go, in turns. Most are ordinary. */
const rounds: readonly Round[] = [
  async (runtime, signal) =>
    claim((await run(runtime, "exit-with", { args: ["3"], options: { signal } })).exitCode === 3, "exit 3"),
  async (runtime) => claim((await run(runtime, "print-both")).stderr === "err", "stderr"),
  async (runtime) => claim((await runtime.execute("/bin/true", [], { env: marker })).exitCode === 0, "true"),
  async (runtime) =>
    claim((await run(runtime, "cat", { options: { stdin } })).stdoutTotalBytes === stdin.length, "cat"),
  async (runtime) =>
    claim((await run(runtime, "exit-with", { args: ["0"], options: { stdin } })).exitCode === 0, "unread stdin"),
  async (runtime) => claim((await run(runtime, "background-child")).exitCode === 0, "background child"),
  async (runtime) =>
    claim(
      (await run(runtime, "flood", { args: ["300000"], options: { maxOutputBytes: 10 } })).stdoutTruncated,
      "flood",
    ),
  async (runtime) =>
    claim(
      (await run(runtime, "sleep", { args: ["30"], options: { timeoutMs: 5 } })).outcome === "timed_out",
      "timeout",
    ),
  async (runtime) => {
    const output = await run(runtime, "write-file", {
      args: ["out", "x"],
      options: { files: { in: "y" }, outputs: ["out"] },
    });
    claim(output.files["out"]?.length === 1, "output file");
  },
  async (runtime) => {
    const { command, args } = asScript("two-sleepers");
    for await (const event of runtime.stream(command, args, { env: marker })) if (event.type === "stdout") break;
  },
  async (runtime) => {
    const error = await runtime.execute("no-such-command-here").catch((thrown: { code?: string }) => thrown);
    claim("code" in error && error.code === "command_not_found", "command_not_found");
  },
];

async function batch(runtime: Runtime, count: number, signal: AbortSignal): Promise<void> {
  let next = 0;
  const worker = async (): Promise<void> => {
    for (let index = next++; index < count; index = next++) await rounds[index % rounds.length]?.(runtime, signal);
  };
  await Promise.all(Array.from({ length: atATime }, worker));
}

/** After a rest, because some things are let go of late. */
async function counts(scratch: string): Promise<Readonly<Record<string, number>>> {
  for (let round = 0; round < 5; round += 1) {
    await new Promise((resolve) => setTimeout(resolve, 300));
    (globalThis as { gc?: () => void }).gc?.();
    if ("Bun" in globalThis) Bun.gc(true);
  }
  return {
    ...countsAtRest(scratch),
    "marked processes": markedProcesses("SOAK_MARKER", marker.SOAK_MARKER).length,
    "resident MB": Math.round(process.memoryUsage.rss() / 1e6),
  };
}

const { scratch, remove } = isolateState();
const runtime = await createRuntime({ runtime: { backend: "native", kill_grace_secs: 0.2 } });
const caller = new AbortController();
await batch(runtime, Math.min(1500, executions), caller.signal);
const before = await counts(scratch);
const began = performance.now();
await batch(runtime, executions, caller.signal);
const seconds = (performance.now() - began) / 1000;
const after = await counts(scratch);
await runtime.close();
const closed = await counts(scratch);
remove();

console.log(
  `${runtimeName}: ${executions} executions, ${atATime} at a time, ${seconds.toFixed(1)} s, ${(executions / seconds).toFixed(0)} per second`,
);
console.table(
  Object.fromEntries(
    Object.keys(before).map((name) => [name, { before: before[name], after: after[name], closed: closed[name] }]),
  ),
);
const grown = Object.keys(before).filter((name) => {
  const allowed = name === "resident MB" ? mostGrownMB : 0;
  return (after[name] ?? 0) > (before[name] ?? 0) + allowed;
});
const left = ["child processes", "marked processes", "cgroups", "files and directories"].filter(
  (name) => (closed[name] ?? 0) > 0,
);
for (const name of grown) console.error(`Grown: ${name}`);
for (const name of left) console.error(`Left after closing: ${name}`);
process.exitCode = grown.length + left.length > 0 ? 1 : 0;
