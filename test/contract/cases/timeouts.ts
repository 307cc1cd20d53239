/** Time limits: told by a flag, first polite and then by force, exact over the whole range of numbers. */

import { between, check, equal, exited, includes, rejects, warningCodes } from "../check.ts";
import type { ContractCase } from "../target.ts";

export const timeoutCases: readonly ContractCase[] = [
  {
    id: "timeout-flag",
    title: "a command beyond its limit is ended, and the outcome says why",
    async run({ execute, scale }) {
      const output = await execute("sleep", ["30"], { timeoutMs: 300 });
      equal(output.outcome, "timed_out", "outcome");
      equal(output.exitCode, 143, "exit code after TERM");
      between(output.durationMs, [290, 1000 + scale.slackMs], "durationMs");
    },
  },
  {
    id: "timeout-not-by-number",
    title: "an exit code of 124 within the limit is no timeout",
    async run({ execute }) {
      exited(await execute("exit-with", ["124"], { timeoutMs: 20_000 }), 124);
      exited(await execute("exit-with", ["143"], { timeoutMs: 20_000 }), 143);
    },
  },
  {
    id: "timeout-term-ignored",
    title: "a command that ignores TERM is killed after the grace period; what it wrote is kept",
    async run({ runtime, executeOn, scale, target }) {
      const shared = await runtime({ runtime: { kill_grace_secs: 0.3 } });
      const output = await executeOn(shared, "ignore-term", [], { timeoutMs: 700 });
      equal(output.outcome, "timed_out", "outcome");
      equal([output.exitCode, output.stdout], [137, "ready\n"], "exit code and stdout");
      if (target.capabilities.reportsSignal) equal(output.signal, "SIGKILL", "signal");
      between(output.durationMs, [950, 2000 + scale.slackMs], "durationMs");
    },
  },
  {
    id: "timeout-term-honoured",
    title: "a command that ends by itself within the grace period has its own exit code and last words",
    async run({ runtime, executeOn, scale }) {
      const shared = await runtime({ runtime: { kill_grace_secs: 10 } });
      const before = performance.now();
      const output = await executeOn(shared, "trap-term", [], { timeoutMs: 700 });
      equal(output.outcome, "timed_out", "outcome");
      equal([output.exitCode, output.signal, output.stdout], [3, null, "ready\nbye\n"], "exit code, signal and stdout");
      between(output.durationMs, [690, 3000 + scale.slackMs], "durationMs");
      between(performance.now() - before, [690, 4000 + scale.slackMs], "time until the result is there");
    },
  },
  {
    id: "timeout-large",
    title: "limits beyond the range of timers do not fire at once",
    async run({ execute }) {
      for (const timeoutMs of [2 ** 31 - 1, 2 ** 31, 2 ** 32, 2 ** 33 + 5, Number.MAX_SAFE_INTEGER]) {
        const output = await execute("named", ["ok", "0", "0.05"], { timeoutMs });
        exited(output, 0);
        equal(output.stdout, "ok\n", `stdout with a limit of ${timeoutMs} ms`);
      }
    },
  },
  {
    id: "timeout-invalid",
    title: "what is no duration is refused before anything runs",
    async run({ runtime, invoke }) {
      const shared = await runtime();
      const { command, args } = invoke("exit-with", ["0"]);
      for (const timeoutMs of [Number.NaN, -1, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY, "5s", "60", null]) {
        const attempt = shared.execute(command, args, { timeoutMs: timeoutMs as number });
        const error = await rejects(attempt, "invalid_request");
        includes(error.message, "timeoutMs", "message");
        equal(error.started, "no", "started");
      }
    },
  },
  {
    id: "timeout-none",
    title: "0 means no limit, where the operator sets no maximum",
    async run({ runtime, executeOn }) {
      const unlimited = await runtime({ runtime: { default_timeout_secs: 0.1 } });
      exited(await executeOn(unlimited, "named", ["x", "0", "0.4"], { timeoutMs: 0 }), 0);
      equal((await executeOn(unlimited, "sleep", ["30"])).outcome, "timed_out", "outcome by default");
    },
  },
  {
    id: "timeout-maximum",
    title: "a request cannot go beyond the operator's maximum, and is told so",
    async run({ runtime, executeOn }) {
      const limited = await runtime({ runtime: { max_timeout_secs: 0.3 } });
      for (const timeoutMs of [0, 60_000]) {
        const output = await executeOn(limited, "sleep", ["30"], { timeoutMs });
        equal(output.outcome, "timed_out", "outcome");
        check(warningCodes(output).includes("narrowed"), "No warning says that the limit was narrowed");
      }
    },
  },
  {
    id: "timeout-rapid",
    title: "limits too short to begin: every execution ends or is told as it was, and the host lives on",
    async run({ runtime, executeOn, survivors, scale }) {
      const shared = await runtime({ runtime: { kill_grace_secs: 0 } });
      for (let round = 0; round < scale.rapid; round += 10) {
        const batch = Array.from({ length: 10 }, () => executeOn(shared, "sleep", ["30"], { timeoutMs: 1 }));
        for (const { outcome } of await Promise.all(batch)) equal(outcome, "timed_out", "outcome");
      }
      equal(await survivors(), 0, "processes left");
      exited(await executeOn(shared, "exit-with", ["0"]), 0);
    },
  },
];
