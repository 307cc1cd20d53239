/** How often a network namespace had no way to send something: the kernel counts, and goes on showing it to who has the file open. */

import { closeSync, openSync, readSync } from "node:fs";

/** The counters of one namespace. */
export interface NetworkCounters {
  /** Packets without a route. */
  unroutable(): number;
  close(): void;
}

const mostBytes = 16_384;

/** `null` where the process has gone, or the kernel shows nothing. */
export function openNetworkCounters(pid: number): NetworkCounters | null {
  const files: number[] = [];
  const close = () => {
    for (const file of files.splice(0)) closeSync(file);
  };
  try {
    for (const name of ["snmp", "snmp6"]) files.push(openSync(`/proc/${pid}/net/${name}`, "r"));
  } catch {
    if (files.length === 0) return null;
  }
  return {
    unroutable: () => files.reduce((sum, file) => sum + countUnroutable(readAll(file)), 0),
    close,
  };
}

function readAll(file: number): string {
  const buffer = Buffer.alloc(mostBytes);
  try {
    return buffer.toString("latin1", 0, readSync(file, buffer, 0, mostBytes, 0));
  } catch {
    return "";
  }
}

/** `/proc/net/snmp` has a line of names and one of values for each protocol, `snmp6` one name and value a line (proc_net(5), RFC 4293). */
export function countUnroutable(text: string): number {
  const lines = text.split("\n").map((line) => line.trim().split(/\s+/));
  const [names, values] = lines.filter(([first]) => first === "Ip:");
  const version4 = values?.[names?.indexOf("OutNoRoutes") ?? -1];
  const version6 = lines.find(([first]) => first === "Ip6OutNoRoutes")?.[1];
  return Number(version4 ?? 0) + Number(version6 ?? 0);
}
