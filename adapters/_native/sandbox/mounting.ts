/**
 * What a sandbox program finds by its name, another command can exchange for a link meanwhile, if it may write the directory
 * above: then a part of the host is mounted that nobody meant. Where that can be, a command is held back until what was
 * mounted has been compared with what was meant.
 */

import { lstatSync, readdirSync, statSync } from "node:fs";
import { basename, dirname } from "node:path";
import { holdDirectory, nodeOf } from "../../../host/held-directory.ts";
import { pause } from "../../../host/pause.ts";
import { placesInUse, usePlace } from "../../../host/places-in-use.ts";
import { messageOf } from "../../../src/errors.ts";
import { hasNeighbours } from "../run-records.ts";
import { isBelow, type SandboxView } from "./view.ts";

/** The making of one sandbox. */
export interface Mounting {
  /** Whether its command may not begin before {@link Mounting.check} has answered. */
  readonly isHeld: boolean;
  /** The program has been started. */
  follow(run: MountingRun): void;
  /**
   * Waits until all is mounted, here and where this command could disturb it.
   *
   * @returns what was mounted in the place of something else; `null`: nothing
   */
  check(): Promise<string | null>;
  /** Nothing of it runs any more. */
  end(): void;
}

/** A sandbox on its way, as the program tells of it. */
export interface MountingRun {
  /** The first process inside; `null` as long as there is none. */
  initPid(): number | null;
  isOver(): boolean;
}

const pollMs = 1;
const mostMs = 5000;

/** By whom a sandbox is made. */
export interface MountingTerms {
  /** This host's, beside those of the user's other hosts: what they run is not known here. */
  readonly ownDirectory: string;
  /** Whether the program can hold a command back. One that cannot compares by itself. */
  readonly canHold: boolean;
}

/** @throws Error where a link stands already on the way to something that is to be mounted */
export function beginMounting({ mounts }: SandboxView, { ownDirectory, canHold }: MountingTerms): Mounting {
  const hosts = mounts.flatMap((mount) => (mount.kind === "readonly" || mount.kind === "writable" ? [mount] : []));
  const sources = hosts.map(({ source }) => source);
  const writable = hosts.filter(({ kind, isPin }) => kind === "writable" && isPin !== true).map(({ source }) => source);
  const others = placesInUse();
  const foreign = others.flatMap((other) => other.writable);
  // Where another host's command works is not known: it may be above anything that is not the system's.
  const isDoubtful = hasNeighbours(ownDirectory);
  const pins = (canHold ? hosts : [])
    .filter(({ source, isSystem }) => isSystem !== true && (isDoubtful || isInside(source, foreign)))
    .map(({ at, source }) => ({ at, node: nodeAt(source) }));
  const disturbed = others.filter((other) => other.sources.some((source) => isInside(source, writable)));
  let run: MountingRun | null = null;
  let hasEnded = false;
  const isOver = () => hasEnded || run?.isOver() === true;
  const isMade = () => {
    if (!canHold || isOver()) return true;
    if (run === null) return false;
    const pid = run.initPid();
    return pid !== null && isPivoted(pid);
  };
  const leave = usePlace({ backend: "native", sources, writable, isMade });
  return {
    isHeld: canHold && (pins.length > 0 || disturbed.some((other) => !other.isMade())),
    follow: (started) => {
      run = started;
    },
    check: async () => {
      const until = performance.now() + mostMs;
      await waitFor(() => isMade() || performance.now() > until);
      if (!isMade()) return "It was not made in time";
      const pid = run?.initPid() ?? null;
      const wrong = pid === null ? undefined : pins.find(({ at, node }) => mountedAt(pid, at) !== node);
      if (wrong !== undefined && !isOver()) return `Something else was mounted at ${wrong.at}`;
      // However long the other takes: this command's own time limit runs, and ends the waiting.
      await waitFor(() => isOver() || disturbed.every((other) => other.isMade()));
      return null;
    },
    end: () => {
      hasEnded = true;
      leave();
    },
  };
}

async function waitFor(isReached: () => boolean): Promise<void> {
  while (!isReached()) await pause(pollMs);
}

/** Strictly: a directory that is mounted cannot be exchanged from inside of it. */
function isInside(path: string, directories: readonly string[]): boolean {
  return directories.some((directory) => path !== directory && isBelow(path, directory));
}

/** What is at a real path, reached without a link. */
function nodeAt(path: string): string {
  if (path === "/") return nodeOf(statSync("/", { bigint: true }));
  const above = holdDirectory(dirname(path));
  try {
    const stats = lstatSync(above.at(basename(path)), { bigint: true });
    if (stats.isSymbolicLink()) throw new Error(`${path} has become a link`);
    return nodeOf(stats);
  } catch (error) {
    throw new Error(`${path} cannot be shown: ${messageOf(error)}`, { cause: error });
  } finally {
    above.close();
  }
}

/** Whether the process has a root of its own, and not the one that bubblewrap makes it from (bubblewrap.c, `main`). */
function isPivoted(pid: number): boolean {
  try {
    const root = `/proc/${pid}/root`;
    if (nodeOf(statSync(root, { bigint: true })) === nodeOf(statSync("/", { bigint: true }))) return false;
    const names = readdirSync(root);
    return !(names.includes("newroot") && names.includes("oldroot"));
  } catch {
    return false;
  }
}

function mountedAt(pid: number, at: string): string | null {
  try {
    return nodeOf(statSync(`/proc/${pid}/root${at}`, { bigint: true }));
  } catch {
    return null;
  }
}
