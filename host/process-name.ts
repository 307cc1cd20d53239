/** What names a process beyond its own life: its pid, when it began, and where its pid means anything. */

import { readFileSync, readlinkSync } from "node:fs";
import { findProcess } from "./process-table.ts";

/** A process by the two things that name it together. */
export interface ProcessName {
  readonly pid: number;
  readonly startedAt: string;
}

/** Outside of this boot and this pid namespace a pid means nothing. Empty where the platform has no such thing. */
export interface ProcessWorld {
  readonly boot: string;
  readonly namespace: string;
}

/** Which boot and which pid namespace this is. */
export function currentWorld(): ProcessWorld {
  try {
    const boot = readFileSync("/proc/sys/kernel/random/boot_id", "utf8").trim();
    return { boot, namespace: readlinkSync("/proc/self/ns/pid") };
  } catch {
    return { boot: "", namespace: "" };
  }
}

/** Whether the very process that was meant still runs. */
export function isSameProcess({ pid, startedAt }: ProcessName): boolean {
  const found = findProcess(pid);
  return found !== null && !found.zombie && startedAt !== "" && found.startedAt === startedAt;
}
