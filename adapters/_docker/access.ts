/** Whether a user of a container may come to a file there, as the kernel will judge it: no capability helps, root's neither. */

import { posix } from "node:path";
import type { TarEntry } from "../../src/archive/tar-entry.ts";
import type { ContainerCalls, PathStat } from "./containers.ts";
import { statusOf } from "./daemon.ts";

/** As the image or we name it; `null`: not known by number. */
export type ContainerUser = { readonly uid: number; readonly gid: number } | null;

/** Whose something is, and what they may do with it. */
type Permissions = Pick<TarEntry, "mode" | "uid" | "gid">;

/** Whether a user may run a program. */
export function mayExecute({ mode, uid, gid }: Permissions, user: ContainerUser): boolean {
  if (user === null || user.uid === 0) return (mode & 0o111) !== 0;
  return maySearch({ mode, uid, gid }, user);
}

function maySearch({ mode, uid, gid }: Permissions, user: NonNullable<ContainerUser>): boolean {
  if (user.uid === uid) return (mode & 0o100) !== 0;
  if (user.gid === gid) return (mode & 0o010) !== 0;
  return (mode & 0o001) !== 0;
}

/** A bit of a mode as Go tells it, beyond those of the permissions. */
const linkBit = 2 ** 27;
const openToAll = 0o111;
const mostLinks = 40;

/**
 * The directory that keeps a user from any of the paths, or `null`.
 *
 * @param ownerOf asked only of a directory that is not open to all
 */
export async function closedAbove(
  calls: ContainerCalls,
  paths: readonly string[],
  { user, ownerOf }: { readonly user: ContainerUser; readonly ownerOf: (path: string) => Promise<Permissions | null> },
): Promise<string | null> {
  if (user === null) return null;
  const seen = new Set<string>();
  let waiting = [...new Set(paths.flatMap(directoriesAbove))];
  for (let links = 0; links < mostLinks && waiting.length > 0; links += 1) {
    for (const directory of waiting) seen.add(directory);
    const found = await Promise.all(
      waiting.map(async (directory) => ({ directory, stat: await statOf(calls, directory) })),
    );
    waiting = [];
    for (const { directory, stat } of found) {
      if (stat === null) continue;
      if (Math.floor(stat.mode / linkBit) % 2 === 1) {
        const target = posix.resolve(posix.dirname(directory), stat.linkTarget);
        waiting.push(...[target, ...directoriesAbove(target)].filter((other) => !seen.has(other)));
        continue;
      }
      if ((stat.mode & openToAll) === openToAll) continue;
      const permissions = await ownerOf(directory);
      if (permissions !== null && !maySearch(permissions, user)) return directory;
    }
  }
  return null;
}

function directoriesAbove(path: string): string[] {
  const above = posix.dirname(path);
  return above === path ? [] : [...directoriesAbove(above), above];
}

async function statOf(calls: ContainerCalls, path: string): Promise<PathStat | null> {
  try {
    return await calls.stat(path);
  } catch (error) {
    if (statusOf(error) === null) throw error;
    return null;
  }
}
