/** All processes of one execution: they share streams, files and memory, and end together. */

import type { ExecutionPlan, ExitKind } from "../../src/types.ts";
import { type ByteLog, createByteLog } from "./byte-log.ts";
import type { MemoryClock } from "./clock.ts";
import type { MemoryFiles } from "./file-tree.ts";
import { type MemoryProgram, type RunningProcess, runProcess, signaled } from "./process.ts";

/** What the processes share. */
export interface TreeOptions {
  readonly plan: ExecutionPlan;
  readonly workingDir: string;
  readonly stdout: ByteLog;
  readonly stderr: ByteLog;
  readonly files: MemoryFiles;
  readonly clock: MemoryClock;
}

export interface ProcessTree {
  readonly processes: readonly RunningProcess[];
  run(program: MemoryProgram, argv: readonly [string, ...string[]], stdin: ByteLog): RunningProcess;
  /** Ends every process at once, in that way. */
  endAll(kind: ExitKind): void;
  /** TERM, the grace period, KILL. Resolves when no process is left. */
  stop(): Promise<void>;
}

export const outOfMemory: ExitKind = { kind: "out_of_memory", number: 9 };

export function createProcessTree({ plan, clock, ...shared }: TreeOptions): ProcessTree {
  const processes: RunningProcess[] = [];
  let over = false;
  let taken = 0;

  function run(program: MemoryProgram, argv: readonly [string, ...string[]], stdin: ByteLog): RunningProcess {
    const context = { ...shared, clock, env: plan.env, stdin, allocate, spawn: spawnChild };
    const process = runProcess(context, program, argv);
    processes.push(process);
    if (over) process.end(signaled("SIGKILL"));
    return process;
  }

  function spawnChild(program: MemoryProgram, argv: readonly [string, ...string[]]): void {
    const nothing = createByteLog({ windowBytes: 1, retainBytes: 0 });
    nothing.end();
    run(program, argv, nothing);
  }

  function allocate(bytes: number): void {
    taken += bytes;
    if (taken > (plan.limits.memoryBytes ?? Number.MAX_SAFE_INTEGER)) endAll(outOfMemory);
  }

  function endAll(kind: ExitKind): void {
    for (const process of processes) process.end(kind);
  }

  async function stop(): Promise<void> {
    const gone = Promise.all(processes.map(({ ended }) => ended));
    for (const process of processes) process.terminate();
    if (processes.some((process) => !process.over)) {
      const early = new AbortController();
      void gone.then(() => early.abort());
      await clock.pause(plan.limits.killGraceMs, early.signal).catch(() => {});
    }
    over = true;
    endAll(signaled("SIGKILL"));
  }

  return { processes, run, endAll, stop };
}
