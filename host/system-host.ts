/** The machine under Node, Bun and Deno, seen through the core's port. */

import { readFileSync, realpathSync, statSync } from "node:fs";
import { dirname, join } from "node:path";
import type { Host, InspectedPath } from "../src/host.ts";

/** A view of this machine. Each has an owner name of its own, so that two in one process keep their work apart. */
export function createSystemHost(): Host {
  return {
    owner: `${process.pid}-${newId().slice(0, 8)}`,
    get workingDir() {
      return process.cwd();
    },
    env: process.env,
    newId,
    now,
    inspect: async (path) => inspect(path),
  };
}

/**
 * Synchronous inside: one directory entry of the kernel's cache costs less than a turn of the event loop. The kernel's own
 * `realpath`, because the one in JavaScript takes `..` behind a link for the parent of the link, not of where it leads.
 */
function inspect(path: string): InspectedPath {
  const stats = tryCall(() => statSync(path, { throwIfNoEntry: false }));
  if (stats === undefined) return { kind: "missing", realPath: realParent(path) };
  const kind = stats.isDirectory() ? "directory" : stats.isFile() ? "file" : "other";
  const owner = process.platform === "win32" ? {} : { owner: { uid: stats.uid, gid: stats.gid } };
  return { kind, realPath: tryCall(() => realpathSync.native(path)) ?? path, ...owner };
}

/** Of a path that does not exist: the real path of the part that does, and the rest as it is. */
function realParent(path: string): string {
  const parent = dirname(path);
  if (parent === path) return path;
  const real = tryCall(() => realpathSync.native(parent)) ?? realParent(parent);
  return join(real, path.slice(parent.length).replace(/^[\\/]+/, ""));
}

let ids = 0;

/**
 * The first few from the kernel, where it has them: a process that runs one command is not to load `crypto` for it, which
 * takes as long as two commands on Node. Afterwards `crypto` is the quicker.
 */
function newId(): string {
  ids += 1;
  const own = ids > 3 ? undefined : tryCall(() => readFileSync("/proc/sys/kernel/random/uuid", "utf8").trim());
  return own ?? crypto.randomUUID();
}

/** Monotonic, like `performance.now`, which on Node has to be loaded first. */
function now(): number {
  const [seconds, nanoseconds] = process.hrtime();
  return seconds * 1e3 + nanoseconds / 1e6;
}

function tryCall<Result>(call: () => Result): Result | undefined {
  try {
    return call();
  } catch {
    return undefined;
  }
}
