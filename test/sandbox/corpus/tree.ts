/** A directory as what can be compared of it: paths, kinds, owners, modes, names in common, contents. */

import { createHash } from "node:crypto";
import { lstatSync, readdirSync, readFileSync, readlinkSync, type Stats } from "node:fs";
import { join } from "node:path";

/** Each relative path, and what is there in words. */
export type Tree = ReadonlyMap<string, string>;

/** @param ignores names or relative paths that are left out with everything below them */
export function treeOf(root: string, ignores: readonly string[] = []): Tree {
  const tree = new Map<string, string>();
  const visit = (path: string): void => {
    if (ignores.some((ignored) => `/${path}/`.includes(`/${ignored}/`))) return;
    const stats = lstatSync(join(root, path));
    tree.set(path === "" ? "." : path, describe(join(root, path), stats));
    if (stats.isDirectory())
      for (const name of readdirSync(join(root, path))) visit(path === "" ? name : `${path}/${name}`);
  };
  visit("");
  return tree;
}

function describe(path: string, stats: Stats): string {
  const kept = `${(stats.mode & 0o7777).toString(8)} of ${stats.uid}:${stats.gid}`;
  if (stats.isDirectory()) return `directory ${kept}`;
  if (stats.isSymbolicLink()) return `link to ${readlinkSync(path)}`;
  if (stats.isFile()) return `file ${kept}, ${stats.nlink} names, ${stats.size} bytes, ${digest(path)}`;
  return `${stats.isFIFO() ? "fifo" : stats.isSocket() ? "socket" : "device"} ${kept}`;
}

/** What may not be read by its owner is described by the rest. */
function digest(path: string): string {
  try {
    return createHash("sha256").update(readFileSync(path)).digest("hex").slice(0, 16);
  } catch {
    return "not readable";
  }
}
