/** What a command changed in a copied directory, brought back to this machine past whatever stands in the archive. */

import {
  closeSync,
  constants,
  createReadStream,
  fchmodSync,
  fchownSync,
  fstatSync,
  futimesSync,
  lchownSync,
  lstatSync,
  mkdirSync,
  openSync,
  type ReadStream,
  rmdirSync,
  symlinkSync,
  unlinkSync,
  writeSync,
} from "node:fs";
import { walk } from "../../host/directory-walk.ts";
import { openRegularFile, reasonOf } from "../../host/held-directory.ts";
import { openForWriting } from "../../host/workspace-files.ts";
import type { TarEntry } from "../../src/archive/tar-entry.ts";
import { readTar, type TarMember } from "../../src/archive/tar-read.ts";
import type { FileOwner, Warning } from "../../src/types.ts";
import { isText, type Manifest, notText } from "./host-tree.ts";
import { tellIncomplete } from "./incomplete.ts";

export interface TreeBack {
  readonly archive: AsyncIterable<Uint8Array>;
  /** The directory of this machine. */
  readonly root: string;
  readonly sent: Manifest;
  /** Seconds since 1970. What is older than that was given its time on purpose, and keeps it. */
  readonly sentAt: number;
  /** Whose new files are to be; left out where this process cannot give files away. */
  readonly owner: FileOwner | undefined;
}

/** The most that is brought back of one command, whoever wrote it. */
const mostBytes = 2 ** 30;
/** The most that is read past for being too much: it takes its time, and nothing else ends that. */
const mostPassed = 4 * mostBytes;
/** By so much a daemon's clock may differ, and its times are cut to whole seconds. */
const clockMarginSecs = 60;
/** The daemon leaves out what it cannot reach for the length of its path (limits.h, PATH_MAX), and says nothing. */
const longPath = 3000;

/** Writes what is new or other than it was sent, and removes what is gone. What cannot be done is named, and the rest is done. */
export async function bringBack({ archive, root, sent, sentAt, owner }: TreeBack): Promise<readonly Warning[]> {
  const failures = new Map<string, string>();
  const failed = (path: string, error: unknown) => failures.set(path, reasonOf(error));
  const seen = new Set<string>();
  const modes: DirectoryMode[] = [];
  let bytes = 0;
  let passed = 0;
  let isWhole = true;
  const spend = (more: number) => {
    if (bytes + more > mostBytes) throw new Error(`more than ${mostBytes} bytes have changed`);
    bytes += more;
  };
  for await (const member of readTar(archive)) {
    const path = pathBelow(member.entry.path);
    if (path === null) continue;
    seen.add(path);
    isWhole &&= Buffer.byteLength(path) < longPath;
    if (isUnchanged(member.entry, path, sent)) continue;
    try {
      if (!isText(path) || !isText(member.entry.link)) throw new Error(notText);
      spend(member.entry.size);
      await writeMember(member, path, { root, owner, spend, modes, sent, sentAt });
    } catch (error) {
      failed(path, error);
      passed += member.entry.size;
      if (passed > mostPassed) throw error;
    }
  }
  // Contents before their directories.
  const gone = [...sent.keys()].filter((path) => !seen.has(path)).reverse();
  for (const path of gone) {
    try {
      if (!isWhole)
        throw new Error("it may lie below a path that is too long for the daemon, and is left as it is here");
      removeInside(root, path);
    } catch (error) {
      failed(path, error);
    }
  }
  // Last, and contents before their directories: one that may not be written could not be filled.
  for (const { path, mode } of modes.reverse()) {
    try {
      setMode(root, path, mode);
    } catch (error) {
      failed(path, error);
    }
  }
  return tellIncomplete(failures, "copied back");
}

/** Permission bits that a directory is to have in the end. */
interface DirectoryMode {
  readonly path: string;
  readonly mode: number;
}

function setMode(root: string, path: string, mode: number): void {
  const fd = walk(root, path, ({ place }) =>
    openSync(place, constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW),
  );
  try {
    fchmodSync(fd, (fstatSync(fd).mode & 0o7000) | mode);
  } finally {
    closeSync(fd);
  }
}

/** The archive's first part is the directory itself. `null` for that, and for what leads anywhere else. */
function pathBelow(path: string): string | null {
  const parts = path.split("/").filter((part) => part !== "" && part !== ".");
  const below = parts.slice(1);
  return below.length === 0 || parts.includes("..") ? null : below.join("/");
}

function isUnchanged(entry: TarEntry, path: string, sent: Manifest): boolean {
  const before = sent.get(path);
  if (before === undefined || before.type !== entry.type) return false;
  if (entry.type === "directory") return before.mode === (entry.mode & 0o777);
  if (entry.type === "symlink") return before.link === entry.link;
  return before.size === entry.size && before.mtime === entry.mtime && before.mode === (entry.mode & 0o777);
}

interface Writing {
  readonly root: string;
  readonly owner: FileOwner | undefined;
  /** Throws where it is too much. */
  readonly spend: (bytes: number) => void;
  /** Of the directories that were written. */
  readonly modes: DirectoryMode[];
  readonly sent: Manifest;
  readonly sentAt: number;
}

/** Every place is used while what leads to it is held: another command that works there can exchange it for a link meanwhile. */
async function writeMember(
  { entry, content }: TarMember,
  path: string,
  { root, owner, spend, modes, sent, sentAt }: Writing,
): Promise<void> {
  const give = (place: string) => owner !== undefined && lchownSync(place, owner.uid, owner.gid);
  if (entry.type === "directory") {
    return walk(root, path, ({ place }) => {
      clear(place, "directory");
      if (lstatOf(place) === null) mkdirSync(place, { mode: 0o700 });
      give(place);
      modes.push({ path, mode: entry.mode & 0o777 });
    });
  }
  if (sent.get(path)?.type === "directory") removeSent(root, path, sent);
  if (entry.type === "symlink") {
    return walk(root, path, ({ place }) => {
      clear(place, "other");
      symlinkSync(entry.link, place);
      give(place);
    });
  }
  if (entry.type !== "file" && entry.type !== "hardlink")
    throw new Error("it is neither a file, a directory nor a symbolic link");
  // Of a second name before the place is cleared: it may be what is read.
  const copied = entry.type === "file" ? null : contentOf(root, entry.link, spend);
  let fd: number;
  try {
    fd = walk(root, path, ({ place }) => {
      clear(place, copied === null ? "file" : "other");
      return openForWriting(place, { mode: 0o600, isShared: false });
    });
  } catch (error) {
    copied?.destroy();
    throw error;
  }
  try {
    const parts: AsyncIterable<Uint8Array> = copied ?? content;
    for await (const part of parts) for (let at = 0; at < part.length; ) at += writeSync(fd, part, at);
    fchmodSync(fd, entry.mode & 0o777);
    if (owner !== undefined) fchownSync(fd, owner.uid, owner.gid);
    if (entry.mtime < sentAt - clockMarginSecs) futimesSync(fd, entry.mtime, entry.mtime);
  } finally {
    closeSync(fd);
  }
}

/** A second name of a file that came before, or that has not changed: it becomes a file of its own here. */
function contentOf(root: string, link: string, spend: Writing["spend"]): ReadStream {
  const path = pathBelow(link);
  if (path === null) throw new Error("it is another name of something outside");
  const fd = walk(root, path, ({ place }) => openRegularFile(place, constants.O_RDONLY));
  try {
    // It has no size of its own in the archive, and takes as much room here.
    spend(fstatSync(fd).size);
  } catch (error) {
    closeSync(fd);
    throw error;
  }
  return createReadStream("", { fd, start: 0 });
}

/** What was sent of a directory in whose place there is something else now: it is gone, and nobody else's goes with it. */
function removeSent(root: string, path: string, sent: Manifest): void {
  for (const below of [...sent.keys()].reverse()) {
    if (below.startsWith(`${path}/`) && sent.delete(below)) removeInside(root, below);
  }
}

/** What stands in the place and is of another kind goes; a directory only where it is empty. */
function clear(file: string, wanted: "file" | "directory" | "other"): void {
  const found = lstatOf(file);
  if (found === null) return;
  if (found.isDirectory()) {
    if (wanted !== "directory") rmdirSync(file);
    return;
  }
  if (wanted !== "file" || !found.isFile()) unlinkSync(file);
}

function removeInside(root: string, path: string): void {
  walk(root, path, ({ place }) => {
    const found = lstatOf(place);
    if (found === null) return;
    if (found.isDirectory()) rmdirSync(place);
    else unlinkSync(place);
  });
}

function lstatOf(file: string) {
  return lstatSync(file, { throwIfNoEntry: false }) ?? null;
}
