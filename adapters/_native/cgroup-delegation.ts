/**
 * Hands controllers down in version 2, so that leaves can have limits. A cgroup that holds processes hands none down, unless it is
 * the root, so the host first takes a seat of its own beside its leaves, and what it has begun elsewhere in its cgroup with it.
 *
 * This is done when the first limit is needed, and not at every start: it changes the cgroup in which the host was put, for
 * everybody who looks at it, and takes the kernel some grace periods. Whether it can be done is looked at once, at the start, by
 * `obstacleTo`, so a limit that cannot be kept is refused before anything runs.
 *
 * What was done is written nowhere but in the cgroup file system, where all runtimes of all hosts see it: whoever removes the
 * last trunk undoes it, and so does the sweep after a crash. No seat ever has a limit, and nothing in a seat is ever killed.
 *
 * Source: "No Internal Process Constraint" and "Delegation" in https://docs.kernel.org/admin-guide/cgroup-v2.html
 */

import { existsSync, mkdirSync, readdirSync } from "node:fs";
import { processesIn, readWords, removeCgroup, tryWrite } from "./cgroup-files.ts";
import { isTrunkName, markerName, seatName } from "./cgroup-names.ts";
import { handsDown, isRoot, sharedWith, strangersIn } from "./cgroup-obstacles.ts";
import { inTurn } from "./cgroup-turn.ts";

/** What limits need. CPU time needs none: version 2 counts it in every cgroup. */
export const limitControllers: readonly string[] = ["memory", "pids"];

/** Processes may be born while others are moved, but not for ever. */
const mostRounds = 50;

/** Where a host of this cgroup belongs. */
export function seatIn(home: string): string {
  const seat = `${home}/${seatName}`;
  return existsSync(seat) ? seat : home;
}

/**
 * Makes a cgroup hand the controllers down that it has, of those that are wanted.
 *
 * @throws Error when it cannot; then nothing is changed.
 */
export function handDown(home: string, wanted: readonly string[] = limitControllers): void {
  const given = readWords(`${home}/cgroup.controllers`);
  const missing = wanted.filter((name) => given.includes(name) && !handsDown(home, name));
  if (missing.length === 0) return;
  if (isRoot(home)) handDownFromRoot(home, missing);
  else inTurn(() => handDownFromSeat(home, missing));
}

function handDownFromSeat(home: string, missing: readonly string[]): void {
  const seat = `${home}/${seatName}`;
  const first = !existsSync(seat);
  try {
    mkdirSync(seat, { recursive: true });
    for (let round = 0; round < mostRounds; round += 1) {
      const strangers = strangersIn(home);
      if (strangers.length > 0) throw new Error(sharedWith(home, strangers));
      moveAll(home, seat);
      if (control(home, "+", missing)) return;
    }
    throw new Error(`The kernel does not let the cgroup ${home} hand ${missing.join(" and ")} down`);
  } catch (error) {
    if (first) leaveSeat(home, missing);
    throw error;
  }
}

/**
 * Makes a trunk hand on what it was handed: it holds no process itself.
 *
 * @throws Error when it cannot.
 */
export function passOn(trunk: string, wanted: readonly string[] = limitControllers): void {
  const given = readWords(`${trunk}/cgroup.controllers`);
  const missing = wanted.filter((name) => given.includes(name));
  if (!control(trunk, "+", missing))
    throw new Error(`The kernel does not let ${trunk} hand ${missing.join(" and ")} on`);
}

/** Nobody needs to move, but what was handed down before must stay so afterwards. */
function handDownFromRoot(home: string, missing: readonly string[]): void {
  for (const name of missing) {
    const marker = `${home}/${markerName(name)}`;
    mkdirSync(marker, { recursive: true });
    if (control(home, "+", [name])) continue;
    removeCgroup(marker);
    throw new Error(`The kernel does not let the root cgroup hand ${name} down`);
  }
}

/** Undoes {@link handDown} when no trunk is left. Answers what should be gone and is not. */
export function releaseHome(home: string, handed: readonly string[] = limitControllers): readonly string[] {
  const names = namesIn(home);
  if (names.some(isTrunkName)) return [];
  const markers = handed.filter((name) => names.includes(markerName(name)));
  const left = markers.filter((name) => !control(home, "-", [name]) || !removeCgroup(`${home}/${markerName(name)}`));
  const stuck = left.map((name) => `${home}/${markerName(name)}`);
  return names.includes(seatName) && !inTurn(() => leaveSeat(home, handed)) ? [...stuck, `${home}/${seatName}`] : stuck;
}

/** Everybody goes back to where they were. Answers whether the seat is gone. */
function leaveSeat(home: string, handed: readonly string[]): boolean {
  const seat = `${home}/${seatName}`;
  const still = handed.filter((name) => handsDown(home, name));
  // Another host may just begin to need them.
  if (!control(home, "-", still)) return false;
  for (let round = 0; round < mostRounds; round += 1) {
    moveAll(seat, home);
    if (removeCgroup(seat)) return true;
  }
  return false;
}

function moveAll(from: string, to: string): void {
  // One that cannot be moved may have ended.
  for (const pid of processesIn(from)) tryWrite(`${to}/cgroup.procs`, String(pid));
}

function control(home: string, sign: "+" | "-", names: readonly string[]): boolean {
  return names.length === 0 || tryWrite(`${home}/cgroup.subtree_control`, names.map((name) => sign + name).join(" "));
}

function namesIn(directory: string): readonly string[] {
  try {
    return readdirSync(directory);
  } catch {
    return [];
  }
}
