/** One run of a module: looked up, checked, compiled once, and run by an engine in a process of its own. */

import { realpathSync } from "node:fs";
import process from "node:process";
import { canHold, type HeldDirectory, holdDirectory, reasonOf } from "../../host/held-directory.ts";
import { messageOf, RuntimeError } from "../../src/errors.ts";
import type { Execution, ExecutionPlan, Exit, GrantedDirectory, RuntimeAdapter, StartIo } from "../../src/types.ts";
import type { ArtifactStore } from "./artifacts.ts";
import { compileModule } from "./compile.ts";
import type { Engine, EngineCommand, Preopen } from "./engine.ts";
import { watchStderr } from "./guest-stderr.ts";
import { chooseEngine, isAtOrBelow, needsGuard, ownDirectory, plannedPreopens, type WasmFacts } from "./lower.ts";
import type { LoadedModule, ModuleCache } from "./modules.ts";
import { checkMemory } from "./requirements.ts";

/** What all executions of a backend share. */
export interface WasmParts {
  readonly facts: WasmFacts;
  readonly modules: ModuleCache;
  readonly store: ArtifactStore;
  /** All that the backend grants: the most that any tool can be given. */
  readonly granted: readonly GrantedDirectory[];
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
  const { plan, signal, facts, store } = start;
  const module = await start.modules.load(plan.module ?? plan.argv[0]);
  checkMemory(module.binary, module.name, plan.limits.memoryBytes);
  const engine = engineFor(plan, module, facts);
  const artifact = await whileWanted(
    store.get(engine.keyOf(module.digest), (directory) => compile(start, { engine, module, directory })),
    signal,
  );
  const isGuarded = needsGuard(plan, engine);
  const directories = holdPreopens(plan, start.granted, isGuarded);
  try {
    const command = engine.command({ plan, artifact, binary: module.binary, preopens: directories.preopens });
    const processes = isGuarded ? start.guarded(plan) : start.processes;
    const child = await processes.start(processPlan(plan, command, isGuarded), start.io, signal);
    return follow(child, { plan, engine, module, release: directories.close });
  } catch (error) {
    directories.close();
    throw ofEngine(error, engine);
  }
}

/** The one that the lowering chose; another only where that one cannot run such a module, and nothing is kept less by it. */
function engineFor(plan: ExecutionPlan, { binary, name }: LoadedModule, facts: WasmFacts): Engine {
  const able = facts.engines.filter((engine) => engine.refuses(binary) === null);
  if (able.length > 0) return chooseEngine(plan, { ...facts, engines: able });
  const why = facts.engines.map((engine) => `${engine.name} ${engine.refuses(binary)}`).join("; ");
  throw new RuntimeError("not_executable", `Module ${name} cannot be run: ${why}`, { backend: "wasm" });
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

/** A program that takes longer to compile than to write. */
const mostCompileMs = 120_000;

async function compile({ plan, processes, modules }: WasmStart, made: Made): Promise<string> {
  const { engine, module, directory } = made;
  const { timeoutMs } = plan.limits;
  return compileModule(
    { processes, owner: plan.owner },
    {
      ...{ engine: engine.name, command: engine.compile, name: module.name, directory },
      bytes: engine.prepared(await modules.bytesOf(module)),
      timeoutMs: timeoutMs === 0 ? mostCompileMs : Math.min(mostCompileMs, timeoutMs),
    },
  );
}

interface Made {
  readonly engine: Engine;
  readonly module: LoadedModule;
  readonly directory: string;
}

interface Directories {
  readonly preopens: readonly Preopen[];
  close(): void;
}

/**
 * Directories are handed on by what they are, so that a guest that can write around one cannot put another in its place. Inside
 * a sandbox, which sees none of this process, the sandbox itself looks at what it shows.
 */
function holdPreopens(plan: ExecutionPlan, granted: WasmParts["granted"], isGuarded: boolean): Directories {
  const held: HeldDirectory[] = [];
  const close = () => {
    for (const directory of held.splice(0)) directory.close();
  };
  const hold = (preopen: Preopen): Preopen => {
    if (preopen.host === ownDirectory) return preopen;
    try {
      const real = realpathSync(preopen.host);
      // What a tool is granted is below what the backend grants, also where a guest has put a link since.
      if (!granted.some(({ host }) => isAtOrBelow(real, realPathOf(host))))
        throw new Error("it leads out of what is granted");
      const directory = holdDirectory(real);
      held.push(directory);
      const isNamed = isGuarded || !canHold || directory.fd === null;
      return { ...preopen, host: isNamed ? real : `/proc/${process.pid}/fd/${directory.fd}` };
    } catch (error) {
      const message = `Directory ${preopen.host} cannot be granted to the guest: ${reasonOf(error)}`;
      throw new RuntimeError("start_failed", message, { backend: "wasm", cause: error });
    }
  };
  try {
    checkWorkspace(plan);
    return { preopens: plannedPreopens(plan).map(hold), close };
  } catch (error) {
    close();
    throw error;
  }
}

/** A tool can be granted less than the backend, by whose grants the working directory was let through. */
function checkWorkspace({ workspace: { root }, grants, files, outputs }: ExecutionPlan): void {
  if (root === null) return;
  const around = grants.filter(({ host }) => isAtOrBelow(root, realPathOf(host)));
  if (around.length === 0) {
    const message = `Working directory ${root} is granted to the backend and not to this tool: name another, or grant it in the tool's capabilities`;
    throw new RuntimeError("working_dir_not_allowed", message, { backend: "wasm" });
  }
  if (files.length + outputs.length > 0 && !around.some(({ writable }) => writable)) {
    const message = `Working directory ${root} is granted to be read: leave out files and outputs, or grant it in filesystem_write`;
    throw new RuntimeError("policy_unenforceable", message, { backend: "wasm" });
  }
}

function realPathOf(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    return path;
  }
}

/** The process of the engine as a plan of the backend that runs processes. */
export function processPlan(plan: ExecutionPlan, { argv, env }: EngineCommand, isGuarded: boolean): ExecutionPlan {
  const { root } = plan.workspace;
  // Where files are put and outputs are taken from. Without those the process needs no directory of the guest's, and a sandbox
  // would let it write there.
  const workingDir = plan.files.length + plan.outputs.length > 0 ? root : null;
  return {
    ...plan,
    ...{ backend: "native", tool: null, argv, env, workingDir, image: null, module: null, grants: [] },
    workspace: { root: workingDir, mode: workingDir === null ? "private" : isGuarded ? "mount" : "host" },
    limits: { ...plan.limits, memoryBytes: null, cpus: null, pids: null, openFiles: null },
    network: isGuarded && plan.network === "none" ? "none" : "all",
    filesystem: isGuarded ? "workspace" : "host",
    privilege: isGuarded ? "none" : "host",
  };
}

interface Followed {
  readonly plan: ExecutionPlan;
  readonly engine: Engine;
  readonly module: LoadedModule;
  readonly release: () => void;
}

function follow(child: Execution, { plan, engine, module, release }: Followed): Execution {
  const stderr = watchStderr(child.stderr);
  const ended = child.ended.then(
    async (exit): Promise<Exit> => {
      if (exit.kind !== "exited" || exit.code === 0) return exit;
      const words = await stderr.settle();
      const { warnings = [], ...kind } = engine.ending({ exit, kind: module.binary.kind, ...words });
      return { ...kind, warnings: [...(exit.warnings ?? []), ...warnings] };
    },
    (error: unknown) => Promise.reject(ofEngine(error, engine)),
  );
  ended.catch(() => {});
  const released = child.released.then((left) => {
    release();
    return left;
  });
  return { ...child, ref: { ...child.ref, backend: plan.backend }, stderr: stderr.stream, ended, released };
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
