/** What the hosts of the cases have in common. */

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { createRuntime, type Runtime } from "../../../mod.ts";
import { cgroupOf, processesWith } from "./place.ts";

/** A native runtime of the machine's own shell. */
export function startRuntime(log: string[] = []): Promise<Runtime> {
  const config = { runtime: { backend: "native", native: { shell: "/bin/sh" } } } as const;
  return createRuntime(config, { log: ({ code, message }) => void log.push(`${code} ${message}`) });
}

/** A limit that nothing here reaches. */
export const roomy = { memoryBytes: 512 * 1024 * 1024 };

/** A runtime that is closed afterwards; then the host must be back where it was. */
export async function withRuntime(use: (runtime: Runtime) => Promise<void>): Promise<void> {
  const before = cgroupOf("self");
  const runtime = await startRuntime();
  try {
    await use(runtime);
  } finally {
    await runtime.close();
  }
  assert.equal(cgroupOf("self"), before, "The host is not back in its cgroup");
}

export async function expectNone(word: string): Promise<void> {
  assert.deepEqual(processesWith(word), [], `Processes with ${word} are left`);
}

/** Runs another case as a child of this host, in its cgroup. Answers once that has said `ready`; `finish` lets it go on. */
export async function startHost(name: string): Promise<{ readonly pid: number; finish(): Promise<void> }> {
  const args = [...runtimeFlags(), process.argv[1] ?? "", "case", name];
  const child = spawn(process.execPath, args, { stdio: ["pipe", "pipe", "inherit"] });
  const exited = new Promise<number | null>((resolve) => child.once("exit", resolve));
  await new Promise<void>((resolve, reject) => {
    child.stdout.on("data", (chunk) => String(chunk).includes("ready") && resolve());
    void exited.then((code) => reject(new Error(`The host ${name} ended with ${code}`)));
  });
  return {
    pid: child.pid ?? 0,
    finish: async () => {
      child.stdin.end();
      assert.equal(await exited, 0, `The host ${name} failed`);
    },
  };
}

/** The other end of {@link startHost}. */
export async function readyUntilTold(): Promise<void> {
  console.log("ready");
  await new Promise((resolve) => process.stdin.once("end", resolve).resume());
}

function runtimeFlags(): readonly string[] {
  return "Deno" in globalThis ? ["run", "--allow-all", "--quiet"] : [];
}

/** The runtime's own program as words of a command line. */
export const selfProgram: readonly [string, ...string[]] = [process.execPath, ...runtimeFlags()];
