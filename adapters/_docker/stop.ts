/** Ends a container's command: politely, after the grace period by force. */

import { pause, soonest } from "../../host/pause.ts";
import type { ContainerCalls } from "./containers.ts";
import { statusOf } from "./daemon.ts";

export interface StopOptions {
  readonly graceMs: number;
  /** Settles when the command is over. */
  readonly over: Promise<unknown>;
  /** Told when force is used. */
  readonly forced: () => void;
  /** Told when force has not helped for so long that nobody is to wait any more. */
  readonly gaveUp: () => void;
}

/** Between two tries where the daemon does not take a signal. */
const againMs = 500;

/** A machine under load takes its time to end a hundred containers; a process that hangs in the kernel never ends. */
const patienceMs = 30_000;

/** Settles when the command is over, or given up. */
export async function stopContainer(
  calls: ContainerCalls,
  { graceMs, over, forced, gaveUp }: StopOptions,
): Promise<void> {
  let isOver = false;
  const ended = over.then(
    () => {
      isOver = true;
    },
    () => {
      isOver = true;
    },
  );
  if (graceMs > 0) {
    await send(calls, "SIGTERM");
    await soonest(ended, graceMs);
  }
  if (isOver) return;
  forced();
  for (const until = performance.now() + patienceMs; !isOver; ) {
    if (performance.now() > until) return gaveUp();
    await send(calls, "SIGKILL");
    await soonest(ended, againMs);
  }
}

/** One that is not running any more, or is not there, needs no signal; what the daemon failed to do is tried again. */
async function send(calls: ContainerCalls, signal: string): Promise<void> {
  try {
    await calls.kill(signal);
  } catch (error) {
    if (statusOf(error) === null) await pause(againMs);
  }
}
