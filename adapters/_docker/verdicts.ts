/** How well a container on this daemon keeps each clause of a plan. Pure. */

import type { Clause, ExecutionPlan, Verdict } from "../../src/types.ts";
import type { DockerArtifact, LowerContext } from "./artifact.ts";

const kept = (because: string): Verdict => ({ grade: "enforced", because });
const weaker = (because: string): Verdict => ({ grade: "weaker", because });
const impossible = (because: string): Verdict => ({ grade: "impossible", because });

export function verdictsOf(
  plan: ExecutionPlan,
  { settings, facts }: LowerContext,
  artifact: DockerArtifact,
): Readonly<Record<Clause, Verdict>> {
  const { limits } = plan;
  const limit = (asked: number | null, able: boolean, how: string): Verdict => {
    if (asked === null) return kept("No limit is asked");
    return able ? kept(how) : impossible("The kernel of the daemon's machine does not count it for containers");
  };
  return {
    network: networkVerdict(plan),
    filesystem: kept(
      plan.workspace.root === null
        ? "The container sees nothing of the host"
        : "Of the host's files the container sees the working directory alone",
    ),
    privilege: privilegeVerdict(artifact, facts.filtersCalls),
    environment: kept("The plan's variables are given, and those that the image and the daemon add are told"),
    cpu: limit(limits.cpus, facts.can.cpus, "Kept by the container's cgroup"),
    cpu_time:
      limits.cpuTimeMs === null
        ? kept("No limit is asked")
        : weaker("The limit holds for each process by itself (RLIMIT_CPU): a container's cgroup counts no total"),
    memory: memoryVerdict(plan, facts.can),
    pids: limit(limits.pids, facts.can.pids, "Kept by the container's cgroup"),
    files: limit(limits.openFiles, true, "Kept for each process by RLIMIT_NOFILE"),
    ...(settings.runtime === undefined || facts.runtimes.includes(settings.runtime)
      ? {}
      : {
          privilege: impossible(`The daemon has no runtime ${settings.runtime}: it has ${facts.runtimes.join(", ")}`),
        }),
  };
}

function networkVerdict({ network }: ExecutionPlan): Verdict {
  if (network === "none") return kept("The container has a network of its own with nothing but loopback in it");
  if (network === "all") return kept("The container has the network that the operator named");
  return { grade: "stronger", because: "A daemon knows no cluster: the container has no network at all" };
}

function memoryVerdict({ limits }: ExecutionPlan, can: LowerContext["facts"]["can"]): Verdict {
  if (limits.memoryBytes === null) return kept("No limit is asked");
  if (!can.memory) return impossible("The kernel of the daemon's machine does not count memory for containers");
  if (!can.swap)
    return weaker("The kernel of the daemon's machine does not count swap: a container could use it besides");
  return kept("Kept by the container's cgroup, swap included");
}

function privilegeVerdict({ user }: DockerArtifact, filtersCalls: boolean): Verdict {
  if (user === null) return weaker("The image says who the command is, and that may be root");
  if (user.uid === 0) return weaker("The command is root in its container, by the configuration");
  if (!filtersCalls) return weaker("The daemon filters no system calls of its containers");
  return kept("A user without privileges, no capabilities, no new ones, and the daemon's filter of system calls");
}
