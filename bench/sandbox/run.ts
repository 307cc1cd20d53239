/**
 * `npm run bench:sandbox`: `/bin/true` in a sandbox, against the sandbox program started by hand with the very same arguments
 * and descriptors, and against plain native, on each runtime. Medians of interleaved runs.
 */

import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { closeSync, mkdtempSync, openSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { seccompFilter } from "../../adapters/_native/seccomp-filter.ts";
import { createRuntime } from "../../mod.ts";
import { interleave, quantile, runtimeName } from "../measure.ts";

const rounds = 100;
const sandboxes = ["bubblewrap"] as const;
const workingDir = realpathSync(mkdtempSync(join(tmpdir(), "prx-bench-")));
const filter = join(workingDir, "filter");
writeFileSync(filter, seccompFilter(process.arch) ?? "");

/** The argv that `explain` shows, in words. */
function argvOf(lowering: string): readonly [string, ...string[]] {
  const line = /^spawn (.*)$/m.exec(lowering)?.[1] ?? "";
  return JSON.parse(`[${line.replaceAll('" "', '", "')}]`);
}

/** As a script does it: the same words, the filter and the status on the descriptors they name, output read to the end. */
function byHand([program, ...args]: readonly [string, ...string[]], env: NodeJS.ProcessEnv): Promise<void> {
  const descriptors = [openSync(filter, "r"), openSync(join(workingDir, "status"), "w")];
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

async function compare(): Promise<void> {
  await using plain = await createRuntime({ runtime: { backend: "native" } });
  for (const backend of sandboxes) {
    await using runtime = await createRuntime({ runtime: { backend: "native" }, security: { sandbox: { backend } } });
    const { lowering, plan } = await runtime.explain("/bin/true", [], { workingDir });
    const argv = argvOf(lowering);
    const env = Object.fromEntries(Object.keys(plan.env).map((name) => [name, process.env[name]]));
    const samples = await interleave(
      [
        { name: "by hand", run: () => byHand(argv, env) },
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
        `  ${name.padEnd(12)} median ${median.toFixed(2)} ms  p95 ${quantile(times, 0.95).toFixed(2)} ms  ${(median / base).toFixed(2)} x by hand`,
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
