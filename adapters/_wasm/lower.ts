/** A plan as the run of a module by an engine, and what of it holds. Pure. */

import type { Clause, ExecutionPlan, Lowering, Verdict } from "../../src/types.ts";
import type { Engine, EngineName, Preopen } from "./engine.ts";

/** What was found of this machine. */
export interface WasmFacts {
  /** In the order in which they are tried. */
  readonly engines: readonly Engine[];
  /** What of a plan the process of an engine keeps by itself, as the backend for processes judges it. */
  readonly processVerdicts: (plan: ExecutionPlan) => Readonly<Record<Clause, Verdict>>;
  /** Why read-only directories cannot be kept so from outside; `null` where they can. */
  readonly whyUnguarded: (plan: ExecutionPlan) => string | null;
}

/** A run before the module is looked up. */
export interface WasmArtifact {
  readonly engine: EngineName;
  /** Whether a sandbox is put around the engine. */
  readonly guarded: boolean;
  readonly module: string;
  readonly argv: readonly string[];
}

export function lowerWasm(plan: ExecutionPlan, facts: WasmFacts): Lowering {
  const engine = chooseEngine(plan, facts);
  const artifact = artifactOf(plan, engine);
  const verdicts = verdictsOf(plan, engine, facts);
  return {
    artifact,
    get text() {
      return describe(plan, artifact, facts);
    },
    verdicts,
    addedEnv: [],
    warnings: [],
  };
}

/** The first that keeps every clause; else the first, and what it does not keep is judged. */
export function chooseEngine(plan: ExecutionPlan, facts: WasmFacts): Engine {
  return facts.engines.find((engine) => keepsAll(plan, engine, facts)) ?? (facts.engines[0] as Engine);
}

export function keepsAll(plan: ExecutionPlan, engine: Engine, facts: WasmFacts): boolean {
  return Object.values(verdictsOf(plan, engine, facts)).every(
    ({ grade }) => grade === "enforced" || grade === "stronger",
  );
}

/** Stands for a directory of the execution's own, which is made when it starts. */
export const privateDirectory = "<private>";

/** The directories of a guest by their own names; a working directory is the root, and there by its path where it is granted. */
export function plannedPreopens({ grants, workspace, files, outputs }: ExecutionPlan): readonly Preopen[] {
  const { root } = workspace;
  const hasOwn = root !== null || files.length > 0 || outputs.length > 0;
  const writable = root === null || isWritable(root, grants);
  return [...(hasOwn ? [{ host: root ?? privateDirectory, guest: "/", writable }] : []), ...grants];
}

/** By the innermost grant that it is in. */
export function isWritable(root: string, grants: ExecutionPlan["grants"]): boolean {
  const around = grants.filter(({ host }) => isAtOrBelow(root, host)).sort((a, b) => b.host.length - a.host.length);
  return around[0]?.writable === true;
}

export function isAtOrBelow(path: string, directory: string): boolean {
  return path === directory || path.startsWith(directory.endsWith("/") ? directory : `${directory}/`);
}

export function needsGuard(plan: ExecutionPlan, { keepsReadOnly }: Pick<Engine, "keepsReadOnly">): boolean {
  return !keepsReadOnly && plannedPreopens(plan).some(({ writable }) => !writable);
}

function artifactOf(plan: ExecutionPlan, engine: Engine): WasmArtifact {
  const module = plan.module ?? plan.argv[0];
  const binary = { kind: "module", memories: [], tables: 1 } as const;
  const run = { plan, artifact: module, binary, preopens: plannedPreopens(plan), handover: "<description>" };
  const { argv } = engine.command(run);
  return { engine: engine.name, guarded: needsGuard(plan, engine), module, argv };
}

function describe(plan: ExecutionPlan, { engine, argv, guarded }: WasmArtifact, { engines }: WasmFacts): string {
  const names = Object.keys(plan.env).sort().join(" ");
  // No value of the environment is shown, not even of what the engine is told by its arguments.
  const words = argv.map((word) => JSON.stringify(word.replace(/^(--env=[^=]*=).*/s, "$1<redacted>"))).join(" ");
  const found = engines.map(({ name, version }) => `${name} ${version}`).join(", ");
  const granted = plannedPreopens(plan).map(
    ({ host, guest, writable }) => `${guest} is ${host}, to ${writable ? "read and write" : "read"}`,
  );
  return [
    `run ${words}`,
    `by ${engine}, the first that keeps every clause, of ${found}`,
    `with ${names === "" ? "no variables" : names}`,
    ...(granted.length === 0 ? ["no directory is granted"] : granted),
    ...(guarded ? ["a sandbox around the engine keeps read-only directories so"] : []),
  ].join("\n");
}

const kept = (because: string): Verdict => ({ grade: "enforced", because });

function verdictsOf(plan: ExecutionPlan, engine: Engine, facts: WasmFacts): Record<Clause, Verdict> {
  const { limits, network } = plan;
  const none = kept("No limit is asked");
  return {
    network: networkVerdict(network),
    filesystem: filesystemVerdict(plan, engine, facts),
    privilege: kept("A guest can ask for nothing but what WASI has"),
    environment: kept("The guest is given exactly the plan's variables"),
    cpu:
      limits.cpus === null ? none : { grade: "impossible", because: "A share of the processors is not set for guests" },
    cpu_time: limits.cpuTimeMs === null ? none : facts.processVerdicts(plan).cpu_time,
    memory: limits.memoryBytes === null ? none : kept("The guest's memories together grow no larger"),
    pids: limits.pids === null ? none : { grade: "stronger", because: "A guest can begin no process and no thread" },
    files:
      limits.openFiles === null
        ? none
        : { grade: "impossible", because: "An engine opens files of its own, and guests' are not counted apart" },
  };
}

function networkVerdict(network: ExecutionPlan["network"]): Verdict {
  if (network === "none") return kept("No socket and no look-up of names is granted");
  if (network === "all") return kept("The guest has the host's network, by WASI 0.2");
  return { grade: "impossible", because: "An engine knows no cluster: it grants the whole network or none" };
}

function filesystemVerdict(plan: ExecutionPlan, engine: Engine, { whyUnguarded }: WasmFacts): Verdict {
  if (!needsGuard(plan, engine)) return kept("Of the host's files the guest sees what it is granted alone");
  const why = whyUnguarded(plan);
  if (why === null) return kept("A sandbox around the engine keeps what is granted to be read from being written");
  const because = `${engine.name} writes into every directory that it is given, and no sandbox can be put around it: ${why}`;
  return { grade: "impossible", because };
}
