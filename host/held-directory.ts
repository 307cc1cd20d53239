/** Directories and files that are held by what they are, so that nobody can put another in their place before they are used. */

import {
  closeSync,
  constants,
  existsSync,
  fstatSync,
  lstatSync,
  openSync,
  realpathSync,
  type Stats,
  statSync,
} from "node:fs";
import { join } from "node:path";
import { messageOf } from "../src/errors.ts";

/** A directory that stays the one it is, whatever happens to the names that lead to it. */
export interface HeldDirectory {
  /** Its own. */
  readonly path: string;
  /** Open for nothing but to name it; `null` where it is not held. */
  readonly fd: number | null;
  /** As {@link nodeOf} gives it. */
  readonly node: string;
  /** Where one of its entries is. Only the entry itself can still be swapped: use it without following a link. */
  at(name: string): string;
  close(): void;
}

/**
 * Whether directories can be held here. Elsewhere (macOS, Windows) each is looked at by its path, and another process can put
 * a link in its place between the look and the use.
 */
export const canHold: boolean = process.platform === "linux" && existsSync("/proc/self/fd");

/** Holds without opening, so that the other end of a pipe, or a device, notices nothing. Node has no name for it (open(2)). */
const withoutOpening = 0o10000000;

/** What tells a file from every other one, by whatever path it is reached. */
export function nodeOf({ dev, ino }: { readonly dev: bigint; readonly ino: bigint }): string {
  return `${dev}:${ino}`;
}

/**
 * Holds a directory by its real path.
 *
 * @throws Error where a link, or anything else, has taken the place of a part of it since.
 */
export function holdDirectory(realPath: string): HeldDirectory {
  if (!canHold) return holdPlace(realpathSync(realPath));
  let held = holdPlace("/");
  for (const name of realPath.split("/").filter((part) => part !== "")) {
    const above = held;
    try {
      held = holdEntry(above, name);
    } finally {
      above.close();
    }
  }
  return held;
}

/** @throws Error `ENOTDIR` for an entry that is no directory: a link too. */
export function holdEntry(directory: HeldDirectory, name: string): HeldDirectory {
  return holdPlace(directory.at(name));
}

/**
 * Holds a directory by any path; only the last part of it must be no link.
 *
 * @throws Error
 */
export function holdPlace(place: string): HeldDirectory {
  if (!canHold) {
    const stats = lstatSync(place, { bigint: true });
    if (!stats.isDirectory()) throw Object.assign(new Error("ENOTDIR: not a directory"), { code: "ENOTDIR" });
    return { path: place, fd: null, node: nodeOf(stats), at: (name) => join(place, name), close: () => {} };
  }
  const fd = openSync(place, withoutOpening | constants.O_DIRECTORY | constants.O_NOFOLLOW);
  const path = `/proc/self/fd/${fd}`;
  return {
    path,
    fd,
    get node() {
      return nodeOf(fstatSync(fd, { bigint: true }));
    },
    at: (name) => `${path}/${name}`,
    close: () => closeSync(fd),
  };
}

/** A file of whatever kind, a link too, that stays the one it is. */
export interface HeldFile {
  /** By which it is opened. */
  readonly path: string;
  /** Of itself, where it is a link. */
  readonly stats: Stats;
  close(): void;
}

/**
 * @param followsLinks whether what a link leads to is held, in the place of the link
 * @throws Error where nothing is there.
 */
export function holdFile(place: string, { followsLinks = false } = {}): HeldFile {
  if (!canHold) return { path: place, stats: followsLinks ? statSync(place) : lstatSync(place), close: () => {} };
  const fd = openSync(place, withoutOpening | (followsLinks ? 0 : constants.O_NOFOLLOW));
  return {
    path: `/proc/self/fd/${fd}`,
    get stats() {
      return fstatSync(fd);
    },
    close: () => closeSync(fd),
  };
}

/** Where a file cannot be held: not through a link that stands in its place, nor waiting for the other end of a pipe that does. */
const unguided = canHold ? 0 : (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0);

/** What an error says, without the place by which something was held: to people that is no path. */
export function reasonOf(error: unknown): string {
  return messageOf(error).replace(/, \w+ '\/proc\/self\/fd\/[^']*'/, "");
}

/** A file has more names than it may have. */
export class OtherNames extends Error {
  constructor() {
    super("it has other names too");
  }
}

/**
 * Opens a regular file. Nothing else is opened, not even for a moment.
 *
 * @param flags as of open(2)
 * @param mostNames how many hard links it may have
 * @throws Error for a link, and for whatever else stands in its place.
 * @throws OtherNames
 */
export function openRegularFile(place: string, flags: number, mostNames: number = Number.POSITIVE_INFINITY): number {
  const held = holdFile(place);
  try {
    const { stats } = held;
    if (stats.isSymbolicLink()) throw new Error("it is a symbolic link");
    if (!stats.isFile()) throw new Error("it is not a regular file");
    if (stats.nlink > mostNames) throw new OtherNames();
    return openSync(held.path, flags | unguided);
  } finally {
    held.close();
  }
}
