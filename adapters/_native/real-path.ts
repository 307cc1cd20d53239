/** Paths without symbolic links. */

import { lstatSync, readlinkSync, realpathSync } from "node:fs";
import { join } from "node:path";

/** As the kernel sees it; `null` where nothing is there, or it cannot be reached. */
export function realPathOf(path: string): string | null {
  try {
    return realpathSync.native(path);
  } catch {
    return null;
  }
}

/** Where a path leads, and by what. */
export interface FollowedPath {
  readonly real: string;
  /** Each by its name in the real directory that holds it. */
  readonly links: readonly string[];
}

/** The most links that one path may lead through, as in the kernel. */
const mostLinks = 40;

/**
 * Both of one walk: of two, the second could be led elsewhere.
 *
 * @param path absolute
 * @returns `null` where nothing is there, or it cannot be reached.
 */
export function followPath(path: string): FollowedPath | null {
  const names = path.split("/");
  const links: string[] = [];
  let real = "/";
  try {
    for (let name = names.shift(); name !== undefined; name = names.shift()) {
      if (name === "" || name === ".") continue;
      const next = join(real, name);
      if (name === ".." || !lstatSync(next).isSymbolicLink()) {
        real = next;
        continue;
      }
      if (links.push(next) > mostLinks) return null;
      const to = readlinkSync(next);
      if (to.startsWith("/")) real = "/";
      names.unshift(...to.split("/"));
    }
    return { real, links };
  } catch {
    return null;
  }
}
