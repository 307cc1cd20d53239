/** The scripted way to the first instruction: queue, pull, schedule, start, each with its progress and its failure. */

import { type ErrorCode, RuntimeError } from "../../src/errors.ts";
import type { ProgressFeed } from "../../src/progress-feed.ts";
import type { ExecutionPlan, Leftover, LostCause } from "../../src/types.ts";
import type { MemoryClock } from "./clock.ts";

/** What happens before the first instruction. Times are in milliseconds and 0 where nothing is said. */
export interface MemoryStart {
  readonly queueMs?: number;
  /** Reports of the pull, evenly spread over `pullMs`. */
  readonly pullSteps?: number;
  readonly pullMs?: number;
  readonly scheduleMs?: number;
  /** It never begins: `start` throws, or with `late` the execution's `ended` rejects after all the phases. */
  readonly failWith?: { readonly code: ErrorCode; readonly message?: string; readonly late?: boolean };
}

/** The script of a place. */
export interface MemoryPlace {
  readonly start?: MemoryStart;
  /** What becomes of every command that still runs after so long. */
  readonly loss?: { readonly afterMs: number; readonly cause: LostCause };
  /** Between the end and the release. */
  readonly slowReleaseMs?: number;
  /** What every release names as not removable. */
  readonly leftovers?: readonly Leftover[];
}

/** The error that a place's script asks for. */
export function startFailure(failWith: NonNullable<MemoryStart["failWith"]>, backend: string): RuntimeError {
  return new RuntimeError(failWith.code, failWith.message ?? `The place is scripted to fail: ${failWith.code}`, {
    backend,
  });
}

interface Placing {
  readonly plan: ExecutionPlan;
  readonly clock: MemoryClock;
  readonly progress: ProgressFeed;
  readonly signal: AbortSignal;
}

/** Goes through the phases. Rejects with the signal's reason, or with the scripted failure. */
export async function place(script: MemoryPlace, { plan, clock, progress, signal }: Placing): Promise<void> {
  const { queueMs = 0, pullSteps = 0, pullMs = 0, scheduleMs = 0, failWith } = script.start ?? {};
  if (queueMs > 0) {
    progress.tell({ phase: "queue", message: "Waiting for a place" });
    await clock.pause(queueMs, signal);
  }
  for (let step = 1; step <= pullSteps; step += 1) {
    await clock.pause(pullMs / pullSteps, signal);
    progress.tell({ phase: "pull", message: `Layer ${step} of ${pullSteps}`, fraction: step / pullSteps });
  }
  if (pullSteps === 0 && pullMs > 0) await clock.pause(pullMs, signal);
  if (scheduleMs > 0) {
    progress.tell({ phase: "schedule", message: "Choosing a node" });
    await clock.pause(scheduleMs, signal);
  }
  if (failWith !== undefined) throw startFailure(failWith, plan.backend);
  progress.tell({ phase: "start", message: "Starting" });
}
