/** Whatever a command begins is held and ended. */

import assert from "node:assert/strict";
import { setTimeout as sleep } from "node:timers/promises";
import type { Case } from "./case.ts";
import { expectNone, roomy, selfProgram, startRuntime, withRuntime } from "./host.ts";
import { processesWith, read } from "./place.ts";

/** Two forks and a session of its own, as a daemon does it; its parent is over at once. */
const daemon = "(setsid sh -c 'sleep 31337 & sleep 31337 &' &)";

export const treeCases: Readonly<Record<string, Case>> = {
  daemon: {
    title: "a daemon in a session of its own ends with its command, without any limit",
    run: () =>
      withRuntime(async (runtime) => {
        const output = await runtime.execute("sh", ["-c", `${daemon}; sleep 0.5; echo started`]);
        assert.equal(output.stdout, "started\n");
        assert.deepEqual(output.warnings, []);
        await expectNone("31337");
      }),
  },
  "limited-daemon": {
    title: "a daemon of a command with limits, too",
    run: () =>
      withRuntime(async (runtime) => {
        const output = await runtime.execute("sh", ["-c", `${daemon}; sleep 0.5; echo started`], { limits: roomy });
        assert.deepEqual([output.stdout, output.warnings], ["started\n", []]);
        await expectNone("31337");
      }),
  },
  "fork-bomb": {
    title: "a fork bomb ends at its time limit, and the host lives on",
    run: () =>
      withRuntime(async (runtime) => {
        const bomb = "b() { while :; do setsid sh -c 'trap \"\" TERM; sleep 31337' & done; }; b & b";
        const output = await runtime.execute("sh", ["-c", bomb], { timeoutMs: 1500 });
        assert.equal(output.outcome, "timed_out");
        assert.deepEqual(output.warnings, []);
        await expectNone("31337");
        assert.equal((await runtime.execute("echo", ["alive"])).stdout, "alive\n");
      }),
  },
  "nested-host": {
    title: "a command that is a host itself, with cgroups of its own, is ended with all that it began",
    run: () =>
      withRuntime(async (runtime) => {
        const [program, ...flags] = selfProgram;
        const args = [...flags, process.argv[1] ?? "", "case", "crash-inner"];
        const output = await runtime.execute(program, args, { env: { PRX_STATE_DIR: "/tmp/inner" }, limits: roomy });
        assert.deepEqual([output.signal, output.warnings], ["SIGKILL", []]);
        await expectNone("31337");
        assert.equal((await runtime.execute("echo", ["again"])).stdout, "again\n");
      }),
  },
  "crash-inner": {
    title: "",
    run: async () => {
      const runtime = await startRuntime();
      void runtime.execute("sh", ["-c", `${daemon}; sleep 31337`], { limits: roomy });
      while (processesWith("31337").length < 3) await sleep(20);
      process.kill(process.pid, "SIGKILL");
    },
  },
  crash: {
    title: "what a host that was killed had begun is ended by the next start, its cgroups with it",
    crash: true,
    run: async () => {
      const runtime = await startRuntime();
      void runtime.execute("sh", ["-c", `${daemon}; sleep 31337`], { limits: roomy });
      while (processesWith("31337").length < 3) await sleep(20);
      console.log("ready", read("/proc/self/cgroup"));
      await sleep(60_000);
    },
  },
  sweeper: {
    title: "",
    run: async () => {
      const log: string[] = [];
      const runtime = await startRuntime(log);
      await runtime.close();
      assert.ok(log.includes("leftovers_ended Ended 1 of 1 executions of dead hosts"), log.join("\n"));
    },
  },
};
