/** Containment by cgroup: whatever a command begins is held, daemons included, and the kernel keeps its limits. */

import { existsSync, readFileSync, writeFileSync } from "node:fs";
import type { Leftover } from "../../src/types.ts";
import {
  type Branch,
  enterLeaf,
  expelOwnThreads,
  makeLeaf,
  membersOf,
  openBranch,
  readKeyed,
  readNumber,
  removeCgroup,
} from "./cgroup-leaf.ts";
import type { Hierarchy } from "./cgroup-mounts.ts";
import type { Cell, CellLimits, Containment } from "./containment.ts";
import { type StopSignal, signalGroup, signalProcess } from "./signals.ts";

/** The branches by what they are for. One hierarchy may serve several. */
interface Branches {
  /** Holds every process of every execution. */
  readonly tree: Branch;
  readonly memory: Branch | null;
  readonly pids: Branch | null;
  readonly cpu: Branch | null;
}

/**
 * Containment in the given hierarchies, or `null` where none can hold processes.
 *
 * @param owner names the directory below which this host keeps its cgroups
 */
export function createCgroups(
  hierarchies: readonly Hierarchy[],
  owner: string,
): (Containment & { readonly trunks: readonly string[] }) | null {
  const opened = new Map<string, Branch | null>();
  const open = (wanted: (hierarchy: Hierarchy) => boolean): Branch | null => {
    const hierarchy = hierarchies.find(wanted);
    if (hierarchy === undefined) return null;
    const before = opened.get(hierarchy.home);
    if (before !== undefined) return before;
    const branch = tryOpen(hierarchy, owner);
    opened.set(hierarchy.home, branch);
    return branch;
  };
  const having = (controller: string) => open((hierarchy) => controls(hierarchy, controller));
  // Version 1 is preferred where both are there: entering costs no grace period of the kernel's.
  const tree = having("pids") ?? open(({ version }) => version === 1) ?? open(({ version }) => version === 2);
  if (tree === null) return null;
  const branches: Branches = {
    tree,
    memory: having("memory"),
    pids: having("pids"),
    cpu: having("cpuacct") ?? open(({ version }) => version === 2),
  };
  const all = [...opened.values()].filter((branch) => branch !== null);
  return {
    kind: "cgroup",
    description: `cgroup v${tree.version}`,
    holdsDaemons: true,
    can: { memoryBytes: branches.memory !== null, pids: branches.pids !== null, cpuTimeMs: branches.cpu !== null },
    trunks: all.map(({ trunk }) => trunk),
    open: (id, limits) => openCell(branches, id, limits),
    close: () => {
      for (const branch of all) branch.close();
    },
  };
}

/** Version 2 lists its controllers in a file; they must be handed to the leaves. */
function controls({ version, controllers, home }: Hierarchy, controller: string): boolean {
  if (version === 1) return controllers.includes(controller);
  try {
    return readFileSync(`${home}/cgroup.subtree_control`, "utf8").split(/\s+/).includes(controller);
  } catch {
    return false;
  }
}

function tryOpen(hierarchy: Hierarchy, owner: string): Branch | null {
  try {
    return openBranch(hierarchy, owner);
  } catch {
    return null;
  }
}

function openCell(branches: Branches, id: string, limits: CellLimits): Cell {
  const { tree, memory, pids, cpu } = branches;
  const used = new Set([tree]);
  if (limits.memoryBytes !== null && memory !== null) used.add(memory);
  if (limits.pids !== null && pids !== null) used.add(pids);
  if (limits.cpuTimeMs !== null && cpu !== null) used.add(cpu);
  const leaves = new Map([...used].map((branch) => [branch, makeLeaf(branch, id)]));
  const leafOf = (branch: Branch | null) => (branch === null ? "" : (leaves.get(branch) ?? ""));
  const treeLeaf = leafOf(tree);
  let leader = 0;

  const members = () => membersOf(treeLeaf);
  return {
    enter: (spawn) => {
      try {
        for (const [branch, leaf] of leaves) enterLeaf(branch, leaf);
        const child = spawn();
        leader = child.pid ?? 0;
        return child;
      } finally {
        for (const branch of used) branch.leave();
        for (const [branch, leaf] of leaves) expelOwnThreads(branch, leaf);
        // Set once the host is out again: they are not meant for it.
        if (memory !== null && limits.memoryBytes !== null) limitMemory(memory, leafOf(memory), limits.memoryBytes);
        if (limits.pids !== null && pids !== null) tryWrite(`${leafOf(pids)}/pids.max`, String(limits.pids));
      }
    },
    signal: (signal) => (signal === "SIGTERM" ? terminate(leader, members()) : killLeaf(tree, treeLeaf)),
    isEmpty: () => members().length === 0,
    wasOutOfMemory: () => memory !== null && limits.memoryBytes !== null && oomKills(memory, leafOf(memory)) > 0,
    cpuTimeMs: () => (cpu === null || !leaves.has(cpu) ? null : cpuTime(cpu, leafOf(cpu))),
    dispose: () => [...leaves].flatMap(([branch, leaf]) => discard(branch, leaf)),
  };
}

function terminate(leader: number, members: readonly number[]): void {
  signalGroup(leader, "SIGTERM");
  for (const pid of members) if (pid !== leader) signalProcess(pid, "SIGTERM");
}

/** Ends everything in a leaf, whatever it begins meanwhile. Version 2 does so at once, version 1 by stopping all births first. */
export function killLeaf({ version }: Pick<Branch, "version">, leaf: string, signal: StopSignal = "SIGKILL"): void {
  if (version === 2 && tryWrite(`${leaf}/cgroup.kill`, "1")) return;
  tryWrite(`${leaf}/pids.max`, "0");
  for (const pid of membersOf(leaf)) signalProcess(pid, signal);
}

function limitMemory({ version }: Branch, leaf: string, bytes: number): void {
  const [limit, swap] =
    version === 2 ? ["memory.max", "memory.swap.max"] : ["memory.limit_in_bytes", "memory.memsw.limit_in_bytes"];
  // Refused when the command already uses more than it may: then it ends as it would have.
  if (!tryWrite(`${leaf}/${limit}`, String(bytes))) killLeaf({ version }, leaf);
  if (existsSync(`${leaf}/${swap}`)) tryWrite(`${leaf}/${swap}`, version === 2 ? "0" : String(bytes));
}

function oomKills({ version }: Branch, leaf: string): number {
  return readKeyed(`${leaf}/${version === 2 ? "memory.events" : "memory.oom_control"}`, "oom_kill");
}

function cpuTime({ version }: Branch, leaf: string): number | null {
  if (version === 2) return readKeyed(`${leaf}/cpu.stat`, "usage_usec") / 1000;
  const nanoseconds = readNumber(`${leaf}/cpuacct.usage`);
  return nanoseconds === null ? null : nanoseconds / 1e6;
}

function discard(branch: Branch, leaf: string): readonly Leftover[] {
  if (removeCgroup(leaf)) return [];
  expelOwnThreads(branch, leaf);
  return removeCgroup(leaf) ? [] : [{ kind: "cgroup", name: leaf, reason: "The kernel says it is still in use" }];
}

function tryWrite(path: string, text: string): boolean {
  try {
    writeFileSync(path, text);
    return true;
  } catch {
    return false;
  }
}
