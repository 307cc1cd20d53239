/** Ends what hosts that are no more have left running, and nothing else. */

import type { Leftover, SweepReport } from "../../src/types.ts";
import { clearTrunk } from "./cgroup-clear.ts";
import { familyOf, listProcesses } from "./process-table.ts";
import { isSameProcess, type ProcessName, type RecordStore } from "./run-records.ts";
import { signalGroup, signalProcess } from "./signals.ts";

export function sweepOrphans(store: RecordStore): SweepReport {
  let found = 0;
  const failed: Leftover[] = [];
  for (const { owner, commands, forget } of store.orphans()) {
    for (const trunk of owner.cgroups) {
      const cleared = clearTrunk(trunk);
      found += cleared.found;
      failed.push(
        ...cleared.stuck.map((name) => ({ kind: "cgroup", name, reason: "The kernel does not let go of it" })),
      );
    }
    const alive = commands.filter(isSameProcess);
    found += alive.length;
    for (const command of alive) endFamily(command);
    // What is stuck stays on record.
    if (owner.cgroups.every((trunk) => !failed.some(({ name }) => name.startsWith(trunk)))) forget();
  }
  return { found, removed: found - failed.length, failed };
}

/** The leader is the very process that was recorded, so the group it leads is the command's. */
function endFamily({ pid: leader }: ProcessName): void {
  const family = familyOf(leader, listProcesses());
  signalGroup(leader, "SIGKILL");
  for (const { pid, group } of family) if (group !== leader) signalProcess(pid, "SIGKILL");
}
