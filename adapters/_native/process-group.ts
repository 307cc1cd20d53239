/** Containment by process group, for hosts without a cgroup of their own: a process that leaves it can get away. */

import type { Cell, Containment } from "./containment.ts";
import { familyOf, findProcess, listProcesses } from "./process-table.ts";
import type { RunRecords } from "./run-records.ts";
import { groupExists, signalGroup, signalProcess } from "./signals.ts";

/** Each command leads a group and a session of its own; a record on disk lets the next start end what a crash left. */
export function createProcessGroups(records: RunRecords): Containment {
  const open = new Set<Cell>();
  return {
    kind: "process-group",
    description: "process group",
    holdsDaemons: false,
    can: { memoryBytes: false, pids: false, cpuTimeMs: false },
    open: (id) => {
      const cell = openCell(id, records, () => open.delete(cell));
      open.add(cell);
      return cell;
    },
    close: () => {
      for (const cell of open) cell.signal("SIGKILL");
      return [...open].every((cell) => cell.isEmpty());
    },
  };
}

function openCell(id: string, records: RunRecords, onDispose: () => void): Cell {
  let leader = 0;
  return {
    enter: (spawn) => {
      const child = spawn();
      if (child.pid !== undefined) {
        leader = child.pid;
        records.add(id, { pid: leader, startedAt: findProcess(leader)?.startedAt ?? "" });
      }
      return child;
    },
    signal: (signal) => {
      // Read before the first of them ends: afterwards its children belong to init.
      const family = familyOf(leader, listProcesses());
      if (!signalGroup(leader, signal)) signalProcess(leader, signal);
      for (const { pid, group } of family) if (group !== leader) signalProcess(pid, signal);
    },
    isEmpty: () => !groupExists(leader),
    wasOutOfMemory: () => false,
    cpuTimeMs: () => null,
    dispose: () => {
      records.remove(id);
      onDispose();
      return [];
    },
  };
}
