/** Ends what hosts that are no more have left running, and nothing else. */

import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import type { Leftover, SweepReport } from "../../src/types.ts";
import { killLeaf } from "./cgroup.ts";
import { membersOf, removeCgroup } from "./cgroup-leaf.ts";
import { familyOf, listProcesses } from "./process-table.ts";
import { isSameProcess, type ProcessName, type RecordStore } from "./run-records.ts";
import { signalGroup, signalProcess } from "./signals.ts";

/** Rounds of killing before a leaf is called stuck. One is enough unless something begins new processes as fast as they end. */
const mostRounds = 100;

export function sweepOrphans(store: RecordStore): SweepReport {
  let found = 0;
  const failed: Leftover[] = [];
  for (const { owner, commands, forget } of store.orphans()) {
    const trunks = owner.cgroups.filter((trunk) => existsSync(trunk));
    for (const trunk of trunks) {
      for (const leaf of leavesOf(trunk)) {
        // An empty one was only kept for the next execution.
        if (membersOf(leaf).length > 0) found += 1;
        if (!empty(leaf)) failed.push({ kind: "cgroup", name: leaf, reason: "Its processes do not end" });
      }
      removeCgroup(trunk);
    }
    const alive = commands.filter(isSameProcess);
    found += alive.length;
    for (const command of alive) endFamily(command);
    forget();
  }
  return { found, removed: found - failed.length, failed };
}

function leavesOf(trunk: string): readonly string[] {
  return readdirSync(trunk, { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map((entry) => join(trunk, entry.name));
}

function empty(leaf: string): boolean {
  for (let round = 0; round < mostRounds; round += 1) {
    killLeaf({ version: existsSync(join(leaf, "cgroup.kill")) ? 2 : 1 }, leaf);
    if (membersOf(leaf).length === 0 && removeCgroup(leaf)) return true;
  }
  return false;
}

/** The leader is the very process that was recorded, so the group it leads is the command's. */
function endFamily({ pid: leader }: ProcessName): void {
  const family = familyOf(leader, listProcesses());
  signalGroup(leader, "SIGKILL");
  for (const { pid, group } of family) if (group !== leader) signalProcess(pid, "SIGKILL");
}
