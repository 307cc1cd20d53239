/** A plan as the options of a spawn, and what of it holds here. Pure. */

import type { Clause, ExecutionPlan, Lowering, Verdict, Warning } from "../../src/types.ts";
import type { CellLimits, Containment } from "./containment.ts";
import {
  describeSandbox,
  lowerSandbox,
  type Protection,
  type SandboxArtifact,
  type SandboxFacts,
  sandboxVerdicts,
} from "./sandbox/lower-sandbox.ts";

/** What was found of this machine when the adapter was made. */
export interface NativeFacts {
  readonly platform: string;
  readonly containment: Pick<Containment, "kind" | "description" | "holdsDaemons" | "can" | "cannot">;
  /** The program that sets limits of a process and becomes the command (prlimit(1) of util-linux); `null`: not found. */
  readonly prlimit: string | null;
  /** The most files that this process may let another open (the hard limit); more cannot be asked for. @default no limit */
  readonly mostOpenFiles?: number;
  /** What goes around every command. @default nothing */
  readonly sandbox?: SandboxFacts | null;
}

/** What a spawn needs besides what is looked up at its moment. */
export interface NativeArtifact {
  /** Set in front of the command; it replaces itself by it. */
  readonly wrapper: readonly string[];
  readonly argv: readonly [string, ...string[]];
  readonly env: Readonly<Record<string, string>>;
  readonly workingDir: string | null;
  readonly sandbox: SandboxArtifact | null;
}

const uncontained: Warning = {
  code: "uncontained",
  message: "A process that leaves its process group is not ended with the command: there is no cgroup here to hold it",
};

export function lowerNative(plan: ExecutionPlan, facts: NativeFacts): Lowering {
  const artifact = artifactOf(plan, facts);
  return {
    artifact,
    // Written when it is read: an execution has no use for it.
    get text() {
      return describe(artifact, facts);
    },
    verdicts: verdictsOf(plan, facts, artifact),
    addedEnv: [...(facts.platform === "win32" ? ["SYSTEMROOT"] : []), ...(facts.sandbox?.program.addedEnv ?? [])],
    // Everything in a sandbox ends with its first process, daemons too.
    warnings: facts.containment.holdsDaemons || facts.sandbox != null ? [] : [uncontained],
  };
}

/** What is started, and what is shown of it. */
export function artifactOf(
  plan: ExecutionPlan,
  facts: NativeFacts,
  workingDir: string | null = plan.workingDir,
): NativeArtifact {
  const { argv, env } = plan;
  const sandbox = facts.sandbox == null ? null : lowerSandbox(plan, facts.sandbox, workingDir);
  return { wrapper: wrapperFor(plan, facts), argv, env, workingDir, sandbox };
}

/** The same with other names that are to stay as they are. */
export function protecting(facts: NativeFacts, protection: Protection): NativeFacts {
  return facts.sandbox == null ? facts : { ...facts, sandbox: { ...facts.sandbox, protection } };
}

function describe(
  { wrapper, argv, env, workingDir, sandbox }: NativeArtifact,
  { containment, sandbox: facts }: NativeFacts,
): string {
  const names = Object.keys(env).sort().join(" ");
  // No value of the environment is shown, not even of those that a sandbox is told by its arguments.
  const command = { argv: [...wrapper, ...argv] as unknown as readonly [string, ...string[]], env: {} };
  const wrapped = sandbox?.program.wrap(sandbox.view, command) ?? { words: command.argv, inputs: [] };
  const words = wrapped.words.map((word) => JSON.stringify(word)).join(" ");
  const where = workingDir ?? "a private directory";
  const parts = [`spawn ${words}`, `in ${where}`, `with ${names === "" ? "no variables" : names}`];
  const seen = sandbox === null || facts == null ? [] : [describeSandbox(sandbox.view, facts)];
  return [...parts, `held by ${containment.description}`, ...seen, ...wrapped.inputs].join("\n");
}

function wrapperFor(
  { limits }: ExecutionPlan,
  { prlimit, containment, mostOpenFiles = Infinity }: NativeFacts,
): readonly string[] {
  if (prlimit === null) return [];
  const flags: string[] = [];
  if (limits.openFiles !== null) {
    const openFiles = Math.min(limits.openFiles, mostOpenFiles);
    flags.push(`--nofile=${openFiles}:${openFiles}`);
  }
  if (limits.cpuTimeMs !== null && !containment.can.cpuTimeMs)
    flags.push(`--cpu=${Math.ceil(limits.cpuTimeMs / 1000)}`);
  return flags.length === 0 ? [] : [prlimit, ...flags, "--"];
}

function verdictsOf(plan: ExecutionPlan, facts: NativeFacts, { sandbox }: NativeArtifact): Record<Clause, Verdict> {
  const { network, filesystem, privilege, limits } = plan;
  const { containment, prlimit } = facts;
  const isolation = (asked: string, widest: string, what: string): Verdict =>
    asked === widest
      ? { grade: "enforced", because: `The command has ${what}, as asked` }
      : { grade: "impossible", because: `A local process has ${what}; a sandbox or another backend restricts it` };
  const limit = (asked: number | null, able: boolean, how: string, otherwise: Verdict): Verdict => {
    if (asked === null) return { grade: "enforced", because: "No limit is asked" };
    return able ? { grade: "enforced", because: how } : otherwise;
  };
  const none = (what: string): Verdict => ({ grade: "impossible", because: what });
  const byGroup = `Kept for the whole tree by ${containment.description}`;
  const without = (what: keyof CellLimits) =>
    containment.cannot?.[what] ?? "There is no cgroup here that this process may divide";
  return {
    ...(facts.sandbox == null || sandbox === null
      ? {
          network: isolation(network, "all", "the host's network"),
          filesystem: isolation(filesystem, "host", "the host user's files"),
          privilege: isolation(privilege, "host", "the host user's privileges"),
        }
      : sandboxVerdicts(plan, facts.sandbox, sandbox)),
    environment: { grade: "enforced", because: "Exactly the plan's variables are given" },
    cpu: limit(limits.cpus, false, "", none("A share of the processors is not set for local processes")),
    cpu_time: limit(
      limits.cpuTimeMs,
      containment.can.cpuTimeMs,
      byGroup,
      prlimit === null
        ? none(`There is no prlimit program here, and no cgroup: ${without("cpuTimeMs")}`)
        : {
            grade: "weaker",
            because: `The limit holds for each process by itself (RLIMIT_CPU): ${without("cpuTimeMs")}`,
          },
    ),
    memory: limit(limits.memoryBytes, containment.can.memoryBytes, byGroup, none(without("memoryBytes"))),
    pids: limit(limits.pids, containment.can.pids, byGroup, none(without("pids"))),
    files: limit(
      limits.openFiles,
      prlimit !== null,
      "Kept for each process by RLIMIT_NOFILE",
      none("There is no prlimit program here"),
    ),
  };
}
