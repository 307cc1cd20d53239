/** The memory backend: programs written in JavaScript, in a place whose every step and fault is scripted. A test double, and the seam's reference. */

import type { BackendFactory, BackendPolicy } from "../src/backend.ts";
import { RuntimeError } from "../src/errors.ts";
import {
  type Availability,
  type Capabilities,
  type Clause,
  clauses,
  type Execution,
  type ExecutionPlan,
  type Grade,
  type Lowering,
  type Offsets,
  type RuntimeAdapter,
  type Verdict,
} from "../src/types.ts";
import { execution, lostExecution } from "./_memory/execution.ts";
import { type MemoryPlace, startFailure } from "./_memory/place.ts";
import type { MemoryProgram } from "./_memory/process.ts";
import { createWork } from "./_memory/work.ts";
import { createWorld, type MemoryWorld, type WorldCore } from "./_memory/world.ts";

export type { MemoryFiles } from "./_memory/file-tree.ts";
export type { MemoryPlace, MemoryStart } from "./_memory/place.ts";
export type { MemoryProcess, MemoryProgram, MemoryWriter } from "./_memory/process.ts";
export {
  type MemoryProcessInfo,
  type MemoryWorld,
  type MemoryWorldOptions,
  memoryWorld,
} from "./_memory/world.ts";

/** Everything about the place is scripted here. */
export interface MemoryOptions extends MemoryPlace {
  /** What `argv[0]` names. A name that is not here is `command_not_found`, or `not_executable` when it is a file's path. */
  readonly programs: Readonly<Record<string, MemoryProgram>>;
  /** Where the work runs. Adapters that share one are replicas. @default a world of its own */
  readonly world?: MemoryWorld;
  /** @default "memory" */
  readonly name?: string;
  readonly capabilities?: Partial<Capabilities>;
  /** How well each clause is said to be kept. @default "enforced" */
  readonly grades?: Partial<Readonly<Record<Clause, Grade>>>;
  readonly policy?: Partial<BackendPolicy>;
  /** What the probe finds. */
  readonly availability?: Availability;
  /** How much of each stream behind its furthest reader another one may still attach to. @default 8 MiB */
  readonly retainBytes?: number;
}

const allCapabilities: Capabilities = {
  separateStderr: true,
  reportsSignal: true,
  stdin: true,
  files: true,
  runsPrograms: false,
  resumable: true,
  anyEnvName: true,
};

/**
 * A backend that runs JavaScript functions as if they were programs.
 *
 * @example
 * ```ts
 * import { createRuntime } from "prx-runtime";
 * import { memory } from "prx-runtime/testing";
 *
 * const factory = memory({
 *   programs: { greet: async ({ argv, stdout }) => stdout.write(`hello ${argv[1]}\n`) },
 *   start: { queueMs: 20, pullSteps: 3, pullMs: 30 },
 * });
 * await using runtime = await createRuntime({ runtime: { backend: "memory" } }, { backends: { memory: factory } });
 * console.log((await runtime.execute("greet", ["you"])).stdout);
 * // → hello you
 * ```
 */
export function memory(options: MemoryOptions): BackendFactory {
  // One world for every backend that this factory makes, so that two runtimes of one factory are replicas as well.
  const world = (options.world ?? createWorld()) as WorldCore;
  return () => ({ adapter: createAdapter(options, world), policy: { ...defaultPolicy, ...options.policy } });
}

const defaultPolicy: BackendPolicy = {
  network: "none",
  filesystem: "workspace",
  privilege: "none",
  workspaceMode: "memory",
  limits: { memoryBytes: null, cpus: null, cpuTimeMs: null, pids: null, openFiles: null },
  written: [],
  env: {},
  foreignEnv: ["PATH", "HOME", "USER"],
  shell: ["sh", "-c"],
  image: () => null,
};

function createAdapter(options: MemoryOptions, world: WorldCore): RuntimeAdapter {
  const name = options.name ?? "memory";
  const capabilities = { ...allCapabilities, ...options.capabilities };

  async function start(...[plan, io, signal]: Parameters<RuntimeAdapter["start"]>): Promise<Execution> {
    if (signal.aborted) {
      throw new RuntimeError("cancelled_before_start", "The command was cancelled before it began", { backend: name });
    }
    const failWith = options.start?.failWith;
    if (failWith !== undefined && !failWith.late) throw startFailure(failWith, name);
    const program = admit(plan, { options, world });
    if (io.prepared !== undefined) world.consume(io.prepared, plan);
    const work = createWork({
      ...{ plan, io, program, place: options, files: world.files, clock: world.clock },
      retainBytes: options.retainBytes ?? 8 * 1024 * 1024,
      separateStderr: capabilities.separateStderr,
      resumable: capabilities.resumable,
      prepared: io.prepared !== undefined,
    });
    world.add(work);
    return execution(work, { signal, from: { stdout: 0, stderr: 0 }, capabilities });
  }

  async function attach(...[ref, from, signal]: Parameters<NonNullable<RuntimeAdapter["attach"]>>): Promise<Execution> {
    const work = world.find(ref.id);
    if (work === undefined) return lostExecution(ref);
    refuseGap(work.stdout.first, from.stdout, name);
    refuseGap(work.stderr.first, from.stderr, name);
    return execution(work, { signal, from, capabilities });
  }

  return {
    name,
    capabilities,
    isAvailable: async () => options.availability ?? { available: true, details: "In this process's memory" },
    lower: (plan) => lower(plan, options.grades ?? {}),
    start,
    prepare: async (template) => world.prepare(template),
    ...(capabilities.resumable ? { attach, list: world.list, sweep: world.sweep } : {}),
  };
}

function refuseGap(first: number, from: Offsets["stdout"], backend: string): void {
  if (from >= first) return;
  throw new RuntimeError("start_failed", `Output before byte ${first} is no longer kept; asked for byte ${from}`, {
    backend,
    started: "yes",
  });
}

interface Admission {
  readonly options: MemoryOptions;
  readonly world: WorldCore;
}

/** The plan's program, or the error that says why it cannot be run. */
function admit(plan: ExecutionPlan, { options, world }: Admission): MemoryProgram {
  const backend = plan.backend;
  if (plan.workingDir !== null) {
    const { kind } = world.files.inspect(plan.workingDir);
    if (kind === "missing") {
      throw new RuntimeError("working_dir_not_found", `No such working directory: ${plan.workingDir}`, { backend });
    }
    if (kind !== "directory") {
      throw new RuntimeError("working_dir_not_a_directory", `Not a directory: ${plan.workingDir}`, { backend });
    }
  }
  const command = plan.argv[0];
  const program = Object.hasOwn(options.programs, command) ? options.programs[command] : undefined;
  if (program !== undefined) return program;
  if (command.startsWith("/") && world.files.inspect(command).kind === "file") {
    throw new RuntimeError("not_executable", `Not a program: ${command}`, { backend });
  }
  const known = Object.keys(options.programs).join(", ") || "none";
  throw new RuntimeError("command_not_found", `Command not found: ${command}. Programs here: ${known}`, { backend });
}

function lower(plan: ExecutionPlan, grades: Partial<Readonly<Record<Clause, Grade>>>): Lowering {
  const verdict = (clause: Clause): Verdict => ({
    grade: grades[clause] ?? "enforced",
    because: grades[clause] === undefined ? "A scripted place keeps what it is told to" : "Scripted",
  });
  return {
    artifact: plan,
    text: `memory ${plan.argv.map((arg) => JSON.stringify(arg)).join(" ")}\nenv ${Object.keys(plan.env).sort().join(" ")}`,
    verdicts: Object.fromEntries(clauses.map((clause) => [clause, verdict(clause)])) as Record<Clause, Verdict>,
    addedEnv: [],
    warnings: [],
  };
}
