/** Ends everything of an execution: politely when asked to, then by force; and what is left after the command, at once. */

import { longestTimerMs, pause, yieldToOthers } from "../../host/pause.ts";
import type { ExitKind, Leftover } from "../../src/types.ts";
import type { Cell } from "./containment.ts";

const pollMs = 10;
/** A namespace is gone within some milliseconds after its first process; a busy machine takes longer. */
const collapseMs = 1000;
/** Most are gone sooner than the shortest timer fires. */
const timerlessMs = 3;
/** A killed process can stay for as long as the kernel holds it in a system call; then it is named instead of waited for. */
const giveUpMs = 5000;

/** The end of a tree. */
export interface TreeEnd {
  /** Whether force was used before the command itself was over. */
  readonly killed: boolean;
  /** Nothing of it runs any more, or what does is named. Never rejects. */
  readonly emptied: Promise<readonly Leftover[]>;
}

/** How a tree is ended. */
export interface StopTerms {
  readonly signal: AbortSignal;
  readonly graceMs: number;
  /** The kernel ends what is left with the first process, which takes it a moment. @default false */
  readonly collapses?: boolean;
  /** Whether there is a command that could be asked. @default always */
  readonly hasBegun?: (() => boolean) | undefined;
}

export function endTree(
  cell: Cell,
  exited: Promise<ExitKind>,
  { signal, graceMs, collapses = false, hasBegun }: StopTerms,
): TreeEnd {
  let over = false;
  let killed = false;
  let graceTimer: ReturnType<typeof setTimeout> | undefined;
  let graceUntil = 0;
  const onStop = () => {
    if (hasBegun?.() === false) return cell.signal("SIGKILL");
    cell.signal("SIGTERM");
    graceUntil = performance.now() + graceMs;
    graceTimer = setTimeout(
      () => {
        if (!over) killed = true;
        cell.signal("SIGKILL");
      },
      Math.min(graceMs, longestTimerMs),
    );
  };
  if (signal.aborted) onStop();
  else signal.addEventListener("abort", onStop, { once: true });

  const emptied = exited.then(async (): Promise<readonly Leftover[]> => {
    over = true;
    // Those who were asked politely keep their time to finish, although the command itself was quicker.
    while (graceUntil > 0 && performance.now() < graceUntil && !cell.isEmpty()) await pause(pollMs);
    clearTimeout(graceTimer);
    signal.removeEventListener("abort", onStop);
    if (collapses) await collapse(cell);
    return killRest(cell);
  });
  return {
    get killed() {
      return killed;
    },
    emptied,
  };
}

/** Nobody has to be killed who is dying: whoever does takes a cgroup for one in which something resisted. */
async function collapse(cell: Cell): Promise<void> {
  const began = performance.now();
  for (let waited = 0; waited < collapseMs && !cell.isEmpty(); waited = performance.now() - began) {
    await (waited < timerlessMs ? yieldToOthers() : pause(1));
  }
}

async function killRest(cell: Cell): Promise<readonly Leftover[]> {
  if (cell.isEmpty()) return [];
  const until = performance.now() + giveUpMs;
  do {
    cell.signal("SIGKILL");
    await pause(pollMs / 5);
    if (cell.isEmpty()) return [];
  } while (performance.now() < until);
  return [
    { kind: "processes", name: "of the command", reason: "They were killed but the kernel has not let go of them" },
  ];
}
