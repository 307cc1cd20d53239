/** Containment by process group, for hosts without a cgroup of their own: a process that leaves it can get away. */

import { isSameProcess, type ProcessName } from "../../host/process-name.ts";
import { familyOf, findProcess, listProcesses, watchersOf } from "../../host/process-table.ts";
import type { Cell, Containment } from "./containment.ts";
import type { RunRecords } from "./run-records.ts";
import { groupExists, signalGroup, signalProcess } from "./signals.ts";

/**
 * Each command leads a group and a session of its own; a record on disk lets the next start end what a crash left.
 *
 * @param because why there is no cgroup, where that is known
 */
export function createProcessGroups(records: RunRecords, because?: string): Containment {
  const open = new Set<Cell>();
  return {
    kind: "process-group",
    description: "process group",
    holdsDaemons: false,
    can: { memoryBytes: false, pids: false, cpuTimeMs: false },
    ...(because === undefined ? {} : { cannot: { memoryBytes: because, pids: because, cpuTimeMs: because } }),
    open: (id, _limits, { monitored = false } = {}) => {
      const cell = openCell(id, records, { monitored, onDispose: () => open.delete(cell) });
      open.add(cell);
      return cell;
    },
    close: () => {
      for (const cell of open) cell.signal("SIGKILL");
      return [...open].every((cell) => cell.isEmpty());
    },
  };
}

function openCell(
  id: string,
  records: RunRecords,
  { monitored, onDispose }: { readonly monitored: boolean; readonly onDispose: () => void },
): Cell {
  let leader = 0;
  let startedAt = "";
  /** Those outside of the group that were told of, or signalled once: when their parent has ended, nothing leads to them any more. */
  const strays = new Map<number, ProcessName>();
  return {
    enter: (spawn) => {
      const child = spawn();
      if (child.pid === undefined) return child;
      leader = child.pid;
      startedAt = findProcess(leader)?.startedAt ?? "";
      try {
        records.add(id, { pid: leader, startedAt });
      } catch (error) {
        // The caller is told that nothing was begun.
        signalGroup(leader, "SIGKILL");
        throw error;
      }
      return child;
    },
    alsoHolds: (stray) => {
      strays.set(stray.pid, stray);
      try {
        records.add(id, { pid: leader, startedAt }, [stray]);
      } catch {
        // The record stays as it was, and the process is held for as long as this host lives.
      }
    },
    signal: (signal) => {
      // Read before the first of them ends: afterwards its children belong to init.
      const family = familyOf(leader, listProcesses());
      for (const one of family) if (one.group !== leader) strays.set(one.pid, one);
      if (monitored && signal === "SIGTERM") {
        const spared = watchersOf(leader, family);
        for (const { pid } of family) if (!spared.has(pid)) signalProcess(pid, signal);
        return;
      }
      if (!signalGroup(leader, signal)) signalProcess(leader, signal);
      for (const stray of strays.values()) if (isSameProcess(stray)) signalProcess(stray.pid, signal);
    },
    isEmpty: () => !groupLives(leader) && ![...strays.values()].some(isSameProcess),
    wasOutOfMemory: () => false,
    cpuTimeMs: () => null,
    dispose: () => {
      onDispose();
      records.remove(id);
      return [];
    },
  };
}

/** A member that is over but was never waited for counts for the kernel, not for us: where nobody adopts orphans it stays. */
function groupLives(leader: number): boolean {
  if (!groupExists(leader)) return false;
  const table = listProcesses();
  return table.length === 0 || table.some(({ group, zombie }) => group === leader && !zombie);
}
