/** Containment by cgroup: whatever a command begins is held, daemons included, and the kernel keeps its limits. */

import { existsSync, readFileSync } from "node:fs";
import type { Leftover } from "../../src/types.ts";
import { killLeaf, tryWrite } from "./cgroup-clear.ts";
import { readKeyed, readNumber } from "./cgroup-files.ts";
import { type Branch, type Leaf, openBranch, openLeaf } from "./cgroup-leaf.ts";
import type { Hierarchy } from "./cgroup-mounts.ts";
import type { Cell, CellLimits, Containment } from "./containment.ts";
import { signalGroup, signalProcess } from "./signals.ts";

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
    for (const hierarchy of hierarchies.filter(wanted)) {
      const branch = opened.has(hierarchy.home) ? opened.get(hierarchy.home) : tryOpen(hierarchy, owner);
      opened.set(hierarchy.home, branch ?? null);
      if (branch) return branch;
    }
    return null;
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
  const pool = createLeafPool(tree);
  const all = [...opened.values()].filter((branch) => branch !== null);
  return {
    kind: "cgroup",
    description: `cgroup v${tree.version}`,
    holdsDaemons: true,
    can: { memoryBytes: branches.memory !== null, pids: branches.pids !== null, cpuTimeMs: branches.cpu !== null },
    trunks: all.map(({ trunk }) => trunk),
    open: (id, limits) => openCell({ branches, pool, id, limits }),
    close: () => {
      pool.close();
      return all.map((branch) => branch.close()).every((gone) => gone);
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

/** Leaves that were used and can be used again: making and removing one takes longer than entering it. */
interface LeafPool {
  take(id: string): Leaf;
  giveBack(leaf: Leaf): void;
  close(): void;
}

/** More executions at one time than this make leaves of their own. */
const mostIdle = 8;

function createLeafPool(branch: Branch): LeafPool {
  const idle: Leaf[] = [];
  return {
    take: (id) => idle.pop() ?? openLeaf(branch, id),
    giveBack: (leaf) => {
      if (idle.length < mostIdle) idle.push(leaf);
      else leaf.remove();
    },
    close: () => {
      for (const leaf of idle.splice(0)) leaf.remove();
    },
  };
}

interface CellParts {
  readonly branches: Branches;
  readonly pool: LeafPool;
  readonly id: string;
  readonly limits: CellLimits;
}

function openCell({ branches, pool, id, limits }: CellParts): Cell {
  const { memory, pids, cpu } = branches;
  const wanted = [
    limits.memoryBytes === null ? null : memory,
    limits.pids === null ? null : pids,
    limits.cpuTimeMs === null ? null : cpu,
  ].filter((branch) => branch !== null);
  // Limits and counters stay with a leaf, so one that has them is used once.
  const reusable = wanted.length === 0;
  const tree = reusable ? pool.take(id) : openLeaf(branches.tree, id);
  const others = [...new Set(wanted)]
    .filter((branch) => branch !== branches.tree)
    .map((branch) => openLeaf(branch, id));
  const leaves = [tree, ...others];
  const pathIn = (branch: Branch | null) => leaves.find((leaf) => leaf.branch === branch)?.directory ?? "";
  let leader = 0;
  let killed = false;

  return {
    enter: (spawn) => {
      try {
        for (const leaf of leaves) leaf.enter();
        const child = spawn();
        leader = child.pid ?? 0;
        return child;
      } finally {
        for (const { branch } of leaves) branch.leave();
        // One is the child alone. The limits' leaves are not counted, and they are rare.
        if (tree.population() !== 1) tree.expelOwnThreads();
        for (const leaf of others) leaf.expelOwnThreads();
        // Set once the host is out again: they are not meant for it.
        if (memory !== null && limits.memoryBytes !== null) limitMemory(memory, pathIn(memory), limits.memoryBytes);
        if (pids !== null && limits.pids !== null) tryWrite(`${pathIn(pids)}/pids.max`, String(limits.pids));
      }
    },
    signal: (signal) => {
      if (signal === "SIGTERM") return terminate(leader, tree.members());
      killed = true;
      killLeaf(tree.directory);
    },
    isEmpty: () => tree.population() === 0 || tree.members().length === 0,
    wasOutOfMemory: () => memory !== null && limits.memoryBytes !== null && oomKills(memory, pathIn(memory)) > 0,
    cpuTimeMs: () => (cpu === null || limits.cpuTimeMs === null ? null : cpuTime(cpu, pathIn(cpu))),
    dispose: () => {
      if (reusable && !killed) {
        pool.giveBack(tree);
        return [];
      }
      return leaves.flatMap(discard);
    },
  };
}

function terminate(leader: number, members: readonly number[]): void {
  signalGroup(leader, "SIGTERM");
  for (const pid of members) if (pid !== leader) signalProcess(pid, "SIGTERM");
}

function limitMemory({ version }: Branch, leaf: string, bytes: number): void {
  const [limit, swap] =
    version === 2 ? ["memory.max", "memory.swap.max"] : ["memory.limit_in_bytes", "memory.memsw.limit_in_bytes"];
  // Refused when the command already uses more than it may: then it ends as it would have.
  if (!tryWrite(`${leaf}/${limit}`, String(bytes))) killLeaf(leaf);
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

function discard(leaf: Leaf): readonly Leftover[] {
  if (leaf.remove()) return [];
  return [{ kind: "cgroup", name: leaf.directory, reason: "The kernel says it is still in use" }];
}
