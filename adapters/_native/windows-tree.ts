/** Containment on Windows: a tree of processes, ended by taskkill(1). Type-checked and tested by its pure parts only. */

import type { Cell, Containment } from "./containment.ts";
import type { StopSignal } from "./signals.ts";

/** The arguments of taskkill for a process and all that it began. Without `/F` it only asks, and console programs do not listen. */
export function taskkillArguments(pid: number, signal: StopSignal): readonly string[] {
  const tree = ["/PID", String(pid), "/T"];
  return signal === "SIGKILL" ? [...tree, "/F"] : tree;
}

/** By its whole path: a bare name would be looked for in the working directory first. */
export function taskkillProgram(systemRoot = "C:\\Windows"): string {
  return `${systemRoot}\\System32\\taskkill.exe`;
}

export function createProcessTrees(): Containment {
  const open = new Set<Cell>();
  return {
    kind: "process-group",
    description: "process tree",
    holdsDaemons: false,
    can: { memoryBytes: false, pids: false, cpuTimeMs: false },
    open: () => {
      const cell = openCell(() => open.delete(cell));
      open.add(cell);
      return cell;
    },
    close: () => {
      for (const cell of open) cell.signal("SIGKILL");
      return true;
    },
  };
}

function openCell(onDispose: () => void): Cell {
  let leader = 0;
  return {
    enter: (spawn) => {
      const child = spawn();
      leader = child.pid ?? 0;
      return child;
    },
    // Nothing there watches over a command.
    alsoHolds: () => {},
    signal: (signal) => {
      if (leader <= 1) return;
      const { spawnSync } = process.getBuiltinModule("node:child_process");
      const program = taskkillProgram(process.env["SYSTEMROOT"]);
      spawnSync(program, taskkillArguments(leader, signal), { stdio: "ignore", windowsHide: true });
    },
    isEmpty: () => !isAlive(leader),
    wasOutOfMemory: () => false,
    cpuTimeMs: () => null,
    dispose: () => {
      onDispose();
      return [];
    },
  };
}

function isAlive(pid: number): boolean {
  try {
    return pid > 1 && process.kill(pid, 0);
  } catch {
    return false;
  }
}
