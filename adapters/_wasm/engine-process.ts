/** An engine's own work, beside the runs of guests: a process with limits that is waited for. */

import { randomUUID } from "node:crypto";
import type { ExecutionPlan, Exit, RuntimeAdapter } from "../../src/types.ts";
import type { EngineCommand } from "./engine.ts";

/** Who runs an engine, and for whom. */
export interface EngineHost {
  readonly processes: RuntimeAdapter;
  readonly owner: string;
}

export interface EngineWork {
  readonly command: EngineCommand;
  /** `null`: one of its own. */
  readonly directory: string | null;
  readonly timeoutMs: number;
}

export interface EngineAnswer {
  readonly exit: Exit;
  /** The process was ended because its time was over. */
  readonly timedOut: boolean;
  readonly stdout: string;
  readonly stderr: string;
}

const mostText = 4096;
/** What a compiler may take; a module can be made to want more than the machine has. */
export const engineMemoryBytes: number = 2 * 1024 * 1024 * 1024;

/** @throws RuntimeError where it cannot be started. */
export async function runEngine({ processes, owner }: EngineHost, work: EngineWork): Promise<EngineAnswer> {
  const limited = planOf(work, owner, engineMemoryBytes);
  const isLimited = processes.lower(limited).verdicts.memory.grade === "enforced";
  const stop = new AbortController();
  const timer = setTimeout(() => stop.abort(), work.timeoutMs);
  try {
    const plan = isLimited ? limited : planOf(work, owner, null);
    const child = await processes.start(plan, { files: new Map() }, stop.signal);
    const [exit, stdout, stderr] = await Promise.all([child.ended, textOf(child.stdout), textOf(child.stderr)]);
    await child.released;
    return { exit, stdout, stderr, timedOut: stop.signal.aborted };
  } finally {
    clearTimeout(timer);
  }
}

/** The first of what is said; the rest is read and dropped. */
async function textOf(stream: ReadableStream<Uint8Array>): Promise<string> {
  const decoder = new TextDecoder();
  const reader = stream.getReader();
  let text = "";
  for (let part = await reader.read(); !part.done; part = await reader.read()) {
    if (text.length < mostText) text += decoder.decode(part.value, { stream: true });
  }
  return text.slice(0, mostText).trim();
}

function planOf(
  { command, directory, timeoutMs }: EngineWork,
  owner: string,
  memoryBytes: number | null,
): ExecutionPlan {
  return {
    ...{ id: randomUUID(), owner, backend: "native", tool: null, argv: command.argv, env: command.env },
    ...{ workingDir: directory, stdin: "none", files: [], outputs: [] },
    limits: {
      ...{ timeoutMs, backstopMs: 0, killGraceMs: 0, maxOutputBytes: mostText, memoryBytes },
      ...{ cpus: null, cpuTimeMs: null, pids: null, openFiles: null },
    },
    ...{ network: "all", filesystem: "host", privilege: "host" },
    workspace: { root: directory, mode: directory === null ? "private" : "host" },
    ...{ image: null, module: null, grants: [], demands: [], acceptWeaker: [] },
  };
}
