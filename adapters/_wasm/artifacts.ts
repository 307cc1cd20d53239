/**
 * Modules as an engine compiled them, kept between executions and processes. Compiled code is run as it is, so what is kept is
 * where nobody else can write, and is used only with the content that it was kept with.
 */

import { createHash, randomUUID } from "node:crypto";
import {
  closeSync,
  constants,
  fstatSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { cacheDirectory } from "../../host/cache-directory.ts";

/** Where compiled modules are. */
export interface ArtifactStore {
  readonly directory: string;
  /** The file that was kept under the key, or what `make` has put at the path it is given. One at a time makes it. */
  get(key: string, make: (directory: string) => Promise<string>): Promise<string>;
  close(): void;
}

/** All of it, at the most; what was not used for longest goes first. */
const mostBytes = 1024 * 1024 * 1024;
/** What was used since may be about to be opened. */
const inUseMs = 10 * 60 * 1000;
const touchEveryMs = 60 * 1000;
const workPrefix = "making-";

/** In the user's cache directory, or where none is the user's alone in one that goes with this process. */
export function openArtifactStore(): ArtifactStore {
  const cache = cacheDirectory();
  const directory = cache === null ? mkdtempSync(join(tmpdir(), "prx-wasm-")) : join(cache, "compiled-wasm");
  mkdirSync(directory, { recursive: true, mode: 0o700 });
  const making = new Map<string, Promise<string>>();
  const known = new Map<string, Known>();

  const find = (key: string): string | null => {
    const before = known.get(key);
    if (before !== undefined && isAsKnown(before)) return before.path;
    known.delete(key);
    const found = verified(directory, key);
    if (found !== null) known.set(key, found);
    return found?.path ?? null;
  };
  const makeNew = async (key: string, make: (directory: string) => Promise<string>): Promise<string> => {
    const work = mkdtempSync(join(directory, workPrefix));
    try {
      const path = keep(directory, key, await make(work));
      makeRoom(directory);
      return path;
    } finally {
      rmSync(work, { recursive: true, force: true });
      making.delete(key);
    }
  };
  return {
    directory,
    async get(key, make) {
      const found = find(key);
      if (found !== null) return found;
      const begun = making.get(key) ?? makeNew(key, make);
      making.set(key, begun);
      return begun;
    },
    close: () => {
      if (cache === null) rmSync(directory, { recursive: true, force: true });
    },
  };
}

interface Known {
  readonly path: string;
  readonly node: string;
  usedAt: number;
}

/** Changes with every change of a file, or of a directory and the files in it. */
function nodeOf(path: string): string {
  return entriesOf(path)
    .map((entry) => {
      // Deno knows the time of the last change by the second, and the others to their full precision.
      const { dev, ino, size, mode, mtimeNs, ctimeNs } = lstatSync(entry, { bigint: true });
      return `${dev}:${ino}:${size}:${mode}:${mtimeNs}:${ctimeNs}`;
    })
    .join(" ");
}

function entriesOf(path: string): readonly string[] {
  if (!lstatSync(path).isDirectory()) return [path];
  return [path, ...readdirSync(path).map((name) => join(path, name))];
}

function isAsKnown(known: Known): boolean {
  try {
    if (nodeOf(known.path) !== known.node) return false;
    touch(known);
    return true;
  } catch {
    return false;
  }
}

/** Says that it is in use, now and then. */
function touch(known: Known & { node: string }): void {
  const now = Date.now();
  if (now - known.usedAt < touchEveryMs) return;
  utimesSync(known.path, now / 1000, now / 1000);
  Object.assign(known, { node: nodeOf(known.path), usedAt: now });
}

/** The key's file, if it is this user's alone and has the content that it was kept with. */
function verified(directory: string, key: string): Known | null {
  try {
    const content = readOwn(join(directory, key)).toString("utf8");
    if (!/^[0-9a-f]{64}$/.test(content)) return null;
    const path = join(directory, `${content}.bin`);
    if (contentOf(path) !== content) return null;
    const known = { path, node: nodeOf(path), usedAt: 0 };
    touch(known);
    return known;
  } catch {
    return null;
  }
}

function readOwn(path: string): Buffer {
  const fd = openSync(path, constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0));
  try {
    const { uid, mode, nlink } = fstatSync(fd);
    const isOurs = process.getuid === undefined || (uid === process.getuid() && (mode & 0o022) === 0);
    if (!isOurs || nlink !== 1) throw new Error("somebody else could have written it");
    return readFileSync(fd);
  } finally {
    closeSync(fd);
  }
}

/** Content and key are each renamed into place, so that whoever looks meanwhile finds all of it or nothing. */
function keep(directory: string, key: string, made: string): string {
  const content = contentOf(made);
  const path = join(directory, `${content}.bin`);
  // What is there and is the same may be in use.
  if (!isContent(path, content)) {
    rmSync(path, { recursive: true, force: true });
    renameSync(made, path);
  }
  const pointer = join(directory, `${workPrefix}${randomUUID()}`);
  writeFileSync(pointer, content, { mode: 0o600, flag: "wx" });
  renameSync(pointer, join(directory, key));
  return path;
}

function isContent(path: string, content: string): boolean {
  try {
    return contentOf(path) === content;
  } catch {
    return false;
  }
}

/** The digest of a file, or of the files of a directory with their names. */
function contentOf(path: string): string {
  const hash = createHash("sha256");
  if (!lstatSync(path).isDirectory()) return hash.update(readOwn(path)).digest("hex");
  for (const name of readdirSync(path).sort()) {
    const bytes = readOwn(join(path, name));
    hash.update(`${name}\0${bytes.length}\0`).update(bytes);
  }
  return hash.digest("hex");
}

/** Removes what was not used for longest, and what processes that died have left half made. */
function makeRoom(directory: string): void {
  const now = Date.now();
  const entries = readdirSync(directory).flatMap((name) => {
    try {
      const path = join(directory, name);
      const { mtimeMs } = lstatSync(path);
      const size = entriesOf(path).reduce((sum, entry) => sum + lstatSync(entry).size, 0);
      return now - mtimeMs < inUseMs ? [] : [{ name, size, mtimeMs }];
    } catch {
      return [];
    }
  });
  const remove = (name: string) => rmSync(join(directory, name), { recursive: true, force: true });
  for (const { name } of entries.filter((entry) => entry.name.startsWith(workPrefix))) remove(name);
  const kept = entries.filter(({ name }) => name.endsWith(".bin")).sort((a, b) => b.mtimeMs - a.mtimeMs);
  let sum = 0;
  for (const { name, size } of kept) {
    sum += size;
    if (sum > mostBytes) remove(name);
  }
}
