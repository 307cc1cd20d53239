/** One execution in its cgroups: one leaf that holds all of it, and one more in each other hierarchy that keeps a limit. */

import { findProcess, watchersOf } from "../../host/process-table.ts";
import type { Leftover } from "../../src/types.ts";
import { killLeaf } from "./cgroup-clear.ts";
import { type Branch, type Leaf, openLeaf } from "./cgroup-leaf.ts";
import { cpuTime, limitMemory, limitPids, oomKills } from "./cgroup-limits.ts";
import { inTurn } from "./cgroup-turn.ts";
import type { Cell, CellLimits } from "./containment.ts";
import { signalGroup, signalProcess } from "./signals.ts";

/** The branches by what they are for. One hierarchy may serve several. */
export interface Branches {
  /** Holds every process of every execution. */
  readonly tree: Branch;
  readonly memory: Branch | null;
  readonly pids: Branch | null;
  readonly cpu: Branch | null;
}

/** Leaves that were used and can be used again: making and removing one takes longer than entering it. */
export interface LeafPool {
  take(id: string): Leaf;
  giveBack(leaf: Leaf): void;
  close(): void;
}

/** More executions at one time than this make leaves of their own. */
const mostIdle = 8;

export function createLeafPool(branch: Branch): LeafPool {
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
  readonly monitored: boolean;
}

/** The leaf that keeps each limit; `null` where there is no such limit. */
interface CellLeaves {
  readonly tree: Leaf;
  readonly memory: Leaf | null;
  readonly pids: Leaf | null;
  readonly cpu: Leaf | null;
  readonly all: readonly Leaf[];
}

/** @throws Error when a leaf cannot be made, or cannot have its limit. */
export function openCell(parts: CellParts): Cell {
  const { pool, limits, monitored } = parts;
  const { memoryBytes, pids, cpuTimeMs } = limits;
  // Limits and counters stay with a leaf, so one that has them is used once.
  const reusable = memoryBytes === null && pids === null && cpuTimeMs === null;
  const leaves = openLeaves(parts, reusable);
  const { tree } = leaves;
  let leader = 0;
  let killed = false;
  let exceeded = false;
  return {
    enter: (spawn) => {
      const pass = () => {
        try {
          for (const leaf of leaves.all) leaf.enter();
          const child = spawn();
          leader = child.pid ?? 0;
          return child;
        } finally {
          for (const { branch } of leaves.all) branch.leave();
          for (const leaf of leaves.all) leaf.settle(leader);
        }
      };
      try {
        return leaves.all.some(({ branch }) => branch.version === 2) ? inTurn(pass) : pass();
      } finally {
        // Set once the host is out again: they are not meant for it.
        if (leaves.memory !== null && memoryBytes !== null) exceeded = !limitMemory(leaves.memory, memoryBytes);
        if (leaves.pids !== null && pids !== null) limitPids(leaves.pids, pids);
      }
    },
    // Whatever the command begins is in its cgroup, and stays there.
    alsoHolds: () => {},
    signal: (signal) => {
      if (signal === "SIGTERM") return terminate(leader, tree.members(), monitored);
      killed = true;
      killLeaf(tree.directory);
    },
    isEmpty: () => tree.isEmpty(),
    wasOutOfMemory: () => leaves.memory !== null && (exceeded || oomKills(leaves.memory) > 0),
    cpuTimeMs: () => (leaves.cpu === null ? null : cpuTime(leaves.cpu)),
    dispose: () => {
      if (!reusable || killed || tree.isDivided()) return leaves.all.flatMap(discard);
      pool.giveBack(tree);
      return [];
    },
  };
}

function openLeaves({ branches, pool, id, limits }: CellParts, reusable: boolean): CellLeaves {
  const memory = limits.memoryBytes === null ? null : branches.memory;
  const pids = limits.pids === null ? null : branches.pids;
  const cpu = limits.cpuTimeMs === null ? null : branches.cpu;
  memory?.allowLimits();
  pids?.allowLimits();
  const all: Leaf[] = [];
  try {
    all.push(reusable ? pool.take(id) : openLeaf(branches.tree, id));
    for (const branch of new Set([memory, pids, cpu]))
      if (branch !== null && branch !== branches.tree) all.push(openLeaf(branch, id));
  } catch (error) {
    for (const leaf of all) leaf.remove();
    throw error;
  }
  const on = (branch: Branch | null) => all.find((leaf) => leaf.branch === branch) ?? null;
  const [tree] = all as [Leaf, ...Leaf[]];
  return { tree, memory: on(memory), pids: on(pids), cpu: on(cpu), all };
}

function terminate(leader: number, members: readonly number[], monitored: boolean): void {
  if (!monitored) signalGroup(leader, "SIGTERM");
  const entries = monitored ? members.map(findProcess).filter((entry) => entry !== null) : [];
  const spared = watchersOf(leader, entries);
  for (const pid of members) if (!spared.has(pid)) signalProcess(pid, "SIGTERM");
}

function discard(leaf: Leaf): readonly Leftover[] {
  if (leaf.remove()) return [];
  return [{ kind: "cgroup", name: leaf.directory, reason: "The kernel says it is still in use" }];
}
