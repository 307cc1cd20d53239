/** Cancelling: before, during and after; the first cause wins; closing is cancelling all. */

import { check, equal, exited, rejects } from "../check.ts";
import type { ContractCase } from "../target.ts";

/** An `AbortSignal` that counts who listens to it. */
function countedSignal(): { readonly controller: AbortController; listeners(): number } {
  const controller = new AbortController();
  const { signal } = controller;
  const add = signal.addEventListener.bind(signal);
  const remove = signal.removeEventListener.bind(signal);
  const known = new Set<unknown>();
  signal.addEventListener = (...args: Parameters<typeof add>) => {
    known.add(args[1]);
    add(...args);
  };
  signal.removeEventListener = (...args: Parameters<typeof remove>) => {
    known.delete(args[1]);
    remove(...args);
  };
  return { controller, listeners: () => known.size };
}

export const cancelCases: readonly ContractCase[] = [
  {
    id: "cancel-before",
    title: "a signal that is already aborted: nothing begins",
    async run({ execute, survivors }) {
      const error = await rejects(execute("sleep", ["30"], { signal: AbortSignal.abort() }), "cancelled_before_start");
      equal(error.started, "no", "started");
      equal(await survivors(), 0, "processes left");
    },
  },
  {
    id: "cancel-during",
    title: "aborting stops the command; what it wrote is kept",
    async run({ runtime, streamOn }) {
      const shared = await runtime();
      const stop = new AbortController();
      let heard = "";
      for await (const event of streamOn(shared, "two-sleepers", [], { signal: stop.signal })) {
        if (event.type === "stdout") {
          heard += new TextDecoder().decode(event.data);
          stop.abort();
        }
        if (event.type === "finished") equal(event.output.outcome, "cancelled", "outcome");
      }
      equal(heard, "ready\n", "stdout");
      const timer = new AbortController();
      const endings: unknown[] = [];
      for await (const event of streamOn(shared, "sleep", ["30"], { signal: timer.signal })) {
        if (event.type === "started") setTimeout(() => timer.abort(), 300);
        if (event.type === "finished") endings.push([event.output.outcome, event.output.exitCode]);
      }
      equal(endings, [["cancelled", 143]], "outcome and exit code");
    },
  },
  {
    id: "cancel-after",
    title: "aborting after the end changes nothing, and the signal is let go",
    async run({ runtime, executeOn }) {
      const { controller, listeners } = countedSignal();
      const shared = await runtime();
      for (let round = 0; round < 5; round += 1) {
        exited(await executeOn(shared, "exit-with", ["5"], { signal: controller.signal }), 5);
      }
      equal(listeners(), 0, "listeners left on the caller's signal");
      controller.abort();
      await rejects(executeOn(shared, "no-newline", [], { signal: controller.signal }), "cancelled_before_start");
    },
  },
  {
    id: "cancel-first-cause",
    title: "a time limit that passes while a cancelled command takes its time does not change the outcome",
    async run({ runtime, streamOn }) {
      const shared = await runtime({ runtime: { kill_grace_secs: 0.8 } });
      const stop = new AbortController();
      const options = { signal: stop.signal, timeoutMs: 1200 };
      for await (const event of streamOn(shared, "ignore-term", [], options)) {
        if (event.type === "stdout") setTimeout(() => stop.abort(), 100);
        if (event.type === "finished") equal(event.output.outcome, "cancelled", "outcome");
      }
    },
  },
  {
    id: "timeout-first-cause",
    title: "cancelling a command that is already being ended for its time does not change the outcome",
    async run({ runtime, streamOn }) {
      const shared = await runtime({ runtime: { kill_grace_secs: 1 } });
      const stop = new AbortController();
      for await (const event of streamOn(shared, "ignore-term", [], { signal: stop.signal, timeoutMs: 700 })) {
        if (event.type === "started") setTimeout(() => stop.abort(), 1100);
        if (event.type === "finished") equal(event.output.outcome, "timed_out", "outcome");
      }
    },
  },
  {
    id: "close-ends-all",
    title: "closing ends what runs, waits until it is gone, and refuses what comes later",
    async run({ runtime, executeOn, streamOn, survivors }) {
      const shared = await runtime();
      const stream = streamOn(shared, "two-sleepers");
      while ((await stream.next()).value?.type !== "stdout");
      const running = [1, 2, 3].map(() => executeOn(shared, "sleep", ["30"]));
      const results = Promise.allSettled(running);
      const before = performance.now();
      await shared.close();
      check(performance.now() - before < 20_000, "Closing waited for the commands");
      equal(await survivors(), 0, "processes left");
      for (const result of await results) {
        if (result.status === "fulfilled") equal(result.value.outcome, "cancelled", "outcome");
        else await rejects(Promise.reject(result.reason), "cancelled_before_start");
      }
      await stream.return?.();
      await rejects(executeOn(shared, "exit-with", ["0"]), "closed");
      await rejects(streamOn(shared, "exit-with", ["0"]).next(), "closed");
      await shared.close();
    },
  },
  {
    id: "close-disposes",
    title: "a runtime disposes of itself",
    async run({ runtime, executeOn }) {
      const shared = await runtime();
      {
        await using scoped = shared;
        exited(await executeOn(scoped, "exit-with", ["0"]), 0);
      }
      await rejects(executeOn(shared, "exit-with", ["0"]), "closed");
    },
  },
  {
    id: "available",
    title: "a runtime that was made says that its backend can be used",
    async run({ runtime }) {
      equal(await (await runtime()).isAvailable(), true, "isAvailable");
    },
  },
];
