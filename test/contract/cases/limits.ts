/** Limits that a backend says it keeps, put to the test. */

import type { RequestedLimits } from "../../../src/runtime-types.ts";
import { between, check, equal, exited } from "../check.ts";
import { type ContractCase, type ContractContext, needsPrograms } from "../target.ts";

/** Whether the limit is kept here. Where it is not, other cases see to it that it is refused. */
async function keeps({ runtime, invoke }: ContractContext, clause: string, limits: RequestedLimits): Promise<boolean> {
  const { command, args } = invoke("exit-with", ["0"]);
  const { clauses } = await (await runtime()).explain(command, args, { limits });
  const grade = clauses.find((report) => report.clause === clause)?.verdict.grade;
  return grade === "enforced" || grade === "stronger";
}

export const limitCases: readonly ContractCase[] = [
  {
    id: "limit-memory",
    title: "a command beyond its memory is ended, and the outcome says why",
    async run(context) {
      const limits = { memoryBytes: 64 * 1024 * 1024 };
      if (!(await keeps(context, "memory", limits))) return;
      const output = await context.execute("eat-memory", ["300000000"], { limits, timeoutMs: 60_000 });
      equal([output.outcome, output.exitCode], ["out_of_memory", 137], "outcome and exit code");
      exited(await context.execute("exit-with", ["137"], { limits }), 137);
    },
  },
  {
    id: "limit-pids",
    title: "a command cannot begin more processes than it may",
    needs: needsPrograms,
    async run(context) {
      const limits = { pids: 10 };
      if (!(await keeps(context, "pids", limits))) return;
      const script = "i=0; while [ $i -lt 40 ]; do sleep 300 & i=$((i + 1)); done; echo all";
      const output = await (await context.runtime()).execute(
        "sh",
        ["-c", script],
        context.marked({ limits, timeoutMs: 60_000 }),
      );
      check(output.stdout !== "all\n", "All of 40 processes were begun");
      equal(await context.survivors(), 0, "processes left");
    },
  },
  {
    id: "limit-cpu-time",
    title: "a command that has used its processor time up is ended",
    needs: needsPrograms,
    async run(context) {
      const limits = { cpuTimeMs: 1000 };
      if (!(await keeps(context, "cpu_time", limits))) return;
      const runtime = await context.runtime();
      const output = await runtime.execute(
        "sh",
        ["-c", "while :; do :; done"],
        context.marked({ limits, timeoutMs: 60_000 }),
      );
      equal(output.outcome, "completed", "outcome");
      check(output.exitCode !== 0, "An endless loop exited with 0");
      between(output.durationMs, [900, 20_000], "durationMs");
      exited(await runtime.execute("sh", ["-c", "sleep 1.5"], context.marked({ limits })), 0);
    },
  },
  {
    id: "limit-files",
    title: "a command cannot open more files than it may",
    needs: needsPrograms,
    async run(context) {
      const limits = { openFiles: 40 };
      if (!(await keeps(context, "files", limits))) return;
      const output = await (await context.runtime()).execute("sh", ["-c", "ulimit -n"], context.marked({ limits }));
      exited(output, 0);
      equal(output.stdout, "40\n", "limit as the command sees it");
    },
  },
];
