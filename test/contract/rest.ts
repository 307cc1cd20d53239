/** Counts before the suite against counts after it: open files, timers, processes, temporary files. */

import { ContractViolation } from "./check.ts";
import { runCase } from "./context.ts";
import type { ContractCase, ContractTarget } from "./target.ts";

/** Runtimes let go of some things late; what is still there after so long is a leak. */
const patienceMs = 5000;

/**
 * Touches everything once, so that what a runtime opens for good is there before the first count. What it opens
 * later, at a time of its own, is what a target's `restTolerance` is for.
 */
const warmUp: ContractCase = {
  id: "warm-up",
  title: "warm-up",
  async run({ runtime, executeOn }) {
    const shared = await runtime();
    await Promise.all(Array.from({ length: 12 }, () => executeOn(shared, "print-both", [], { stdin: "x" })));
    for (const timeoutMs of [1, 20, 0, 0]) await executeOn(shared, "sleep", ["0.1"], { timeoutMs });
    for await (const _ of shared.stream("no-such-command-here")) break;
  },
};

/** The two ends of a check. */
export interface AtRest {
  begin(): Promise<void>;
  end(): Promise<void>;
}

export function checkAtRest(target: ContractTarget): AtRest {
  let before: Readonly<Record<string, number>> = {};
  return {
    async begin() {
      await runCase(warmUp, target).catch(() => {});
      before = (await target.atRest?.()) ?? {};
    },
    async end() {
      const deadline = performance.now() + patienceMs;
      for (;;) {
        const after = (await target.atRest?.()) ?? {};
        const grown = Object.entries(after).filter(
          ([name, count]) => count > (before[name] ?? 0) + (target.restTolerance?.[name] ?? 0),
        );
        if (grown.length === 0) return;
        if (performance.now() > deadline) {
          const list = grown.map(([name, count]) => `${name}: ${before[name] ?? 0} before, ${count} after`);
          throw new ContractViolation(`Something was left behind: ${list.join("; ")}`);
        }
        await new Promise((resolve) => setTimeout(resolve, 100));
      }
    },
  };
}
