/** One run of a module: looked up, checked, compiled once, and run by an engine in a process of its own. */

import type { OwnProgram } from "../../host/own-program.ts";
import { messageOf, RuntimeError } from "../../src/errors.ts";
import type { Execution, ExecutionPlan, Exit, GrantedDirectory, RuntimeAdapter, StartIo } from "../../src/types.ts";
import type { ArtifactStore } from "./artifacts.ts";
import { compileModule } from "./compile.ts";
import { type GuestDirectories, openDirectories } from "./directories.ts";
import type { Engine, EngineCommand } from "./engine.ts";
import { watchStderr } from "./guest-stderr.ts";
import { type Handover, openHandover } from "./handover.ts";
import { chooseEngine, keepsAll, needsGuard, type WasmFacts } from "./lower.ts";
import type { LoadedModule, ModuleCache } from "./modules.ts";
import { checkMemory } from "./requirements.ts";

/** What all executions of a backend share. */
export interface WasmParts {
  readonly facts: WasmFacts;
  readonly modules: ModuleCache;
  readonly store: ArtifactStore;
  /** All that the backend grants: the most that any tool can be given. */
  readonly granted: readonly GrantedDirectory[];
  /** This very program, and what it has compiled. */
  readonly program: OwnProgram;
  /** How long a module may take to be compiled. */
  readonly compileMs: number;
  /** Runs the processes of engines. */
  readonly processes: RuntimeAdapter;
  /** The same with a sandbox around each, that keeps what the plan grants to be read from being written. */
  readonly guarded: (plan: ExecutionPlan) => RuntimeAdapter;
}

export interface WasmStart extends WasmParts {
  readonly plan: ExecutionPlan;
  readonly io: StartIo;
  readonly signal: AbortSignal;
}

/** @throws RuntimeError when nothing was begun. */
export async function startWasm(start: WasmStart): Promise<Execution> {
  const { plan, io, signal, facts, store } = start;
  const module = await start.modules.load(plan.module ?? plan.argv[0]);
  checkMemory(module.binary, module.name, plan.limits.memoryBytes);
  const engine = engineFor(plan, module, facts);
  const artifact = await whileWanted(
    store.get(engine.keyOf(module), (directory) => compile(start, { engine, module, directory })),
    signal,
  );
  const isGuarded = needsGuard(plan, engine);
  const directories = openDirectories(plan, {
    ...{
      files: io.files,
      granted: start.granted,
      program: start.program,
      byDescriptor: !isGuarded && engine.opensDescriptors,
    },
  });
  let handover: Handover | null = null;
  const release = () => {
    handover?.remove();
    return directories.release();
  };
  try {
    const { preopens, own } = directories;
    handover = engine.handsOver ? openHandover(store.directory, plan.id) : null;
    const run = { plan, artifact, binary: module.binary, preopens, handover: handover?.path ?? null };
    const command = engine.command(run);
    if (command.handover !== undefined) handover?.write(command.handover);
    const processes = isGuarded ? start.guarded(plan) : start.processes;
    const stdin = io.stdin === undefined ? {} : { stdin: io.stdin };
    // In a sandbox there is no other way to a directory than as the working directory.
    const engineProcess = processPlan(plan, command, isGuarded ? { workingDir: own } : null);
    const child = await processes.start(engineProcess, { ...stdin, files: new Map() }, signal);
    return follow(child, { plan, engine, module, collect: directories.collect, release });
  } catch (error) {
    release();
    throw ofEngine(error, engine);
  }
}

/** The one that the lowering chose; another only where that one cannot run such a module, and the other keeps every clause. */
function engineFor(plan: ExecutionPlan, { binary, name }: LoadedModule, facts: WasmFacts): Engine {
  const chosen = chooseEngine(plan, facts);
  if (chosen.refuses(binary) === null) return chosen;
  const other = facts.engines.find((engine) => engine.refuses(binary) === null && keepsAll(plan, engine, facts));
  if (other !== undefined) return other;
  const why = facts.engines.map((engine) => `${engine.name} ${engine.refuses(binary) ?? "does not keep the policy"}`);
  throw new RuntimeError("not_executable", `Module ${name} cannot be run: ${why.join("; ")}`, { backend: "wasm" });
}

/** Compiling goes on for those who still want it: what it makes is kept. */
async function whileWanted<Result>(making: Promise<Result>, signal: AbortSignal): Promise<Result> {
  making.catch(() => {});
  let leave = () => {};
  const left = new Promise<never>((_, reject) => {
    leave = () =>
      reject(
        new RuntimeError("cancelled_before_start", "The command was cancelled before it began", { backend: "wasm" }),
      );
    if (signal.aborted) leave();
    signal.addEventListener("abort", leave, { once: true });
  });
  left.catch(() => {});
  try {
    return await Promise.race([making, left]);
  } finally {
    signal.removeEventListener("abort", leave);
  }
}

async function compile(start: WasmStart, { engine, module, directory }: Made): Promise<string> {
  const { plan, processes, modules, compileMs } = start;
  return compileModule(
    { processes, owner: plan.owner },
    {
      ...{ engine: engine.name, command: engine.compile(module.binary.kind), name: module.name, directory },
      ...{ bytes: engine.prepared(await modules.bytesOf(module)), timeoutMs: compileMs },
    },
  );
}

interface Made {
  readonly engine: Engine;
  readonly module: LoadedModule;
  readonly directory: string;
}

/**
 * The process of the engine as a plan of the backend that runs processes. It begins in a directory of its own, because an
 * engine may read settings where it begins.
 *
 * @param sandbox what is around it; `null`: nothing
 */
export function processPlan(
  plan: ExecutionPlan,
  { argv, env }: Pick<EngineCommand, "argv" | "env">,
  sandbox: { readonly workingDir: string | null } | null,
): ExecutionPlan {
  const root = sandbox?.workingDir ?? null;
  return {
    ...plan,
    ...{ backend: "native", tool: null, argv, env, image: null, module: null, grants: [], files: [], outputs: [] },
    ...{ workingDir: root, workspace: { root, mode: root === null ? "private" : "mount" } },
    limits: { ...plan.limits, memoryBytes: null, cpus: null, pids: null, openFiles: null },
    network: sandbox !== null && plan.network === "none" ? "none" : "all",
    filesystem: sandbox === null ? "host" : "workspace",
    privilege: sandbox === null ? "host" : "none",
  };
}

interface Followed {
  readonly plan: ExecutionPlan;
  readonly engine: Engine;
  readonly module: LoadedModule;
  readonly collect: GuestDirectories["collect"];
  readonly release: GuestDirectories["release"];
}

function follow(child: Execution, { plan, engine, module, collect, release }: Followed): Execution {
  const stderr = watchStderr(child.stderr);
  const ended = child.ended.then(
    async (exit): Promise<Exit> => {
      if (exit.kind === "exited" ? exit.code === 0 : exit.kind !== "signaled") return exit;
      const words = await stderr.settle();
      const { warnings = [], ...kind } = engine.ending({ exit, kind: module.binary.kind, ...words });
      return { ...kind, warnings: [...(exit.warnings ?? []), ...warnings] };
    },
    (error: unknown) => Promise.reject(ofEngine(error, engine)),
  );
  ended.catch(() => {});
  // The engine's process has no outputs of its own: this is the moment when nothing of it runs any more.
  const outputs = child.outputs.then(collect);
  const released = Promise.all([child.released, outputs]).then(([left]) => [...left, ...release()]);
  return { ...child, ref: { ...child.ref, backend: plan.backend }, stderr: stderr.stream, ended, outputs, released };
}

/** The guest's own trouble is told by how it ends; this is the trouble of what was to run it. */
function ofEngine(error: unknown, engine: Engine): unknown {
  if (!(error instanceof RuntimeError) || error.backend === "wasm") return error;
  const isEngine = error.code === "command_not_found" || error.code === "not_executable";
  const message = isEngine ? `Engine ${engine.name} could not be started: ${messageOf(error)}` : error.message;
  return new RuntimeError(isEngine ? "start_failed" : error.code, message, {
    ...{ backend: "wasm", started: error.started, cause: error },
  });
}
