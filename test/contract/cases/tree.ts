/** Everything that a command began ends with it: children, their children, daemons. */

import { check, equal, exited, warningCodes } from "../check.ts";
import { type ContractCase, type ContractContext, needsSurvivors } from "../target.ts";

/** Runs a fixture that would go on for ever, and cancels it once it has said that it is ready. */
async function cancelWhenReady(
  context: ContractContext,
  fixture: Parameters<ContractContext["invoke"]>[0],
  args: readonly string[] = [],
) {
  const runtime = await context.runtime();
  const stop = new AbortController();
  for await (const event of context.streamOn(runtime, fixture, args, { signal: stop.signal })) {
    if (event.type === "stdout") stop.abort();
    if (event.type === "finished") return event.output;
  }
  return null;
}

export const treeCases: readonly ContractCase[] = [
  {
    id: "tree-timeout",
    title: "a time limit ends the whole tree, not only the shell",
    needs: needsSurvivors,
    async run({ execute, survivors }) {
      const output = await execute("two-sleepers", [], { timeoutMs: 500 });
      equal([output.outcome, output.stdout], ["timed_out", "ready\n"], "outcome and stdout");
      equal(await survivors(), 0, "processes left");
    },
  },
  {
    id: "tree-cancel",
    title: "cancelling ends the whole tree",
    needs: needsSurvivors,
    async run(context) {
      const output = await cancelWhenReady(context, "two-sleepers");
      equal(output?.outcome, "cancelled", "outcome");
      equal(await context.survivors(), 0, "processes left");
    },
  },
  {
    id: "tree-many",
    title: "fifty children end with their parent",
    needs: needsSurvivors,
    async run(context) {
      const output = await cancelWhenReady(context, "many-children", ["50"]);
      equal(output?.outcome, "cancelled", "outcome");
      equal(await context.survivors(), 0, "processes left");
    },
  },
  {
    id: "tree-background",
    title: "a child left in the background does not hold the result up, and is gone when the result is there",
    needs: needsSurvivors,
    async run({ execute, survivors, scale }) {
      const before = performance.now();
      const output = await execute("background-child", [], { timeoutMs: 60_000 });
      exited(output, 0);
      equal(output.stdout, "started\n", "stdout");
      check(performance.now() - before < 5000 + scale.slackMs, "The result waited for the child in the background");
      equal(await survivors(), 0, "processes left");
    },
  },
  {
    id: "tree-background-again",
    title: "the same holds for executions that follow each other closely",
    needs: needsSurvivors,
    async run({ runtime, executeOn, survivors }) {
      const shared = await runtime();
      for (let round = 0; round < 6; round += 1) {
        exited(await executeOn(shared, "exit-with", ["0"]), 0);
        exited(await executeOn(shared, "background-child"), 0);
        equal(await survivors(), 0, `processes left in round ${round}`);
      }
    },
  },
  {
    id: "tree-daemon",
    title: "a daemon that left its session and its parent is ended too, or the result warns that it may not be",
    needs: needsSurvivors,
    async run({ execute, survivors, endMarked }) {
      const output = await execute("daemon");
      exited(output, 0);
      equal(output.stdout, "ready\n", "stdout");
      if (warningCodes(output).includes("uncontained")) return endMarked();
      equal(await survivors(), 0, "processes left");
    },
  },
  {
    id: "tree-daemon-timeout",
    title: "a time limit ends a daemon as well",
    needs: needsSurvivors,
    async run(context) {
      const output = await cancelWhenReady(context, "daemon-and-sleep");
      equal(output?.outcome, "cancelled", "outcome");
      if (output !== null && warningCodes(output).includes("uncontained")) return context.endMarked();
      equal(await context.survivors(), 0, "processes left");
    },
  },
  {
    id: "tree-term-ignored",
    title: "children that ignore TERM are killed as their parent is",
    needs: needsSurvivors,
    async run(context) {
      const output = await cancelWhenReady(context, "ignore-term");
      equal([output?.outcome, output?.exitCode], ["cancelled", 137], "outcome and exit code");
      equal(await context.survivors(), 0, "processes left");
    },
  },
  {
    id: "tree-background-after-stop",
    title: "a command that ends politely takes what it left in the background with it",
    needs: needsSurvivors,
    async run(context) {
      const output = await cancelWhenReady(context, "trap-term");
      equal([output?.outcome, output?.exitCode], ["cancelled", 3], "outcome and exit code");
      equal(await context.survivors(), 0, "processes left");
    },
  },
];
