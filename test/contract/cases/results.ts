/** What a result says of an ordinary command. */

import { between, check, equal, exited } from "../check.ts";
import { type ContractCase, needsStderr } from "../target.ts";

export const resultCases: readonly ContractCase[] = [
  {
    id: "result-streams",
    title: "stdout and stderr come apart, with bytes, totals and names",
    needs: needsStderr,
    async run(context) {
      const runtime = await context.runtime();
      const output = await context.executeOn(runtime, "print-both");
      exited(output, 0);
      equal(output.stdout, "out", "stdout");
      equal(output.stderr, "err", "stderr");
      equal([...output.stdoutBytes], [111, 117, 116], "stdoutBytes");
      equal([output.stdoutTotalBytes, output.stderrTotalBytes], [3, 3], "totals");
      equal([output.stdoutTruncated, output.stderrTruncated], [false, false], "truncated");
      equal(output.backend, runtime.name, "backend");
      equal([output.signal, output.cause], [null, null], "signal and cause");
      equal(output.files, {}, "files");
      check(output.id !== "", "The execution has no id");
    },
  },
  {
    id: "result-codes",
    title: "an exit code is a result, and one that looks like a timeout or a signal is only a number",
    async run({ execute }) {
      for (const code of [0, 1, 2, 3, 124, 125, 126, 127, 137, 143, 255]) {
        const output = await execute("exit-with", [String(code)], { timeoutMs: 20_000 });
        exited(output, code);
        equal(output.signal, null, `signal of exit ${code}`);
      }
    },
  },
  {
    id: "result-signals",
    title: "a command that a signal ended has its name and 128 + n",
    async run({ execute, target }) {
      for (const [name, number] of [
        ["KILL", 9],
        ["TERM", 15],
        ["USR1", 10],
      ] as const) {
        const output = await execute("signal-self", [name]);
        exited(output, 128 + number);
        equal(output.signal, target.capabilities.reportsSignal ? `SIG${name}` : null, "signal");
      }
    },
  },
  {
    id: "result-duration",
    title: "the duration is the command's own, by a monotonic clock, and other times stand apart",
    async run({ execute, scale }) {
      const { durationMs, timings } = await execute("sleep", ["0.5"]);
      between(durationMs, [480, 700 + scale.slackMs], "durationMs");
      for (const [name, ms] of Object.entries(timings)) between(ms, [0, 120_000], name);
    },
  },
  {
    id: "result-parallel",
    title: "parallel executions keep their own ids, outputs and codes",
    async run({ runtime, executeOn, scale }) {
      const shared = await runtime();
      const numbers = Array.from({ length: scale.parallel }, (_, index) => index);
      const outputs = await Promise.all(
        numbers.map((index) => executeOn(shared, "named", [`id-${index}`, String(index % 200), "0.2"])),
      );
      for (const [index, output] of outputs.entries()) {
        exited(output, index % 200);
        equal(output.stdout, `id-${index}\n`, "stdout");
      }
      equal(new Set(outputs.map(({ id }) => id)).size, scale.parallel, "distinct ids");
    },
  },
  {
    id: "result-several-runtimes",
    title: "runtimes beside each other do not disturb one another",
    async run({ runtime, executeOn }) {
      const [one, two] = await Promise.all([runtime(), runtime()]);
      const [first, second] = await Promise.all([
        executeOn(one, "exit-with", ["4"]),
        executeOn(two, "exit-with", ["5"]),
      ]);
      exited(first, 4);
      exited(second, 5);
      await one.close();
      exited(await executeOn(two, "exit-with", ["6"]), 6);
    },
  },
];
