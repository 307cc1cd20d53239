/** The small texts by which the kernel tells of cgroups, the names of ours, and what is done with directories of either. */

import { existsSync, readdirSync, readFileSync } from "node:fs";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { clearTrunk, killLeaf, membersOf } from "../../adapters/_native/cgroup-clear.ts";
import {
  childrenOf,
  numbersIn,
  processesIn,
  readKeyed,
  readNumber,
  readText,
  readWords,
  removeCgroup,
  tryWrite,
} from "../../adapters/_native/cgroup-files.ts";
import { isTrunkName, markerName, seatName, trunkName } from "../../adapters/_native/cgroup-names.ts";
import { scratchDirectory } from "./native-scratch.ts";

const { at, write, makeDirectory } = scratchDirectory();

describe("texts", () => {
  test("of one number, or none", () => {
    expect(readNumber(write("usage", "123456789\n"))).toBe(123_456_789);
    expect([write("max", "max\n"), write("nothing"), at("missing")].map(readNumber)).toEqual([null, null, null]);
  });

  test("of a number behind a key: the whole key, and 0 where there is none", () => {
    const events = write("memory.events", "low 0\noom 7\noom_kill 3\noom_group_kill 9\nmax 12x\n");
    expect(["oom", "oom_kill", "oom_group_kill", "kill", "max", "none"].map((key) => readKeyed(events, key))).toEqual([
      ...[7, 3, 9, 0, 0, 0],
    ]);
    expect(readKeyed(at("missing"), "oom")).toBe(0);
  });

  test("of words, and of lines that are numbers", () => {
    expect(readWords(write("controllers", "cpu  memory\npids \n"))).toEqual(["cpu", "memory", "pids"]);
    expect([readWords(write("none", "\n")), readWords(at("missing"))]).toEqual([[], []]);
    expect(numbersIn("1\n22\n\n-3\n4 5\nmax\n6")).toEqual([1, 22, 6]);
    expect([numbersIn(""), readText(at("missing"))]).toEqual([[], ""]);
  });

  test("are written where there is a file, and nowhere else", () => {
    const file = write("pids.max", "max");
    expect([tryWrite(file, "100"), readFileSync(file, "utf8")]).toEqual([true, "100"]);
    expect([tryWrite(at("not-made"), "1"), existsSync(at("not-made"))]).toEqual([false, false]);
  });
});

describe("directories", () => {
  test("are removed with those below them, as long as nothing else is in there", () => {
    makeDirectory("empty/a/b");
    makeDirectory("empty/c");
    expect([removeCgroup(at("empty")), existsSync(at("empty"))]).toEqual([true, false]);
    expect(removeCgroup(at("empty"))).toBe(true);
    write("full/a/b/file");
    expect([removeCgroup(at("full")), existsSync(at("full/a/b/file"))]).toEqual([false, true]);
  });

  test("hold the processes of those below them too, the host left out", () => {
    write("tree/cgroup.procs", `10\n${process.pid}\n11\n`);
    write("tree/a/cgroup.procs", "12\n");
    write("tree/a/b/cgroup.procs", "13\n");
    makeDirectory("tree/c");
    expect([...childrenOf(at("tree"))].sort()).toEqual([at("tree/a"), at("tree/c")]);
    expect(processesIn(at("tree"))).toEqual([10, process.pid, 11]);
    expect([...membersOf(at("tree"))].sort()).toEqual([10, 11, 12, 13]);
    expect([childrenOf(at("missing")), membersOf(at("missing"))]).toEqual([[], []]);
  });
});

describe("ending what is in one", () => {
  function silenced() {
    const kill = vi.spyOn(process, "kill").mockReturnValue(true);
    onTestFinished(() => kill.mockRestore());
    return kill;
  }

  test("asks the kernel where it has a file for that, and kills one by one where it has not", () => {
    const kill = silenced();
    const second = write("second/cgroup.kill");
    write("second/cgroup.procs", "999999991\n");
    killLeaf(at("second"));
    expect([readFileSync(second, "utf8"), kill.mock.calls]).toEqual(["1", []]);
    write("first/cgroup.procs", "999999991\n999999992\n");
    const births = write("first/pids.max", "max");
    killLeaf(at("first"));
    expect(readFileSync(births, "utf8")).toMatch(/^0/);
    // Once before births are stopped, so that a shell is killed and does not end for want of a child; and once after.
    const both = [
      [999_999_991, "SIGKILL"],
      [999_999_992, "SIGKILL"],
    ];
    expect(kill.mock.calls).toEqual([...both, ...both]);
  });

  test("spares the host that is in there: the file spares nobody", () => {
    const kill = silenced();
    const file = write("shared/cgroup.kill", "0");
    const births = write("shared/pids.max", "max");
    write("shared/cgroup.procs", `${process.pid}\n999999991\n`);
    killLeaf(at("shared"));
    expect([readFileSync(file, "utf8"), readFileSync(births, "utf8")]).toEqual(["0", "max"]);
    expect(kill.mock.calls).toEqual([[999_999_991, "SIGKILL"]]);
  });

  test("a trunk goes with its leaves; what is stuck in it is named, and what ran in it counted", () => {
    silenced();
    makeDirectory("home/trunk/idle");
    makeDirectory("home/trunk/other");
    expect(clearTrunk(at("home/trunk"))).toEqual({ found: 0, stuck: [] });
    expect([readdirSync(at("home")), clearTrunk(at("home/trunk"))]).toEqual([[], { found: 0, stuck: [] }]);
    makeDirectory("home/trunk/idle");
    write("home/trunk/busy/cgroup.procs", "999999991\n");
    expect(clearTrunk(at("home/trunk"))).toEqual({ found: 1, stuck: [at("home/trunk/busy"), at("home/trunk")] });
    expect(readdirSync(at("home/trunk"))).toEqual(["busy"]);
  });
});

test("names tell what a cgroup is, and none is taken for another", () => {
  expect(isTrunkName(trunkName("4242-abcdef"))).toBe(true);
  expect([seatName, markerName("memory"), markerName("pids"), "system.slice", "host"].map(isTrunkName)).toEqual([
    false,
    false,
    false,
    false,
    false,
  ]);
  expect(new Set([seatName, markerName("memory"), markerName("pids"), trunkName("a"), trunkName("b")]).size).toBe(5);
});
