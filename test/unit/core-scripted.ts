/** An execution whose every step is a test's own, and the supervision of it. */

import { type Job, type Listener, supervise } from "../../src/supervise.ts";
import type { CollectedFile, Execution, ExecutionPlan, Exit, Leftover, RuntimeAdapter } from "../../src/types.ts";
import { noIo, planFor } from "./memory-plan.ts";

type Controller = ReadableStreamDefaultController<Uint8Array>;

/** A running command, from the side of its platform. */
export interface Script {
  readonly execution: Execution;
  readonly stdout: Controller;
  readonly stderr: Controller;
  /** What was written to its stdin. */
  readonly input: Uint8Array[];
  readonly ended: PromiseWithResolvers<Exit>;
  readonly outputs: PromiseWithResolvers<readonly CollectedFile[]>;
  readonly released: PromiseWithResolvers<readonly Leftover[]>;
  /** The command is over and nothing of it is left. */
  end(exit: Exit, ...leftovers: readonly Leftover[]): void;
}

export function scriptOf(plan: ExecutionPlan, progress: Execution["progress"] = nothing()): Script {
  const controllers: Controller[] = [];
  const output = () => new ReadableStream<Uint8Array>({ start: (controller) => void controllers.push(controller) });
  const input: Uint8Array[] = [];
  const ended = Promise.withResolvers<Exit>();
  const outputs = Promise.withResolvers<readonly CollectedFile[]>();
  const released = Promise.withResolvers<readonly Leftover[]>();
  const execution: Execution = {
    ref: { backend: plan.backend, id: plan.id, owner: plan.owner, handle: plan.id },
    ...{ stdout: output(), stderr: output(), progress },
    stdin: new WritableStream<Uint8Array>({ write: (chunk) => void input.push(chunk) }),
    ...{ ended: ended.promise, outputs: outputs.promise, released: released.promise },
  };
  const [stdout, stderr] = controllers as [Controller, Controller];
  return {
    ...{ execution, stdout, stderr, input, ended, outputs, released },
    end: (exit, ...leftovers) => {
      ended.resolve(exit);
      stdout.close();
      stderr.close();
      outputs.resolve([]);
      released.resolve(leftovers);
    },
  };
}

async function* nothing() {}

/** What can be said of a supervision. */
export interface Given {
  readonly plan?: Partial<ExecutionPlan>;
  readonly progress?: Execution["progress"];
  readonly job?: Partial<Omit<Job, "plan" | "adapter">>;
  readonly listener?: Partial<Listener>;
  /** In place of a start that answers the script. */
  readonly start?: RuntimeAdapter["start"];
}

/** A supervision that has begun, and all that was told on its way. */
export function supervised(given: Given = {}) {
  const plan = planFor(["true"], given.plan);
  const script = scriptOf(plan, given.progress);
  const told = { starts: 0, begun: 0, stdout: "", stderr: "", stop: undefined as AbortSignal | undefined };
  const decode = (bytes: Uint8Array) => new TextDecoder().decode(bytes);
  const adapter = {
    start: (...args: Parameters<RuntimeAdapter["start"]>) => {
      told.starts += 1;
      told.stop = args[2];
      return given.start?.(...args) ?? Promise.resolve(script.execution);
    },
  } as RuntimeAdapter;
  const ending = supervise({
    ...{ plan, adapter, io: noIo, cancels: [], now: () => performance.now() },
    ...given.job,
    listener: {
      stdout: (chunk) => {
        told.stdout += decode(chunk);
      },
      stderr: (chunk) => {
        told.stderr += decode(chunk);
      },
      started: () => {
        told.begun += 1;
      },
      ...given.listener,
    },
  });
  ending.catch(() => {});
  return { plan, script, told, ending };
}

/** Lets everything run that waits for nothing but its turn. */
export function settle(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, 2));
}
