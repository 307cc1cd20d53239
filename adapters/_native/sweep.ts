/** Ends what hosts that are no more have left running, and nothing else. */

import { pause } from "../../host/pause.ts";
import { isSameProcess, type ProcessName } from "../../host/process-name.ts";
import { familyOf, listProcesses } from "../../host/process-table.ts";
import type { Leftover, SweepReport } from "../../src/types.ts";
import { clearTrunk } from "./cgroup-clear.ts";
import type { ForeignRecords, OwnerRecord, RecordStore } from "./run-records.ts";
import { signalGroup, signalProcess } from "./signals.ts";

/** What is killed takes its time to end: it is waited for, and after a second it is named as left. */
const pauseMs = 5;
const patienceMs = 1000;

export async function sweepOrphans(store: RecordStore): Promise<SweepReport> {
  let found = 0;
  let running = 0;
  const failed: Leftover[] = [];
  for (const { owner, commands, forget } of store.orphans()) {
    const ended = [await endCgroups(owner), await endCommands(commands)];
    for (const one of ended) {
      found += one.found;
      running += one.running;
      failed.push(...one.failed);
    }
    // What is stuck stays on record.
    if (ended.every((one) => one.failed.length === 0)) forget();
  }
  return { found, removed: Math.max(0, found - running), failed };
}

interface Ended {
  readonly found: number;
  /** Executions that could not be ended. */
  readonly running: number;
  readonly failed: readonly Leftover[];
}

async function endCgroups({ cgroups }: OwnerRecord): Promise<Ended> {
  let found = 0;
  let running = 0;
  const failed: Leftover[] = [];
  for (const trunk of cgroups) {
    const first = clearTrunk(trunk);
    let { stuck } = first;
    await patiently(() => {
      if (stuck.length > 0) stuck = clearTrunk(trunk).stuck;
      return stuck.length === 0;
    });
    found += first.found;
    running += stuck.filter((name) => name.startsWith(`${trunk}/`)).length;
    failed.push(...stuck.map((name) => ({ kind: "cgroup", name, reason: "The kernel does not let go of it" })));
  }
  return { found, running, failed };
}

async function endCommands(commands: ForeignRecords["commands"]): Promise<Ended> {
  const alive = stillRunning(commands);
  const ended = alive.flat().filter(endFamily);
  await patiently(() => !ended.some(isSameProcess));
  const left = stillRunning(alive);
  const failed = left
    .flat()
    .map(({ pid }) => ({ kind: "process", name: String(pid), reason: "It could not be ended" }));
  return { found: alive.length, running: left.length, failed };
}

function stillRunning(commands: ForeignRecords["commands"]): ForeignRecords["commands"] {
  return commands.map((processes) => processes.filter(isSameProcess)).filter((processes) => processes.length > 0);
}

async function patiently(isDone: () => boolean): Promise<void> {
  const until = performance.now() + patienceMs;
  while (!isDone() && performance.now() < until) await pause(pauseMs);
}

/**
 * The leader is the very process that was recorded, so the group it leads is the command's. Answers whether it was signalled:
 * a host that a dead host's command began would end itself half-way, and leaves it to somebody else.
 */
function endFamily({ pid: leader }: ProcessName): boolean {
  const family = familyOf(leader, listProcesses());
  if (family.some(({ pid }) => pid === process.pid)) return false;
  signalGroup(leader, "SIGKILL");
  for (const { pid, group } of family) if (group !== leader) signalProcess(pid, "SIGKILL");
  return family.length > 0;
}
