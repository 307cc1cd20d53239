/**
 * A daemon finds by its path what it mounts, when it starts the container. A command that may write a directory above can put
 * a link there before that: so what is to be mounted is held against all the other containers of the daemon, whoever began
 * them, and against what other backends of this process have at work. Each container is made before its host looks, so of two that are begun at one moment at least one sees the other.
 */

import { lstatSync } from "node:fs";
import { stat } from "node:fs/promises";
import { basename, dirname } from "node:path";
import { holdDirectory, nodeOf } from "../../host/held-directory.ts";
import { pause } from "../../host/pause.ts";
import { placesInUse } from "../../host/places-in-use.ts";
import { RuntimeError } from "../../src/errors.ts";
import type { DaemonClient } from "./daemon.ts";
import { directoryLabel, keptLabel, type ListedContainer, readMarks } from "./labels.ts";

/** The other containers of a daemon, and what else of this process is at work. */
export interface Neighbours {
  /** Whether one of them can change what leads to a path. */
  canExchange(path: string): Promise<boolean>;
  /** Whether one of them, not started yet, is to have something mounted that this directory's command could exchange. */
  isDisturbedBy(directory: string): Promise<boolean>;
}

export interface LookOptions {
  /** Of the container that looks. */
  readonly name: string;
  /** Whether the daemon's paths are this machine's: then two names of one directory are known as such. */
  readonly isLocal: boolean;
}

export async function lookAround(client: DaemonClient, { name, isLocal }: LookOptions): Promise<Neighbours> {
  const nodeAt = isLocal ? nodeOfPath : async () => null;
  const query = { all: true };
  const listed = (await client.ask({ method: "GET", path: "/containers/json", query })) as readonly ListedContainer[];
  const others = listed.filter(({ Names }) => !Names?.includes(`/${name}`));
  const waits = (other: ListedContainer) => other.State === "created" && readMarks(other) !== null;
  const here = isLocal ? placesInUse().filter(({ backend }) => backend !== "docker") : [];
  const unmade = here.filter((place) => !place.isMade());
  const writable = [...others.filter(isAtWork).flatMap(writableOf), ...here.flatMap((place) => place.writable)];
  const waiting = [...others.filter(waits).flatMap(boundOf), ...unmade.flatMap(({ sources }) => sources)];
  return {
    canExchange: (path) => isInside(path, writable, nodeAt),
    isDisturbedBy: async (directory) =>
      (await Promise.all(waiting.map((path) => isInside(path, [directory], nodeAt)))).includes(true),
  };
}

const againMs = 25;
const mostMs = 60_000;

/**
 * Until everything that a command in this directory could exchange has been mounted.
 *
 * @throws RuntimeError where that takes too long.
 */
export async function waitForMounts(
  client: DaemonClient,
  { directory, check, ...look }: LookOptions & { readonly directory: string; readonly check: () => void },
): Promise<void> {
  const until = performance.now() + mostMs;
  while (await (await lookAround(client, look)).isDisturbedBy(directory)) {
    if (performance.now() > until) throw neverMounted(directory);
    await pause(againMs);
    check();
  }
}

/** One of ours that is over may still be bringing its changes back; what is kept is over for good. */
function isAtWork(container: ListedContainer): boolean {
  if (container.State === "exited") return container.Labels?.[keptLabel] === "false" && readMarks(container) !== null;
  return container.State !== "dead";
}

function writableOf(container: ListedContainer): readonly string[] {
  const directory = readMarks(container) === null ? undefined : container.Labels?.[directoryLabel];
  const bound = (container.Mounts ?? []).filter(({ RW }) => RW !== false).flatMap(sourceOf);
  return directory === undefined ? bound : [...bound, directory];
}

function boundOf({ Mounts }: ListedContainer): readonly string[] {
  return (Mounts ?? []).flatMap(sourceOf);
}

function sourceOf({ Type, Source }: NonNullable<ListedContainer["Mounts"]>[number]): readonly string[] {
  return Type === "bind" && Source !== undefined && Source !== "" ? [Source] : [];
}

/**
 * Strictly: a directory that is mounted cannot be exchanged from inside of it. By what directories are as well as by their
 * names, of which one can have several.
 */
async function isInside(path: string, directories: readonly string[], nodeAt: NodeAt): Promise<boolean> {
  if (directories.length === 0) return false;
  const above = directoriesAbove(path);
  if (directories.some((directory) => above.includes(directory))) return true;
  const nodes = new Set(await Promise.all(above.map(nodeAt)));
  const others = await Promise.all(directories.filter((directory) => directory !== path).map(nodeAt));
  return others.some((node) => node !== null && nodes.has(node));
}

function directoriesAbove(path: string): readonly string[] {
  const above = dirname(path);
  return above === path ? [] : [above, ...directoriesAbove(above)];
}

/** What is at a path; `null` where nothing is, or nothing is known. */
type NodeAt = (path: string) => Promise<string | null>;

async function nodeOfPath(path: string): Promise<string | null> {
  try {
    return nodeOf(await stat(path, { bigint: true }));
  } catch {
    return null;
  }
}

/** @throws Error where a part of a real path has become a link, by a command that may be over by now. */
export function checkPath(realPath: string): void {
  const above = holdDirectory(dirname(realPath));
  try {
    if (lstatSync(above.at(basename(realPath))).isSymbolicLink()) throw new Error("it has become a link");
  } finally {
    above.close();
  }
}

function neverMounted(directory: string): RuntimeError {
  const message = `A container that was made for a directory below ${directory} has not been started for ${mostMs / 1000} s, and a command here could exchange that directory: remove the container, docker ps --all --filter status=created`;
  return new RuntimeError("start_failed", message, { backend: "docker" });
}
