/** Several runtimes and several hosts in one cgroup. */

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { setTimeout as sleep } from "node:timers/promises";
import { Worker } from "node:worker_threads";
import { createCgroups } from "../../../adapters/_native/cgroup.ts";
import { killLeaf } from "../../../adapters/_native/cgroup-clear.ts";
import { openBranch, openLeaf } from "../../../adapters/_native/cgroup-leaf.ts";
import { findHierarchies } from "../../../adapters/_native/cgroup-mounts.ts";
import type { Case } from "./case.ts";
import { expectNone, readyUntilTold, roomy, startHost, startRuntime, withRuntime } from "./host.ts";
import { cgroupOf, processesWith } from "./place.ts";

async function echoes(runtime: Awaited<ReturnType<typeof startRuntime>>, limits = {}): Promise<void> {
  const { stdout, warnings } = await runtime.execute("echo", ["here"], { limits });
  assert.deepEqual([stdout, warnings], ["here\n", []]);
}

export const sharingCases: Readonly<Record<string, Case>> = {
  "two-runtimes": {
    title: "two runtimes of one process share one delegation, and the last undoes it",
    run: async () => {
      const before = cgroupOf("self");
      const first = await startRuntime();
      await echoes(first);
      const running = first.execute("sh", ["-c", "sleep 2; echo through"]);
      const second = await startRuntime();
      await echoes(second, roomy);
      assert.equal(cgroupOf("self"), `${before}/prx-runtime-host`);
      await echoes(first);
      await echoes(first, roomy);
      await second.close();
      assert.equal(cgroupOf("self"), `${before}/prx-runtime-host`);
      await echoes(first, roomy);
      assert.equal((await running).stdout, "through\n");
      await first.close();
      assert.equal(cgroupOf("self"), before);
    },
  },
  "undone-beneath": {
    title: "a runtime without limits finds home again after another has undone the delegation",
    run: async () => {
      const before = cgroupOf("self");
      const first = await startRuntime();
      await echoes(first, roomy);
      await first.close();
      const second = await startRuntime();
      await echoes(second, roomy);
      await echoes(second);
      await second.close();
      assert.equal(cgroupOf("self"), before);
    },
  },
  "second-host": {
    title: "a host that another began is in its seat, keeps limits beside it and not below, and may stay the longer",
    run: async () => {
      const before = cgroupOf("self");
      const first = await startRuntime();
      await echoes(first, roomy);
      const second = await startHost("second");
      assert.equal(cgroupOf(second.pid), `${before}/prx-runtime-host`);
      await first.close();
      assert.equal(cgroupOf("self"), `${before}/prx-runtime-host`, "The second host still needs it");
      await second.finish();
      assert.equal(cgroupOf("self"), before, "The last host brings everybody home");
    },
  },
  second: {
    title: "",
    run: async () => {
      assert.match(cgroupOf("self"), /^\/rig\/[^/]+\/prx-runtime-host$/);
      const runtime = await startRuntime();
      const where = await runtime.execute("cat", ["/proc/self/cgroup"], { limits: roomy });
      assert.match(where.stdout, /^0::\/rig\/[^/]+\/prx-runtime-\d+-[^/]+\/[^/]+$/m);
      await readyUntilTold();
      await echoes(runtime, roomy);
      await runtime.close();
    },
  },
  "doomed-beside": {
    title: "a host that is killed in the seat it shares is swept, and the other one keeps seat and limits",
    run: async () => {
      const before = cgroupOf("self");
      const log: string[] = [];
      const first = await startRuntime();
      await echoes(first, roomy);
      const doomed = await startHost("doomed");
      process.kill(doomed.pid, "SIGKILL");
      const second = await startRuntime(log);
      assert.ok(log.includes("leftovers_ended Ended 1 of 1 executions of dead hosts"), log.join("\n"));
      await expectNone("31337");
      assert.equal(cgroupOf("self"), `${before}/prx-runtime-host`);
      await echoes(first, roomy);
      await second.close();
      await first.close();
      assert.equal(cgroupOf("self"), before);
    },
  },
  doomed: {
    title: "",
    run: async () => {
      const runtime = await startRuntime();
      void runtime.execute("sh", ["-c", "(setsid sleep 31337 &); sleep 31337"], { limits: roomy });
      while (processesWith("31337").length < 2) await sleep(20);
      await readyUntilTold();
    },
  },
  children: {
    title: "children that the host had begun before go to the seat and come back with it",
    run: async () => {
      const before = cgroupOf("self");
      const child = spawn("sleep", ["4242"], { stdio: "ignore" });
      const pid = child.pid ?? 0;
      await withRuntime(async (runtime) => {
        await echoes(runtime, roomy);
        assert.equal(cgroupOf(pid), `${before}/prx-runtime-host`);
      });
      assert.equal(cgroupOf(pid), before);
      child.kill();
    },
  },
  "kill-guard": {
    title: "no killing of a leaf reaches the host that is inside of it",
    run: async () => {
      const [hierarchy] = findHierarchies();
      assert.ok(hierarchy !== undefined);
      const branch = openBranch(hierarchy, "guard");
      const leaf = openLeaf(branch, "leaf");
      leaf.enter();
      const child = spawn("sleep", ["31337"], { stdio: "ignore" });
      killLeaf(leaf.directory);
      assert.equal(await new Promise((resolve) => child.once("exit", (_, signal) => resolve(signal))), "SIGKILL");
      branch.leave();
      assert.ok(leaf.remove() && branch.close());
      await expectNone("31337");
    },
  },
  threads: {
    title: "two threads with a runtime each, at one time: each command is held, and none by the wrong one",
    run: async () => {
      const before = cgroupOf("self");
      const script = process.argv[1] ?? "";
      const workers = [0, 1].map(() => new Worker(script, { argv: ["case", "thread"], trackUnmanagedFds: false }));
      const codes = workers.map((worker) => new Promise((resolve) => worker.once("exit", resolve)));
      assert.deepEqual(await Promise.all(codes), [0, 0]);
      await expectNone("31337");
      assert.equal(cgroupOf("self"), before);
    },
  },
  thread: {
    title: "",
    run: async () => {
      const runtime = await startRuntime();
      for (let round = 0; round < 15; round += 1) {
        const line = "(setsid sleep 31337 &); exec cat /proc/self/cgroup";
        const { stdout, warnings } = await runtime.execute("sh", ["-c", line]);
        assert.match(stdout, /^0::\/rig\/[^/]+\/prx-runtime-\d+-[^/]+\/[^/]+$/m);
        assert.deepEqual(warnings, []);
      }
      await runtime.close();
    },
  },
  costs: {
    title: "what it takes is told",
    run: async () => {
      const timed = async (count: number, pauseMs: number, work: () => Promise<unknown>): Promise<string> => {
        const times: number[] = [];
        for (let round = 0; round < count; round += 1) {
          await sleep(pauseMs);
          const began = performance.now();
          await work();
          times.push(performance.now() - began);
        }
        return `${times.sort((a, b) => a - b)[count >> 1]?.toFixed(1)} ms`;
      };
      const [hierarchy] = findHierarchies();
      assert.ok(hierarchy !== undefined);
      const branch = openBranch(hierarchy, "costs");
      const leaf = openLeaf(branch, "leaf");
      const pass = async () => {
        leaf.enter();
        branch.leave();
        leaf.settle(0);
      };
      console.log(`cost: handing down, once: ${await timed(1, 200, async () => branch.allowLimits())}`);
      console.log(
        `cost: entering and leaving, after a pause: ${await timed(15, 200, pass)}, at once: ${await timed(50, 0, pass)}`,
      );
      leaf.remove();
      console.log(`cost: closing: ${await timed(1, 200, async () => assert.ok(branch.close()))}`);
    },
  },
  strangers: {
    title: "a process that another thread of the host began meanwhile is not taken for the command's",
    run: async () => {
      const before = cgroupOf("self");
      const cgroups = createCgroups(findHierarchies(), "strangers");
      assert.ok(cgroups !== null);
      const cell = cgroups.open("one", { memoryBytes: null, pids: null, cpuTimeMs: null });
      let other = 0;
      const child = cell.enter(() => {
        other = spawn("sleep", ["4243"], { stdio: "ignore" }).pid ?? 0;
        return { pid: spawn("sleep", ["4244"], { stdio: "ignore" }).pid };
      });
      assert.deepEqual([cgroupOf(other), cgroupOf(child.pid ?? 0)], [before, `${before}/prx-runtime-strangers/one`]);
      cell.signal("SIGKILL");
      while (!cell.isEmpty()) await sleep(10);
      assert.equal(process.kill(other, 0), true);
      process.kill(other, "SIGKILL");
      assert.deepEqual([cell.dispose(), cgroups.close()], [[], true]);
    },
  },
};
