/**
 * `npm run bench:sandbox`: `/bin/true` in a sandbox, against the sandbox program started by hand with the very same arguments
 * and descriptors, and against plain native, on each runtime. Medians of interleaved runs. bubblewrap ends before the kernel
 * has cleared away what was inside, for which prx-runtime waits: it is also compared with one by hand who waits too.
 */

import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { closeSync, mkdtempSync, openSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setImmediate } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import type { NativeArtifact } from "../../adapters/_native/lower.ts";
import type { SandboxArtifact } from "../../adapters/_native/sandbox/lower-sandbox.ts";
import { native } from "../../adapters/native.ts";
import { createRuntime } from "../../mod.ts";
import type { BackendFactory } from "../../src/backend.ts";
import type { ExecutionPlan } from "../../src/types.ts";
import { interleave, quantile, runtimeName } from "../measure.ts";

const rounds = 100;
const sandboxes = ["bubblewrap", "firejail"] as const;
const workingDir = realpathSync(mkdtempSync(join(tmpdir(), "prx-bench-")));

/** What the product starts for a command: the program's words, its environment, and what it finds as open files. */
interface Wrapped {
  readonly words: readonly [string, ...string[]];
  readonly env: Readonly<Record<string, string>>;
  /** Files for the places from 3 on; `null`: the status, which is written. */
  readonly files: readonly (string | null)[];
}

/** The native backend as it is, which also tells once how it wraps what it starts. */
function telling(tell: (wrapped: Wrapped) => void): BackendFactory {
  return async (context) => {
    const backend = await native(context);
    let { start } = backend.adapter;
    const first = start;
    start = (plan, io, signal) => {
      start = first;
      const { sandbox } = backend.adapter.lower(plan).artifact as NativeArtifact;
      if (sandbox !== null) tell(wrappedBy(sandbox, plan));
      return first(plan, io, signal);
    };
    return { ...backend, adapter: { ...backend.adapter, start: (...given) => start(...given) } };
  };
}

function wrappedBy({ program, view, filter }: SandboxArtifact, { argv, env }: ExecutionPlan): Wrapped {
  const wrapping = program.wrap(view, { argv, env });
  const keep = (name: string, content: string | Uint8Array) => {
    const path = join(workingDir, `${program.name}.${name}`);
    writeFileSync(path, content);
    return path;
  };
  const inputs = wrapping.inputs.map((input, index) => keep(`input${index}`, input));
  const held = wrapping.holds === undefined ? [] : [wrapping.holds];
  return { words: wrapping.words, env: wrapping.env, files: [keep("filter", filter ?? ""), null, ...inputs, ...held] };
}

/** As a script does it: the same words, the same open files on the descriptors they name, output read to the end. */
function byHand({ words: [program, ...args], env, files }: Wrapped): Promise<void> {
  const descriptors = files.map((file) =>
    file === null ? openSync(join(workingDir, "status"), "w") : openSync(file, "r"),
  );
  const child: ChildProcess = spawn(program, args, {
    ...{ env, cwd: workingDir, detached: true },
    stdio: ["ignore", "pipe", "pipe", ...descriptors],
  });
  for (const descriptor of descriptors) closeSync(descriptor);
  child.stdout?.resume();
  child.stderr?.resume();
  return new Promise((resolve, reject) => {
    child.once("error", reject);
    child.once("close", (code) => (code === 0 ? resolve() : reject(new Error(`${program} exited with ${code}`))));
  });
}

/** And until the first process inside, which the status names, is no more. */
async function byHandUntilGone(wrapped: Wrapped): Promise<void> {
  await byHand(wrapped);
  const init = /"child-pid": (\d+)/.exec(readFileSync(join(workingDir, "status"), "utf8"))?.[1];
  if (init === undefined) throw new Error("bubblewrap named no first process");
  while (isAlive(init)) await setImmediate();
}

function isAlive(pid: string): boolean {
  try {
    return !/\) [ZX] /.test(readFileSync(`/proc/${pid}/stat`, "utf8"));
  } catch {
    return false;
  }
}

async function compare(): Promise<void> {
  await using plain = await createRuntime({ runtime: { backend: "native" } });
  for (const backend of sandboxes) {
    const told = Promise.withResolvers<Wrapped>();
    const config = { runtime: { backend: "native" }, security: { sandbox: { backend } } };
    await using runtime = await createRuntime(config, { backends: { native: telling(told.resolve) } });
    await runtime.execute("/bin/true", [], { workingDir });
    const wrapped = await told.promise;
    const samples = await interleave(
      [
        { name: "by hand", run: () => byHand(wrapped) },
        ...(backend === "bubblewrap" ? [{ name: "by hand, until gone", run: () => byHandUntilGone(wrapped) }] : []),
        { name: "prx-runtime", run: () => runtime.execute("/bin/true", [], { workingDir }) },
        { name: "plain native", run: () => plain.execute("/bin/true", [], { workingDir }) },
      ],
      { rounds, warmUp: 10 },
    );
    const base = quantile(samples.get("by hand") ?? [], 0.5);
    console.log(`${runtimeName()}: /bin/true in ${backend}, ${rounds} interleaved rounds`);
    for (const [name, times] of samples) {
      const median = quantile(times, 0.5);
      console.log(
        `  ${name.padEnd(19)} median ${median.toFixed(2)} ms  p95 ${quantile(times, 0.95).toFixed(2)} ms  ${(median / base).toFixed(2)} x by hand`,
      );
    }
  }
}

if (process.argv[2] === "here") await compare();
else {
  const root = fileURLToPath(new URL("../..", import.meta.url));
  for (const [program, ...args] of [["node"], ["bun"], ["deno", "run", "--allow-all"]] as const) {
    const { status } = spawnSync(program, [...args, "bench/sandbox/run.ts", "here"], { cwd: root, stdio: "inherit" });
    if (status !== 0) process.exitCode = 1;
  }
}
rmSync(workingDir, { recursive: true });
