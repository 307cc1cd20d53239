/**
 * Lets one thread of this process at a time pass through cgroups of version 2. There a thread takes all others along, so two that
 * start a command at one moment would give birth to them in each other's cgroups. JavaScript's threads share nothing here
 * but the file system: a link that only one of them can make costs 15 µs.
 */

import { lstatSync, symlinkSync, unlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** Entering and spawning take some 10 ms. Whoever has the turn for longer than this was ended in the midst of it. */
const mostWaitMs = 2000;
const napMs = 0.5;
const nap = new Int32Array(new SharedArrayBuffer(4));

/** Does something when no other thread of this process passes through. Turns do not nest. */
export function inTurn<Result>(work: () => Result, directory: string = tmpdir()): Result {
  return inTurnAt(join(directory, `prx-runtime-turn-${process.getuid?.() ?? ""}-${process.pid}`), work);
}

/** Does something when nobody else does who takes turns at this path. */
export function inTurnAt<Result>(path: string, work: () => Result): Result {
  const endTurn = takeTurn(path);
  try {
    return work();
  } finally {
    endTurn();
  }
}

function takeTurn(path: string): () => void {
  let giveUp = 0;
  for (;;) {
    try {
      symlinkSync("taken", path);
      return () => tryUnlink(path);
    } catch (error) {
      // Where no link can be made, or another user has made it, there are no turns: most hosts start commands from one thread.
      if (!(error instanceof Error && "code" in error && error.code === "EEXIST" && isOwn(path))) return () => {};
    }
    // Only where there is somebody to wait for: Node loads its clock first, which takes as long as a command.
    giveUp ||= performance.now() + mostWaitMs;
    if (performance.now() < giveUp) Atomics.wait(nap, 0, 0, napMs);
    else if (!tryUnlink(path)) return () => {};
  }
}

/** One that has just gone is as good as our own: the next attempt tells. */
function isOwn(path: string): boolean {
  const owner = lstatSync(path, { throwIfNoEntry: false })?.uid;
  return owner === undefined || owner === process.getuid?.();
}

function tryUnlink(path: string): boolean {
  try {
    unlinkSync(path);
    return true;
  } catch {
    return false;
  }
}
