/** Whether a daemon has the very directory of this machine: it may run elsewhere and have one of the same name. */

import { randomUUID } from "node:crypto";
import { closeSync, constants, openSync, unlinkSync } from "node:fs";
import { posix } from "node:path";
import { holdDirectory } from "../../host/held-directory.ts";
import type { ContainerCalls } from "./containers.ts";
import { statusOf } from "./daemon.ts";

/** Roots that this daemon was seen to have as this machine has them. */
export type KnownMounts = Set<string>;

const mostKnown = 1000;
const { O_CREAT, O_EXCL, O_WRONLY } = constants;

/**
 * Puts an empty file of a name that nobody else can have into the directory, looks for it in the container, and removes it.
 * Where no file can be made it is not known, and the answer is no.
 */
export async function isSameDirectory(
  calls: ContainerCalls,
  root: string,
  at: string,
  known: KnownMounts,
): Promise<boolean> {
  if (known.has(root)) return true;
  const name = `.prx-runtime-${randomUUID()}`;
  const held = holdDirectory(root);
  try {
    if (!makeFile(held.at(name))) return false;
    try {
      await calls.stat(posix.join(at, name));
    } catch (error) {
      if (statusOf(error) === 404) return false;
      throw error;
    } finally {
      removeFile(held.at(name));
    }
  } finally {
    held.close();
  }
  if (known.size < mostKnown) known.add(root);
  return true;
}

function makeFile(place: string): boolean {
  try {
    closeSync(openSync(place, O_CREAT | O_EXCL | O_WRONLY, 0o600));
    return true;
  } catch {
    return false;
  }
}

function removeFile(place: string): void {
  try {
    unlinkSync(place);
  } catch {
    // Somebody else has.
  }
}
