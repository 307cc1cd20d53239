/** The machine under Node, Bun and Deno, seen through the core's port. */

import { readFileSync, realpathSync, statSync } from "node:fs";
import { dirname, join } from "node:path";
import process from "node:process";
import type { Host, PathKind } from "../src/host.ts";

let hosts = 0;

/** A view of this machine. Each has an owner name of its own, so that two in one process keep their work apart. */
export function createSystemHost(): Host {
  hosts += 1;
  return {
    owner: `${process.pid}-${startTime()}-${hosts}`,
    get workingDir() {
      return process.cwd();
    },
    env: process.env,
    now: () => performance.now(),
    inspect: async (path) => inspect(path),
  };
}

/** Synchronous inside: one directory entry of the kernel's cache costs less than a turn of the event loop. */
function inspect(path: string): { kind: PathKind; realPath: string } {
  const stats = tryCall(() => statSync(path, { throwIfNoEntry: false }));
  if (stats === undefined) return { kind: "missing", realPath: realParent(path) };
  const kind = stats.isDirectory() ? "directory" : stats.isFile() ? "file" : "other";
  return { kind, realPath: tryCall(() => realpathSync(path)) ?? path };
}

/** Of a path that does not exist: the real path of the part that does, and the rest as it is. */
function realParent(path: string): string {
  const parent = dirname(path);
  if (parent === path) return path;
  const real = tryCall(() => realpathSync(parent)) ?? realParent(parent);
  return join(real, path.slice(parent.length).replace(/^[\\/]+/, ""));
}

/** When this process began, in the kernel's ticks: with the pid it names one process for good. */
function startTime(): string {
  const stat = tryCall(() => readFileSync("/proc/self/stat", "utf8"));
  return stat?.slice(stat.lastIndexOf(")") + 2).split(" ")[19] ?? String(Math.round(performance.timeOrigin));
}

function tryCall<Result>(call: () => Result): Result | undefined {
  try {
    return call();
  } catch {
    return undefined;
  }
}
