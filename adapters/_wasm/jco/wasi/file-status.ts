/** What `wasi:filesystem` says of a file, and the times that it can be given. */

import type { BigIntStats, Dirent } from "node:fs";
import { type DateTime, dateTimeOf } from "./clocks.ts";

export type NewTimestamp =
  | { readonly tag: "no-change" }
  | { readonly tag: "now" }
  | { readonly tag: "timestamp"; readonly val: DateTime };

export function typeOf(entry: BigIntStats | Dirent): string {
  if (entry.isFile()) return "regular-file";
  if (entry.isDirectory()) return "directory";
  if (entry.isSymbolicLink()) return "symbolic-link";
  if (entry.isFIFO()) return "fifo";
  if (entry.isSocket()) return "socket";
  if (entry.isCharacterDevice()) return "character-device";
  if (entry.isBlockDevice()) return "block-device";
  return "unknown";
}

export function statusOf(stats: BigIntStats) {
  return {
    type: typeOf(stats),
    linkCount: stats.nlink,
    size: stats.size,
    dataAccessTimestamp: dateTimeOf(stats.atimeNs),
    dataModificationTimestamp: dateTimeOf(stats.mtimeNs),
    statusChangeTimestamp: dateTimeOf(stats.ctimeNs),
  };
}

/** What tells a file from every other one. */
export function hashOf({ dev, ino }: BigIntStats) {
  return { upper: BigInt.asUintN(64, dev), lower: BigInt.asUintN(64, ino) };
}

/** In seconds, as the machine takes them. */
export function timeOf(wanted: NewTimestamp, presentNs: bigint): number {
  if (wanted.tag === "no-change") return Number(presentNs) / 1e9;
  if (wanted.tag === "now") return Date.now() / 1000;
  return Number(wanted.val.seconds) + wanted.val.nanoseconds / 1e9;
}
