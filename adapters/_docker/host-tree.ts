/** A directory of this machine as an archive, for a container that cannot have it as it is; and what was sent, to know what changed. */

import { constants, createReadStream, openSync, type ReadStream, readdirSync, readlinkSync } from "node:fs";
import { posix } from "node:path";
import { Readable } from "node:stream";
import { isMissing } from "../../host/directory-walk.ts";
import {
  type HeldDirectory,
  type HeldFile,
  holdDirectory,
  holdEntry,
  holdFile,
  reasonOf,
} from "../../host/held-directory.ts";
import { tarPadding } from "../../src/archive/tar-entry.ts";
import { tarEnd, tarHeader } from "../../src/archive/tar-write.ts";
import type { FileOwner } from "../../src/types.ts";

/** What was sent of one path: enough to see whether it has changed. */
export interface SentEntry {
  readonly type: "file" | "directory" | "symlink";
  readonly size: number;
  /** Whole seconds, as the daemon's archives have them. */
  readonly mtime: number;
  readonly mode: number;
  readonly link: string;
}

/** By path below the directory. */
export type Manifest = Map<string, SentEntry>;

/** What is packed. */
export interface PackedTree {
  readonly root: string;
  /** Where it will be in the container. */
  readonly at: string;
  readonly owner: FileOwner;
  /** Told of what is not packed, and why. */
  readonly leftOut: (path: string, reason: string) => void;
}

/** A change within the second of the last one before it would not be seen by its time: everything is sent as so much older. */
const quietSecs = 2;

/**
 * Everything in the directory, links as links, as the files of `owner`. What is neither file, directory nor link stays.
 *
 * @param manifest is filled on the way
 */
export function packTree({ root, ...tree }: PackedTree, manifest: Manifest): Readable {
  return Readable.from(packAll(root, { ...tree, manifest }));
}

/** Stands where bytes were no UTF-8: what they were is not known any more. */
const unreadable = "\ufffd";
/** Why something with such a name, or a link to one, is left where it is. */
export const notText = "its name is not UTF-8";

/** Whether a name is what it was before it was made text. */
export function isText(name: string): boolean {
  return !name.includes(unreadable);
}

async function* packAll(root: string, packing: Packing): AsyncGenerator<Uint8Array> {
  yield tarHeader({ path: "/", type: "directory", mode: 0o700, ...packing.owner });
  const top = holdDirectory(root);
  try {
    // One after another: a deep tree would hold a directory open on each of its levels.
    const waiting = [""];
    for (let below = waiting.pop(); below !== undefined; below = waiting.pop()) {
      const inner = yield* packDirectory(top, below, packing);
      waiting.push(...inner.reverse());
    }
  } catch (error) {
    throw new Error(`${root}: ${reasonOf(error)}`, { cause: error });
  } finally {
    top.close();
  }
  yield tarEnd();
}

interface Packing extends Omit<PackedTree, "root"> {
  readonly manifest: Manifest;
}

/**
 * What is in a directory, without what is in those in it, which it answers. Each is held while it is read: another command that
 * works in it can exchange it for a link meanwhile.
 */
async function* packDirectory(
  top: HeldDirectory,
  below: string,
  packing: Packing,
): AsyncGenerator<Uint8Array, string[]> {
  const inner: string[] = [];
  const told = (path: string, error: unknown) => {
    // Without the directory itself nothing can be sent.
    if (path === "") throw error;
    packing.leftOut(path, reasonOf(error));
  };
  const held = tryFor(
    () => holdBelow(top, below),
    (error) => told(below, error),
  );
  if (held === null) return inner;
  try {
    const names = tryFor(
      () => readdirSync(held.path).sort(),
      (error) => told(below, error),
    );
    for (const name of names ?? []) {
      const path = below === "" ? name : `${below}/${name}`;
      if (!isText(name)) {
        packing.leftOut(path, notText);
        continue;
      }
      const entry = tryFor(
        () => holdFile(held.at(name)),
        (error) => told(path, error),
      );
      if (entry === null) continue;
      try {
        if (entry.stats.isDirectory()) inner.push(path);
        yield* packEntry(entry, { place: held.at(name), path }, packing);
      } finally {
        entry.close();
      }
    }
  } finally {
    held.close();
  }
  return inner;
}

function holdBelow(top: HeldDirectory, below: string): HeldDirectory {
  let held = holdEntry(top, ".");
  for (const name of below.split("/").filter((part) => part !== "")) {
    const above = held;
    try {
      held = holdEntry(above, name);
    } finally {
      above.close();
    }
  }
  return held;
}

/** `null` where it fails, which is told, unless it is of something that another command has removed meanwhile. */
function tryFor<Result>(get: () => Result, failed: (error: unknown) => void): Result | null {
  try {
    return get();
  } catch (error) {
    if (!isMissing(error)) failed(error);
    return null;
  }
}

interface Placed {
  /** Itself, also where it is a link. */
  readonly place: string;
  readonly path: string;
}

async function* packEntry(
  { stats, path: held }: HeldFile,
  { place, path }: Placed,
  packing: Packing,
): AsyncGenerator<Uint8Array> {
  const common = { path, mode: stats.mode & 0o777, mtime: stats.mtimeMs / 1000 - quietSecs, ...packing.owner };
  const sent = { size: 0, mtime: Math.trunc(common.mtime), mode: common.mode, link: "" };
  if (stats.isDirectory()) {
    packing.manifest.set(path, { ...sent, type: "directory" });
    yield tarHeader({ ...common, type: "directory" });
  } else if (stats.isSymbolicLink()) {
    const target = targetOf(place);
    if (target === null) return packing.leftOut(path, "what it leads to is not UTF-8");
    const link = linkWithin(target, path, packing);
    packing.manifest.set(path, { ...sent, type: "symlink", link });
    yield tarHeader({ ...common, type: "symlink", link });
  } else if (stats.isFile()) {
    const { size } = stats;
    const content = tryFor(
      () => openContent(held, size),
      (error) => packing.leftOut(path, reasonOf(error)),
    );
    if (content === null) return;
    packing.manifest.set(path, { ...sent, type: "file", size });
    try {
      yield tarHeader({ ...common, size });
      yield* exactly(content, size);
      yield new Uint8Array(tarPadding(size));
    } finally {
      content.destroy();
    }
  }
}

/** `null` where it is no UTF-8, for which Deno has an error. */
function targetOf(place: string): string | null {
  try {
    const target = readlinkSync(place);
    return isText(target) ? target : null;
  } catch (error) {
    if (error instanceof Error && error.name === "InvalidData") return null;
    throw error;
  }
}

/** A daemon takes no archive with a relative link to above its top: the same place has an absolute path as well. */
function linkWithin(link: string, path: string, { at }: Packing): string {
  const leadsTo = posix.normalize(posix.join(posix.dirname(path), link));
  const climbs = !link.startsWith("/") && (leadsTo === ".." || leadsTo.startsWith("../"));
  return climbs ? posix.resolve(at, leadsTo) : link;
}

function openContent(place: string, size: number): ReadStream {
  const fd = openSync(place, constants.O_RDONLY | constants.O_NONBLOCK);
  return createReadStream(place, size === 0 ? { fd } : { fd, end: size - 1 });
}

/** Exactly so many bytes: a file that changes while it is read would spoil what follows it. */
async function* exactly(content: ReadStream, size: number): AsyncGenerator<Uint8Array> {
  let left = size;
  for await (const chunk of content) {
    const part = chunk.subarray(0, left);
    left -= part.length;
    yield part;
  }
  for (; left > 0; left -= fillBytes) yield new Uint8Array(Math.min(left, fillBytes));
}

const fillBytes = 64 * 1024;
