/** The scripted way to the first instruction: queue, pull, schedule, start, each with its progress and its failure. */

import { type ErrorCode, RuntimeError } from "../../src/errors.ts";
import type { ExecutionPlan, Leftover, LostCause, Progress } from "../../src/types.ts";
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

/** Progress for any number of readers; each sees all of it. */
export class ProgressFeed implements AsyncIterable<Progress> {
  readonly #steps: Progress[] = [];
  #over = false;
  #change = Promise.withResolvers<void>();

  tell(step: Progress): void {
    this.#steps.push(step);
    this.#wake();
  }

  end(): void {
    this.#over = true;
    this.#wake();
  }

  #wake(): void {
    this.#change.resolve();
    this.#change = Promise.withResolvers<void>();
  }

  async *[Symbol.asyncIterator](): AsyncIterator<Progress> {
    for (let at = 0; ; ) {
      const step = this.#steps[at];
      if (step !== undefined) {
        at += 1;
        yield step;
      } else if (this.#over) return;
      else await this.#change.promise;
    }
  }
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
