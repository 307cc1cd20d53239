/**
 * What cgroup version 2 takes besides version 1: controllers that have to be handed down, and a host that moves as a whole. Where this
 * machine's version 2 has neither memory nor pids, hugetlb stands in for them; `npm run test:cgroup-v2` has the real ones.
 */

import { spawn, spawnSync } from "node:child_process";
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmdirSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, describe, expect, type TestContext, test } from "vitest";
import { createCgroups } from "../../adapters/_native/cgroup.ts";
import { killLeaf } from "../../adapters/_native/cgroup-clear.ts";
import { handDown, passOn, releaseHome } from "../../adapters/_native/cgroup-delegation.ts";
import { openBranch, openLeaf } from "../../adapters/_native/cgroup-leaf.ts";
import { cpuTime, limitMemory, limitPids, oomKills } from "../../adapters/_native/cgroup-limits.ts";
import { findHierarchies, type Hierarchy, parseHierarchies } from "../../adapters/_native/cgroup-mounts.ts";
import { seatName, trunkName } from "../../adapters/_native/cgroup-names.ts";
import { obstacleTo } from "../../adapters/_native/cgroup-obstacles.ts";
import { inTurn } from "../../adapters/_native/cgroup-turn.ts";

const base = mkdtempSync(join(tmpdir(), "prx-v2-"));
afterAll(() => rmSync(base, { recursive: true, force: true }));

let directories = 0;
/** A directory that looks like a cgroup to a reader. */
function fakeCgroup(files: Readonly<Record<string, string>>): string {
  directories += 1;
  const home = join(base, String(directories));
  mkdirSync(home);
  for (const [name, text] of Object.entries(files)) writeFileSync(join(home, name), text);
  return home;
}
const read = (home: string, name: string) => readFileSync(join(home, name), "utf8").trim();

test("a process in a host's seat belongs to the cgroup that the seat was made for", () => {
  const mounts = "31 23 0:28 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n";
  const home = (path: string) => parseHierarchies(mounts, `0::${path}\n`)[0]?.home;
  expect(home(`/a.scope/${seatName}`)).toBe("/sys/fs/cgroup/a.scope");
  expect(home(`/${seatName}`)).toBe("/sys/fs/cgroup");
  expect(home(`/a.scope/${seatName}/b`)).toBe(`/sys/fs/cgroup/a.scope/${seatName}/b`);
});

describe("the kernel's files", () => {
  const leafIn = (directory: string, version: 1 | 2) => {
    const branch = { version, controllers: [], home: base, trunk: base };
    return { branch, directory } as unknown as Parameters<typeof limitMemory>[0];
  };

  test("memory is limited together with swap, in each version's own way", () => {
    const second = fakeCgroup({ "memory.max": "", "memory.swap.max": "", "pids.max": "" });
    limitMemory(leafIn(second, 2), 4096);
    limitPids(leafIn(second, 2), 7);
    expect(["memory.max", "memory.swap.max", "pids.max"].map((name) => read(second, name))).toEqual(["4096", "0", "7"]);
    const first = fakeCgroup({ "memory.limit_in_bytes": "", "memory.memsw.limit_in_bytes": "" });
    limitMemory(leafIn(first, 1), 4096);
    expect(readdirSync(first).map((name) => read(first, name))).toEqual(["4096", "4096"]);
  });

  test("what was counted is read in each version's own unit", () => {
    const events = "low 0\nhigh 0\nmax 31\noom 2\noom_kill 1\noom_group_kill 0\n";
    const second = fakeCgroup({ "memory.events": events, "cpu.stat": "usage_usec 2500\nuser_usec 1\n" });
    expect([oomKills(leafIn(second, 2)), cpuTime(leafIn(second, 2))]).toEqual([1, 2.5]);
    const first = fakeCgroup({ "memory.oom_control": "under_oom 0\noom_kill 3\n", "cpuacct.usage": "1500000\n" });
    expect([oomKills(leafIn(first, 1)), cpuTime(leafIn(first, 1))]).toEqual([3, 1.5]);
  });
});

describe("turns", () => {
  test("leave nothing, and pass on what was answered or thrown", () => {
    const place = fakeCgroup({});
    const during = inTurn(() => readdirSync(place).length, place);
    expect([during, readdirSync(place)]).toEqual([process.platform === "win32" ? expect.any(Number) : 1, []]);
    const attempt = () => inTurn(() => readdirSync(join(place, "none")), place);
    expect(attempt).toThrow();
    expect(readdirSync(place)).toEqual([]);
  });

  test("of a thread that was ended in the midst of its own are over after a while", () => {
    const place = fakeCgroup({});
    const began = performance.now();
    inTurn(() => {
      expect(inTurn(() => "in time", place)).toBe("in time");
    }, place);
    expect(performance.now() - began).toBeGreaterThan(1500);
    expect(readdirSync(place)).toEqual([]);
  });

  test("are done without where no link can be made", () => {
    expect(inTurn(() => "done", join(base, "missing"))).toBe("done");
  });
});

describe("with a real cgroup", () => {
  const top = findHierarchies().find(({ version }) => version === 2)?.home ?? "";
  const home = join(top, `prx-unit-${process.pid}`);
  const standIn = ["hugetlb"];
  let ready = false;
  let handedBefore = false;
  const strangers: number[] = [];

  beforeAll(() => {
    try {
      if (top === "") return;
      handedBefore = read(top, "cgroup.subtree_control").split(" ").includes("hugetlb");
      if (!handedBefore) writeFileSync(join(top, "cgroup.subtree_control"), "+hugetlb");
      mkdirSync(home);
      writeFileSync(join(home, "cgroup.procs"), String(process.pid));
      ready = true;
    } catch {
      // Every test says so.
    }
  });
  afterEach(() => {
    for (const pid of strangers.splice(0)) process.kill(pid, "SIGKILL");
  });
  afterAll(() => {
    if (!ready) return;
    writeFileSync(join(top, "cgroup.procs"), String(process.pid));
    rmdirSync(home);
    if (!handedBefore) writeFileSync(join(top, "cgroup.subtree_control"), "-hugetlb");
  });
  const needsCgroup = ({ skip }: TestContext): Hierarchy => {
    if (!ready) skip("no cgroup of version 2 with the hugetlb controller can be made here");
    return { version: 2, controllers: [], home };
  };
  const placeOf = (pid: number | "self") => /^0::(.*)$/m.exec(readFileSync(`/proc/${pid}/cgroup`, "utf8"))?.[1] ?? "";
  const below = () => readdirSync(home, { withFileTypes: true }).filter((entry) => entry.isDirectory()).length;
  const handed = (directory: string) => read(directory, "cgroup.subtree_control");

  test("controllers are handed down to leaves, and nothing is left when the last trunk is gone", (context) => {
    needsCgroup(context);
    const before = placeOf("self");
    const child = spawn("sleep", ["60"], { stdio: "ignore" });
    const trunks = ["one", "two"].map((name) => join(home, trunkName(name)));
    for (const trunk of trunks) mkdirSync(trunk);
    handDown(home, standIn);
    for (const trunk of trunks) passOn(trunk, standIn);
    expect([placeOf("self"), placeOf(child.pid ?? 0)]).toEqual([`${before}/${seatName}`, `${before}/${seatName}`]);
    expect([handed(home), ...trunks.map(handed)]).toEqual(["hugetlb", "hugetlb", "hugetlb"]);
    const [first = "", second = ""] = trunks;
    mkdirSync(join(first, "leaf"));
    expect(readdirSync(join(first, "leaf")).some((name) => name.startsWith("hugetlb."))).toBe(true);
    rmdirSync(join(first, "leaf"));
    rmdirSync(first);
    expect([releaseHome(home, standIn), placeOf("self")]).toEqual([[], `${before}/${seatName}`]);
    handDown(home, standIn);
    rmdirSync(second);
    expect([releaseHome(home, standIn), placeOf("self"), placeOf(child.pid ?? 0)]).toEqual([[], before, before]);
    expect([below(), handed(home)]).toEqual([0, ""]);
    child.kill("SIGKILL");
  });

  test("beside a stranger nothing is changed", (context) => {
    needsCgroup(context);
    const before = placeOf("self");
    const { stdout } = spawnSync("sh", ["-c", "sleep 60 >/dev/null 2>&1 & echo $!"], { encoding: "utf8" });
    strangers.push(Number(stdout));
    expect(obstacleTo(home, "hugetlb")).toMatch(/also holds another process \(sleep \d+\)/);
    expect(() => handDown(home, standIn)).toThrow(/also holds another process/);
    expect([placeOf("self"), below(), handed(home)]).toEqual([before, 0, ""]);
  });

  test("a runtime that never asked for it finds home when another hands controllers down, and when it undoes that", async (context) => {
    const hierarchy = needsCgroup(context);
    const before = placeOf("self");
    const cgroups = createCgroups([hierarchy], "unasked");
    if (cgroups === null) throw new Error("There is no containment");
    const run = async () => {
      const cell = cgroups.open("id", { memoryBytes: null, pids: null, cpuTimeMs: null });
      const child = spawn("true", { stdio: "ignore" });
      const { pid } = cell.enter(() => ({ pid: spawn("true", { stdio: "ignore" }).pid }));
      expect(pid).toBeGreaterThan(0);
      await new Promise((resolve) => child.once("exit", resolve));
      while (!cell.isEmpty()) await new Promise((resolve) => setTimeout(resolve, 5));
      expect(cell.dispose()).toEqual([]);
      return placeOf("self");
    };
    expect(await run()).toBe(before);
    handDown(home, standIn);
    expect(await run()).toBe(`${before}/${seatName}`);
    writeFileSync(join(home, "cgroup.subtree_control"), "-hugetlb");
    writeFileSync(join(home, "cgroup.procs"), String(process.pid));
    for (const pid of read(join(home, seatName), "cgroup.procs").split("\n").filter(Boolean)) {
      writeFileSync(join(home, "cgroup.procs"), pid);
    }
    rmdirSync(join(home, seatName));
    expect(await run()).toBe(before);
    expect([cgroups.close(), below()]).toEqual([true, 0]);
  });

  test("killing a leaf spares the host that is in it, and ends what a command put into cgroups of its own", async (context) => {
    const branch = openBranch(needsCgroup(context), "guard");
    const leaf = openLeaf(branch, "leaf");
    const inner = join(leaf.directory, "made-by-a-command");
    mkdirSync(inner);
    expect(leaf.isDivided()).toBe(true);
    leaf.enter();
    const child = spawn("sleep", ["60"], { stdio: "ignore" });
    const hidden = spawn("sleep", ["60"], { stdio: "ignore" });
    writeFileSync(join(inner, "cgroup.procs"), String(hidden.pid));
    const ends = [child, hidden].map(
      (one) => new Promise((resolve) => one.once("exit", (_, signal) => resolve(signal))),
    );
    expect([...leaf.members()].sort()).toEqual([child.pid, hidden.pid].sort());
    killLeaf(leaf.directory);
    branch.leave();
    expect(await Promise.all(ends)).toEqual(["SIGKILL", "SIGKILL"]);
    expect(leaf.isEmpty()).toBe(true);
    expect([leaf.remove(), existsSync(leaf.directory), branch.close()]).toEqual([true, false, true]);
  });
});
