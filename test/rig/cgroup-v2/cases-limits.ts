/** Limits that the kernel keeps, and what is said where it cannot. */

import assert from "node:assert/strict";
import type { RuntimeError } from "../../../mod.ts";
import type { Case } from "./case.ts";
import { roomy, startRuntime, withRuntime } from "./host.ts";
import { cgroupOf } from "./place.ts";

const megabytes = 1024 * 1024;
/** Takes memory until there is none. */
const glutton = "a=x; while :; do a=$a$a; done";

async function refusal(limits: { readonly memoryBytes?: number; readonly pids?: number }): Promise<string> {
  let said = "";
  await withRuntime(async (runtime) => {
    const refused = await runtime.execute("true", [], { limits }).then(
      () => null,
      (error: RuntimeError) => error,
    );
    assert.equal(refused?.code, "policy_unenforceable");
    said = refused?.message ?? "";
    // Without a limit it is contained all the same.
    assert.equal((await runtime.execute("echo", ["held"])).stdout, "held\n");
  });
  return said;
}

export const limitCases: Readonly<Record<string, Case>> = {
  memory: {
    title: "a command beyond its memory: the outcome is out_of_memory",
    run: () =>
      withRuntime(async (runtime) => {
        const output = await runtime.execute("sh", ["-c", glutton], { limits: { memoryBytes: 32 * megabytes } });
        assert.deepEqual([output.outcome, output.signal], ["out_of_memory", "SIGKILL"]);
      }),
  },
  "memory-of-a-child": {
    title: "a child of the command beyond it: the command goes on, with a warning",
    run: () =>
      withRuntime(async (runtime) => {
        const line = `sh -c '${glutton}'; echo went on`;
        const output = await runtime.execute("sh", ["-c", line], { limits: { memoryBytes: 32 * megabytes } });
        assert.deepEqual([output.outcome, output.stdout], ["completed", "went on\n"]);
        assert.deepEqual(
          output.warnings.map(({ code }) => code),
          ["child_out_of_memory"],
        );
      }),
  },
  pids: {
    title: "a loop of forks beyond its processes: the kernel refuses more",
    run: () =>
      withRuntime(async (runtime) => {
        // Limits are set just after the start: a loop that is quicker than that would be through before.
        const loop = "sleep 0.5; i=0; while [ $i -lt 40 ]; do sleep 2 & i=$((i+1)); done; wait";
        const output = await runtime.execute("sh", ["-c", loop], { limits: { pids: 8 } });
        assert.match(output.stderr, /can't fork/);
        assert.notEqual(output.exitCode, 0);
        assert.equal((await runtime.execute("sh", ["-c", `${loop}; echo all`])).stdout, "all\n");
      }),
  },
  "cpu-time": {
    title: "a command and its children beyond their CPU time are ended",
    run: () =>
      withRuntime(async (runtime) => {
        const line = "(while :; do :; done) & while :; do :; done";
        const output = await runtime.execute("sh", ["-c", line], { limits: { cpuTimeMs: 800 }, timeoutMs: 30_000 });
        assert.deepEqual(
          output.warnings.map(({ code }) => code),
          ["cpu_time_spent"],
        );
        assert.equal(output.signal, "SIGKILL");
        // Counting takes no controller, so the host was left where it was.
        assert.ok(!cgroupOf("self").includes("prx-runtime"));
      }),
  },
  user: {
    title: "a user without privileges keeps limits in a cgroup that is delegated to it",
    place: "user",
    run: () =>
      withRuntime(async (runtime) => {
        assert.equal(process.getuid?.(), 1000);
        const output = await runtime.execute("sh", ["-c", glutton], { limits: { memoryBytes: 32 * megabytes } });
        assert.equal(output.outcome, "out_of_memory");
      }),
  },
  root: {
    title: "a host in the root cgroup need not move",
    place: "root",
    run: () =>
      withRuntime(async (runtime) => {
        const output = await runtime.execute("sh", ["-c", glutton], { limits: { memoryBytes: 32 * megabytes } });
        assert.deepEqual([output.outcome, cgroupOf("self")], ["out_of_memory", "/"]);
      }),
  },
  shared: {
    title: "where another process shares the cgroup a limit is refused, by its name, and nothing is changed",
    shared: true,
    run: async () => {
      assert.match(await refusal(roomy), /also holds another process \(sleep \d+\).*systemd-run --user --scope/);
      assert.match(await refusal({ pids: 5 }), /also holds another process/);
    },
  },
  "read-only": {
    title: "where the cgroup file system is read-only the refusal says so, and what gets away is told of",
    readOnly: true,
    run: async () => {
      const runtime = await startRuntime();
      const attempt = runtime.execute("true", [], { limits: roomy });
      await assert.rejects(attempt, /Clause memory cannot be enforced \(The cgroup .* is mounted read-only: /);
      const { stdout, warnings } = await runtime.execute("echo", ["here"]);
      assert.deepEqual([stdout, warnings.map(({ code }) => code)], ["here\n", ["uncontained"]]);
      await runtime.close();
    },
  },
  ungiven: {
    title: "where the controller is not handed to the cgroup the refusal says so",
    place: "without controllers",
    run: async () => {
      assert.match(await refusal(roomy), /is not given the memory controller: .*Delegate=yes/);
    },
  },
};
