/**
 * Who relies on which placeholder. To remove one detaches what is mounted over it in every sandbox (mount_namespaces(7)), so
 * it goes with the last execution that relies on it, whichever of this user's hosts runs that one. Each execution has a file
 * in its host's directory, and all of them are looked at in turn.
 */

import { lstatSync, mkdirSync, readdirSync, readFileSync, rmdirSync, rmSync, unlinkSync, writeFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { holdDirectory, nodeOf } from "../../../host/held-directory.ts";
import { inTurnAt } from "../cgroup-turn.ts";

/** A placeholder by its place and by what it is: two paths can lead to one. */
export interface Placeholder {
  readonly path: string;
  /** As `nodeOf` gives it. */
  readonly node: string;
}

/** Where an execution's record is. */
export interface RecordPlace {
  /** The host's directory, beside those of this user's other hosts. */
  readonly ownDirectory: string;
  /** Names the execution. */
  readonly id: string;
}

const ending = ".kept";

/** Does something while no other execution comes or goes. */
export function withRecords<Result>(ownDirectory: string, work: () => Result): Result {
  return inTurnAt(join(dirname(ownDirectory), "placeholders.turn"), work);
}

/** To be called within {@link withRecords}. */
export function writeRecord({ ownDirectory, id }: RecordPlace, placeholders: readonly Placeholder[]): void {
  // A directory in a temporary place can be tidied away meanwhile.
  mkdirSync(ownDirectory, { recursive: true, mode: 0o700 });
  writeFileSync(join(ownDirectory, `${id}${ending}`), JSON.stringify(placeholders), { mode: 0o600 });
}

/**
 * All that anybody relies on, also on behalf of a host that is no more. To be called within {@link withRecords}.
 *
 * @throws Error when some of it cannot be read: then anything may be in use.
 */
export function nodesInUse(ownDirectory: string, except: readonly string[] = []): ReadonlySet<string> {
  const directory = dirname(ownDirectory);
  const homes = entriesOf(directory).map((name) => join(directory, name));
  const records = homes.flatMap(recordsIn).filter((record) => !except.includes(record));
  return new Set(records.flatMap(readRecord).map(({ node }) => node));
}

/**
 * Gives up what one execution relies on, and removes what nobody else does. To be called within {@link withRecords}.
 *
 * @throws Error when it cannot be told what others rely on: everything stays, the record too, until the host's end.
 */
export function dropRecord({ ownDirectory, id }: RecordPlace, placeholders: readonly Placeholder[]): void {
  dropAll(ownDirectory, [join(ownDirectory, `${id}${ending}`)], placeholders);
}

/** The same for all executions of a host: none of them runs any more. */
export function dropRecordsOf(ownDirectory: string): void {
  if (recordsIn(ownDirectory).length === 0) return;
  withRecords(ownDirectory, () => {
    const records = recordsIn(ownDirectory);
    dropAll(ownDirectory, records, records.flatMap(readRecord));
  });
}

/** `null` where nothing is. */
export function nodeAt(place: string): string | null {
  const stats = lstatSync(place, { throwIfNoEntry: false, bigint: true });
  return stats === undefined ? null : nodeOf(stats);
}

function dropAll(ownDirectory: string, records: readonly string[], placeholders: readonly Placeholder[]): void {
  const others = nodesInUse(ownDirectory, records);
  for (const record of records) rmSync(record, { force: true });
  // What is inside goes before what it is in.
  const ordered = [...placeholders].sort((a, b) => b.path.length - a.path.length);
  for (const { path, node } of ordered) if (!others.has(node)) removeEmpty(path, node);
}

function removeEmpty(path: string, node: string): void {
  try {
    const directory = holdDirectory(dirname(path));
    try {
      removeIfEmpty(directory.at(basename(path)), node);
    } finally {
      directory.close();
    }
  } catch {
    // Somebody has put something into it, or taken it away: it is not ours any more.
  }
}

function removeIfEmpty(place: string, node: string): void {
  if (nodeAt(place) !== node) return;
  const stats = lstatSync(place);
  if (stats.isDirectory()) rmdirSync(place);
  else if (stats.isFile() && stats.size === 0) unlinkSync(place);
}

function recordsIn(home: string): readonly string[] {
  return entriesOf(home)
    .filter((name) => name.endsWith(ending))
    .map((name) => join(home, name));
}

function entriesOf(directory: string): readonly string[] {
  return unlessGone(() => readdirSync(directory)) ?? [];
}

/** One that was only half written is of a host that died before its command began. */
function readRecord(path: string): readonly Placeholder[] {
  const text = unlessGone(() => readFileSync(path, "utf8")) ?? "[]";
  try {
    const found: unknown = JSON.parse(text);
    return Array.isArray(found) ? found.filter(isPlaceholder) : [];
  } catch {
    return [];
  }
}

/** `null` where there is no such directory or file, or no more. */
function unlessGone<Result>(read: () => Result): Result | null {
  try {
    return read();
  } catch (error) {
    if (error instanceof Error && "code" in error && (error.code === "ENOENT" || error.code === "ENOTDIR")) return null;
    throw error;
  }
}

function isPlaceholder(value: unknown): value is Placeholder {
  if (typeof value !== "object" || value === null || !("path" in value) || !("node" in value)) return false;
  return typeof value.path === "string" && typeof value.node === "string";
}
