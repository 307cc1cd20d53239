/** What names a process beyond its own life: its pid, when it began, and where its pid means anything. */

import { readFileSync, readlinkSync } from "node:fs";
import process from "node:process";
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

/**
 * Whether the very process that was meant is over for certain. One that cannot be looked at may still be there: `/proc` can hide
 * the processes of others (proc(5), `hidepid`), and a file that cannot be opened can be for want of descriptors.
 */
export function isKnownOver({ pid, startedAt }: ProcessName): boolean {
  if (startedAt === "") return false;
  const found = findProcess(pid);
  return found === null ? !exists(pid) : found.zombie || found.startedAt !== startedAt;
}

/** Asks without a look, and without a signal: only a process that is not there is no such process (kill(2)). */
function exists(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    return !(error instanceof Error && "code" in error && error.code === "ESRCH");
  }
}

/** Whether the very process that was meant still runs. */
export function isSameProcess({ pid, startedAt }: ProcessName): boolean {
  const found = findProcess(pid);
  return found !== null && !found.zombie && startedAt !== "" && found.startedAt === startedAt;
}
