/** Containment without cgroups: a tree ends with its command as far as it can be found, records tell of it, and nobody else is touched. */

import { existsSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import type { Spawn } from "../../adapters/_native/child.ts";
import { startNative } from "../../adapters/_native/execution.ts";
import { lowerNative, type NativeArtifact, type NativeFacts } from "../../adapters/_native/lower.ts";
import { createProcessGroups } from "../../adapters/_native/process-group.ts";
import { openRecordStore } from "../../adapters/_native/run-records.ts";
import { chooseSpawn } from "../../adapters/_native/spawn.ts";
import { findProcess } from "../../host/process-table.ts";
import { codesOf } from "./core-parts.ts";
import { never, noIo, planFor, readText } from "./memory-plan.ts";
import { begun, marked, newMarker, runs, startLeader, stubborn, until } from "./native-processes.ts";
import { scratchDirectory } from "./native-scratch.ts";

const { at, path: base } = scratchDirectory();
const spawn = await chooseSpawn(async () => null);

let stores = 0;

function groups() {
  stores += 1;
  const records = openRecordStore(at(`store-${stores}`)).own("me", []);
  const containment = createProcessGroups(records, "There is no cgroup");
  const facts: NativeFacts = { platform: process.platform, containment, prlimit: null };
  /** Starts a script and answers its execution, with its output being read. */
  const start = async (script: string, { killGraceMs = 200, signal = never(), onSpawn = (_: number) => {} } = {}) => {
    const plan = planFor(["/bin/sh", "-c", script], {
      ...{ env: { PATH: "/usr/bin:/bin" }, workingDir: base },
      limits: { ...planFor(["x"]).limits, killGraceMs },
    });
    const { artifact, warnings } = lowerNative(plan, facts);
    const told: Spawn = (request) => {
      const child = spawn(request);
      onSpawn(child.pid ?? 0);
      return child;
    };
    const parts = { plan, io: noIo, signal, containment, spawn: told };
    const execution = await startNative({ ...parts, artifactIn: () => artifact as NativeArtifact });
    const output = Promise.all([readText(execution.stdout), readText(execution.stderr)]);
    return { execution, output, warnings, pid: Number(execution.ref.handle), id: plan.id };
  };
  const recorded = () => readdirSync(records.home).filter((name) => name.endsWith(".run"));
  return { records, containment, start, recorded };
}

/** A shell that stays, and lets its arguments tell whose it is. */
const sleeper = (marker: string) => `sh -c 'sleep 60; :' ${marker}`;

describe("a cancelled command", () => {
  test("ends with its whole tree, those who left its session while their parent lives included", async () => {
    const { start } = groups();
    const marker = newMarker();
    const stop = new AbortController();
    const script = `${sleeper(marker)} & setsid ${sleeper(marker)} & setsid sh -c 'setsid ${sleeper(marker).replaceAll("'", '"')}; :' & ${sleeper(marker)}; :`;
    const { execution, output } = await start(script, { signal: stop.signal });
    await until(() => marked(marker).length === 4, "four sleepers");
    stop.abort();
    expect(await execution.ended).toMatchObject({ kind: "signaled", signal: "SIGTERM", number: 15 });
    await output;
    expect(await execution.released).toEqual([]);
    expect(marked(marker)).toEqual([]);
  });

  test("that does not listen is forced after the grace period, with all who do not listen either", async () => {
    const { start } = groups();
    const marker = newMarker();
    const stop = new AbortController();
    const script = `setsid ${stubborn(marker)} & ${stubborn(marker)} & exec ${stubborn(marker)}`;
    const { execution, output } = await start(script, { signal: stop.signal });
    await begun(marker, 3, base);
    const began = performance.now();
    stop.abort();
    expect(await execution.ended).toMatchObject({ kind: "signaled", signal: "SIGKILL", number: 9 });
    expect(performance.now() - began).toBeGreaterThan(190);
    await output;
    expect(await execution.released).toEqual([]);
    expect(marked(marker)).toEqual([]);
  });

  test("that goes when it is asked takes those along who left its session and do not listen", async () => {
    const { start } = groups();
    const marker = newMarker();
    const stop = new AbortController();
    const script = `setsid ${stubborn(marker)} & sleep 60; :`;
    const { execution, output } = await start(script, { signal: stop.signal, killGraceMs: 500 });
    await begun(marker, 1, base);
    const [stray] = marked(marker);
    stop.abort();
    expect(await execution.ended).toMatchObject({ kind: "signaled", signal: "SIGTERM" });
    expect(runs(stray?.pid ?? 0)).toBe(true);
    await output;
    expect(await execution.released).toEqual([]);
    expect(marked(marker)).toEqual([]);
  });
});

describe("a command that ends by itself", () => {
  test("takes along what it left in its group", async () => {
    const { start } = groups();
    const marker = newMarker();
    const { execution, output } = await start(`${stubborn(marker)} & echo done`);
    expect(await execution.ended).toMatchObject({ kind: "exited", code: 0 });
    expect(await output).toEqual(["done\n", ""]);
    expect(await execution.released).toEqual([]);
    expect(marked(marker)).toEqual([]);
  });

  test("loses what left its session, as every result warns, and is not held up by it", async () => {
    const { start } = groups();
    const marker = newMarker();
    const { execution, output, warnings } = await start(
      `setsid ${stubborn(marker)} & until ls ready-${marker}-* 2>&1; do sleep 0.02; done >/dev/null; echo done`,
    );
    expect(codesOf(warnings)).toEqual(["uncontained"]);
    expect(await execution.ended).toMatchObject({ kind: "exited", code: 0 });
    // Whatever it may still write is not the command's output any more, and a reader is told so.
    await expect(output).rejects.toThrow("Something that got away still holds the other end open");
    expect(await execution.released).toEqual([]);
    expect(marked(marker).length).toBe(1);
  });
});

describe("records", () => {
  test("tell of a command by its pid and start for as long as it is there", async () => {
    const { records, start, recorded } = groups();
    const stop = new AbortController();
    const { execution, output, pid, id } = await start("exec sleep 60", { signal: stop.signal });
    expect(recorded()).toEqual([`${id}.run`]);
    const startedAt = findProcess(pid)?.startedAt;
    expect(JSON.parse(readFileSync(join(records.home, `${id}.run`), "utf8"))).toEqual({ pid, startedAt });
    expect(findProcess(pid)).toMatchObject({ group: pid, session: pid });
    stop.abort();
    await Promise.all([execution.released, output]);
    expect(recorded()).toEqual([]);
  });

  test("that cannot be written leave no command behind", async () => {
    const { records, start, containment } = groups();
    let pid = 0;
    const onSpawn = (spawned: number) => {
      pid = spawned;
    };
    rmSync(records.home, { recursive: true });
    await expect(start("exec sleep 60", { onSpawn })).rejects.toThrow("ENOENT");
    expect(pid).toBeGreaterThan(1);
    await until(() => !runs(pid), "its end");
    expect(containment.close()).toBe(true);
  });
});

test("a command that is over is nobody to be signalled any more", async () => {
  const { containment, start } = groups();
  const { execution, output } = await start("true");
  await Promise.all([execution.released, output]);
  const kill = vi.spyOn(process, "kill").mockReturnValue(true);
  onTestFinished(() => kill.mockRestore());
  expect([containment.close(), kill.mock.calls]).toEqual([true, []]);
});

describe("a command that could not be started", () => {
  const failed = () => ({
    pid: undefined,
    failure: Promise.resolve(Object.assign(new Error("E2BIG"), { code: "E2BIG" })),
  });

  test("is told as what it is, leaves no record, and is nobody to be signalled", async () => {
    const { containment, recorded } = groups();
    const kill = vi.spyOn(process, "kill").mockReturnValue(true);
    onTestFinished(() => kill.mockRestore());
    const plan = planFor(["/bin/sh"], { env: {} });
    const artifact: NativeArtifact = { wrapper: [], argv: plan.argv, env: {}, workingDir: null, sandbox: null };
    const parts = { plan, artifactIn: () => artifact, io: noIo, signal: never(), containment };
    await expect(startNative({ ...parts, spawn: failed })).rejects.toMatchObject({ code: "argument_list_too_long" });
    expect([containment.close(), recorded(), kill.mock.calls]).toEqual([true, [], []]);
  });

  test("nor is one that was never begun", () => {
    const { containment } = groups();
    const kill = vi.spyOn(process, "kill").mockReturnValue(true);
    onTestFinished(() => kill.mockRestore());
    const cell = containment.open("never", { memoryBytes: null, pids: null, cpuTimeMs: null });
    cell.signal("SIGTERM");
    cell.signal("SIGKILL");
    expect([cell.isEmpty(), containment.close(), cell.dispose()]).toEqual([true, true, []]);
    expect(kill.mock.calls).toEqual([]);
  });
});

test("a process that it is told of counts, is forced, and is on record, whoever began it", async () => {
  const { containment, recorded, records } = groups();
  const cell = containment.open("one", { memoryBytes: null, pids: null, cpuTimeMs: null }, { monitored: true });
  const [first, told, reused] = [await startLeader(), await startLeader(), await startLeader()];
  cell.enter(() => ({ pid: first.pid }));
  const names = [told, first].map(({ pid, startedAt }) => ({ pid, startedAt }));
  cell.alsoHolds(names[0] ?? told);
  expect(JSON.parse(readFileSync(join(records.home, recorded()[0] ?? ""), "utf8"))).toEqual({
    ...names[1],
    also: [names[0]],
  });
  process.kill(first.pid, "SIGKILL");
  await until(() => !runs(first.pid), "the end of the first");
  expect(cell.isEmpty()).toBe(false);
  await until(() => containment.close(), "the end of all");
  expect(runs(told.pid)).toBe(false);

  cell.alsoHolds({ pid: reused.pid, startedAt: "1" });
  cell.signal("SIGKILL");
  expect([cell.isEmpty(), runs(reused.pid)]).toEqual([true, true]);
  rmSync(records.home, { recursive: true });
  cell.alsoHolds(reused);
  expect(cell.isEmpty()).toBe(false);
  expect(cell.dispose()).toEqual([]);
});

test("closing ends what runs, and says when it is gone", async () => {
  const { containment, start, records } = groups();
  const marker = newMarker();
  const { execution, output } = await start(`setsid ${stubborn(marker)} & ${stubborn(marker)}; :`);
  await begun(marker, 2, base);
  await until(() => containment.close(), "the end of both");
  expect(marked(marker)).toEqual([]);
  expect(await execution.ended).toMatchObject({ kind: "signaled", signal: "SIGKILL" });
  await output;
  records.close();
  expect(await execution.released).toEqual([]);
  expect(existsSync(records.home)).toBe(false);
});
