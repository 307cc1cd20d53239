/** Ends an execution that has used up its CPU time: cgroups count it, but none limits it. */

import { longestTimerMs } from "../../host/pause.ts";
import type { Cell } from "./containment.ts";

/** How often it is looked at the most. */
const leastWaitMs = 10;

/** A watch over one cell. */
export interface CpuTimeWatch {
  /** Stops watching. Answers whether the time was used up. */
  settle(): boolean;
}

export function watchCpuTime(cell: Cell, limitMs: number | null): CpuTimeWatch {
  if (limitMs === null || cell.cpuTimeMs() === null) return { settle: () => false };
  let spent = false;
  let timer: ReturnType<typeof setTimeout> | undefined;
  const cores = navigator.hardwareConcurrency;
  const look = () => {
    const left = limitMs - (cell.cpuTimeMs() ?? 0);
    if (left <= 0) {
      spent = true;
      cell.signal("SIGKILL");
    } else {
      // All cores at work use it up no sooner than this.
      timer = setTimeout(look, Math.min(Math.max(leastWaitMs, left / cores), longestTimerMs));
    }
  };
  look();
  return {
    settle: () => {
      clearTimeout(timer);
      return spent;
    },
  };
}
