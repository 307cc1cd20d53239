/** What a host leaves on disk, and how the next one ends what a crash left: those very processes, and nobody else. */

import { execFileSync } from "node:child_process";
import {
  chmodSync,
  chownSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmdirSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { basename, dirname, join } from "node:path";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { hasNeighbours, type OwnerRecord, openRecordStore } from "../../adapters/_native/run-records.ts";
import { sweepOrphans } from "../../adapters/_native/sweep.ts";
import { currentWorld, isKnownOver, isSameProcess, type ProcessName } from "../../host/process-name.ts";
import { findProcess } from "../../host/process-table.ts";
import { missing, need } from "../fixtures/needed.ts";
import { runScript } from "../fixtures/runtimes.ts";
import { marked, newMarker, runs, startLeader, until } from "./native-processes.ts";
import { scratchDirectory } from "./native-scratch.ts";

const { at, write, makeDirectory } = scratchDirectory();
const self = { pid: process.pid, startedAt: findProcess(process.pid)?.startedAt ?? "" };

/** Until the test is over, no signal is really sent. */
function silenced() {
  const kill = vi.spyOn(process, "kill").mockReturnValue(true);
  onTestFinished(() => kill.mockRestore());
  return kill;
}

let stores = 0;
function newStore() {
  stores += 1;
  const directory = at(`store-${stores}`);
  return { directory, store: openRecordStore(directory) };
}

/** Records of a host that is no more: it had our pid and another start. */
function writeOwner(directory: string, given: Partial<OwnerRecord> = {}, commands: readonly unknown[] = []): string {
  const home = join(directory, "dead");
  mkdirSync(home);
  const owner: OwnerRecord = { ...self, startedAt: "1", ...currentWorld(), cgroups: [], ...given };
  writeFileSync(join(home, "owner.json"), JSON.stringify(owner));
  for (const [index, command] of commands.entries()) {
    writeFileSync(join(home, `${index}.run`), typeof command === "string" ? command : JSON.stringify(command));
  }
  return home;
}

describe("a host's own records", () => {
  test("say who it is and what it runs, for its user only, and go when it closes", () => {
    const { directory, store } = newStore();
    const records = store.own("me", ["/sys/fs/cgroup/x"]);
    records.add("a", { pid: 4242, startedAt: "7" });
    const read = (name: string) => JSON.parse(readFileSync(join(records.home, name), "utf8"));
    expect(read("owner.json")).toEqual({ ...self, ...currentWorld(), cgroups: ["/sys/fs/cgroup/x"] });
    expect(read("a.run")).toEqual({ pid: 4242, startedAt: "7" });
    const modes = [directory, records.home, join(records.home, "owner.json"), join(records.home, "a.run")];
    expect(modes.map((path) => statSync(path).mode & 0o777)).toEqual([0o700, 0o700, 0o600, 0o600]);
    records.add("a", { pid: 4242, startedAt: "7" }, [{ pid: 4243, startedAt: "8" }]);
    expect(read("a.run")).toEqual({ pid: 4242, startedAt: "7", also: [{ pid: 4243, startedAt: "8" }] });
    expect(readdirSync(records.home).sort()).toEqual(["a.run", "owner.json"]);
    records.remove("a");
    expect(readdirSync(records.home)).toEqual(["owner.json"]);
    records.close();
    expect(readdirSync(directory)).toEqual([]);
  });

  test("of a command that was never recorded are removed without a fault, closed or not", () => {
    const records = newStore().store.own("me", []);
    records.remove("never");
    records.close();
    records.remove("never");
    records.close();
  });

  test("lie beside no other process's, until one comes that this process does not know", () => {
    const { directory, store } = newStore();
    symlinkSync(dirname(directory), at("by-link"));
    const records = store.own("me", []);
    const second = openRecordStore(join(at("by-link"), basename(directory))).own("second", []);
    expect(hasNeighbours(records.home)).toBe(false);
    mkdirSync(join(directory, "another"));
    expect(hasNeighbours(records.home)).toBe(true);
    rmdirSync(join(directory, "another"));
    expect(hasNeighbours(records.home)).toBe(false);
    second.close();
    mkdirSync(join(directory, "second"));
    expect(hasNeighbours(records.home)).toBe(true);
    expect(hasNeighbours(at("nowhere/me"))).toBe(true);
    rmdirSync(join(directory, "second"));
    symlinkSync("taken", join(directory, "placeholders.turn"));
    writeFileSync(join(directory, "stray-file"), "");
    expect(hasNeighbours(records.home)).toBe(false);
    records.close();
  });

  test("of a living host are nobody's to sweep, neither its own nor another's", async () => {
    const { directory, store } = newStore();
    const records = store.own("me", []);
    records.add("a", self);
    expect([store.orphans(), openRecordStore(directory).orphans()]).toEqual([[], []]);
    expect(await sweepOrphans(openRecordStore(directory))).toEqual({ found: 0, removed: 0, failed: [] });
    expect(readdirSync(records.home).sort()).toEqual(["a.run", "owner.json"]);
  });
});

describe("a directory that others could write", () => {
  test("is refused: by its mode, as a link, as a file", () => {
    const open = makeDirectory("open");
    for (const mode of [0o777, 0o720, 0o702]) {
      chmodSync(open, mode);
      expect(() => openRecordStore(open)).toThrow(`${open} is not a directory that only this user may write`);
    }
    chmodSync(open, 0o755);
    expect(openRecordStore(open).orphans()).toEqual([]);
    symlinkSync(open, at("link"));
    expect(() => openRecordStore(at("link"))).toThrow("is not a directory that only this user may write");
    expect(() => openRecordStore(write("file"))).toThrow();
  });

  test("is refused: by its owner", ({ skip }) => {
    if (process.getuid?.() !== 0) skip("only root can give a directory away");
    const foreign = makeDirectory("foreign");
    chownSync(foreign, 65_534, 65_534);
    expect(() => openRecordStore(foreign)).toThrow("is not a directory that only this user may write");
  });
});

test("a process is the same by pid and start together, and never one that is over", async () => {
  const { pid, startedAt } = await startLeader();
  expect(isSameProcess({ pid, startedAt })).toBe(true);
  expect(isSameProcess({ pid, startedAt: `${startedAt}0` })).toBe(false);
  expect(isSameProcess({ pid, startedAt: "" })).toBe(false);
  process.kill(pid, "SIGKILL");
  await until(() => !isSameProcess({ pid, startedAt }), "its end");
});

test("a process is over for certain where it is gone or another has its pid, and not where it is hidden", async (context) => {
  const isRoot = process.getuid?.() === 0;
  const { pid, startedAt } = await startLeader(isRoot ? "exec setpriv --reuid=1001 sleep 60" : undefined);
  const over = (startedAt: string) => isKnownOver({ pid, startedAt });
  expect([startedAt, `${startedAt}0`, ""].map(over)).toEqual([false, true, false]);
  need(context, isRoot ? missing("unshare") : "only root can mount a /proc that hides others");
  await until(() => statSync(`/proc/${pid}`).uid === 1001, "another user's process");
  // Root without the capability, and the group, that sees everybody.
  const [script, name] = [at("hidden.ts"), new URL("../../host/process-name.ts", import.meta.url)];
  writeFileSync(
    script,
    `import { existsSync } from "node:fs";
    import { isKnownOver, isSameProcess } from ${JSON.stringify(name.href)};
    const name = { pid: ${pid}, startedAt: "${startedAt}" };
    console.log(existsSync("/proc/${pid}/stat"), isSameProcess(name), isKnownOver(name));`,
  );
  const mount =
    'mount -t proc -o hidepid=2 proc /proc && exec setpriv --bounding-set=-sys_ptrace --regid=65534 --clear-groups "$@"';
  const args = ["--mount", "sh", "-c", mount, "sh", ...runScript, script];
  expect(execFileSync("unshare", args, { encoding: "utf8" })).toBe("false false false\n");
  process.kill(pid, "SIGKILL");
  await until(() => over(startedAt), "its end");
});

describe("a sweep", () => {
  test("ends a dead host's commands with all they began, and forgets them", async () => {
    const { directory, store } = newStore();
    const marker = newMarker();
    const sleeper = `sh -c 'sleep 60; :' ${marker}`;
    const leader = await startLeader(`setsid ${sleeper} & ${sleeper} & exec ${sleeper}`);
    await until(() => marked(marker).length >= 3, "the processes of the command");
    const all = marked(marker).map(({ pid }) => pid);
    const home = writeOwner(directory, {}, [{ pid: leader.pid, startedAt: leader.startedAt }]);
    expect(await sweepOrphans(store)).toEqual({ found: 1, removed: 1, failed: [] });
    await until(() => !all.some(runs), "the end of all of them");
    expect(existsSync(home)).toBe(false);
  });

  test("leaves a stranger alone who has a recorded pid", async () => {
    const { directory, store } = newStore();
    const stranger = await startLeader();
    const home = writeOwner(directory, {}, [
      { pid: stranger.pid, startedAt: "1" },
      { pid: stranger.pid, startedAt: "" },
      { pid: process.pid, startedAt: "1" },
    ]);
    expect(await sweepOrphans(store)).toEqual({ found: 0, removed: 0, failed: [] });
    expect([runs(stranger.pid), existsSync(home)]).toEqual([true, false]);
  });

  test("leaves everybody alone whose boot or pid namespace is another", async () => {
    const namespaced = newStore();
    const booted = newStore();
    const stranger = await startLeader();
    const command = { pid: stranger.pid, startedAt: stranger.startedAt };
    const elsewhere = writeOwner(namespaced.directory, { namespace: "pid:[1]" }, [command]);
    const before = writeOwner(booted.directory, { boot: "another" }, [command]);
    for (const { store } of [namespaced, booted]) {
      expect(await sweepOrphans(store)).toEqual({ found: 0, removed: 0, failed: [] });
    }
    expect([runs(stranger.pid), existsSync(elsewhere), existsSync(before)]).toEqual([true, true, false]);
  });

  test("signals nobody for a record that names everybody, or this host itself", async () => {
    const { directory, store } = newStore();
    const { pid: ownChild } = await startLeader();
    const kill = silenced();
    const startOf = (pid: number) => findProcess(pid)?.startedAt ?? "";
    writeOwner(
      directory,
      {},
      [0, 1, -1, process.pid].map((pid) => ({ pid, startedAt: startOf(pid) })),
    );
    const { removed, failed } = await sweepOrphans(store);
    expect([removed, failed.map(({ name }) => name)]).toEqual([0, ["1", String(process.pid)]]);
    expect([kill.mock.calls, runs(ownChild)]).toEqual([[], true]);
  });

  test.each(["", "{", '{"pid":', "null", "5", "[]", "{}", '{"pid":"x","startedAt":1,"boot":2,"namespace":3}'])(
    "passes over an owner's record that says %j",
    async (text) => {
      const { directory, store } = newStore();
      const home = writeOwner(directory);
      writeFileSync(join(home, "owner.json"), text);
      writeFileSync(join(directory, "stray-file"), "x");
      mkdirSync(join(directory, "empty"));
      expect(await sweepOrphans(store)).toEqual({ found: 0, removed: 0, failed: [] });
    },
  );

  test("removes what no host can have any more: what says nothing of one, and was not just made", async () => {
    const { directory, store } = newStore();
    const make = (name: string, secondsOld: number, owner?: string) => {
      const home = join(directory, name);
      mkdirSync(home);
      const then = Date.now() / 1000 - secondsOld;
      if (owner !== undefined) writeFileSync(join(home, "owner.json"), owner);
      if (owner !== undefined) utimesSync(join(home, "owner.json"), then, then);
      utimesSync(home, then, then);
    };
    make("empty", 3600);
    make("half", 3600, '{"pid":');
    make("young", 1);
    make("young-half", 1, "");
    make("alive", 3600, JSON.stringify({ ...self, ...currentWorld(), cgroups: [] }));
    mkdirSync(at("elsewhere"));
    utimesSync(at("elsewhere"), 0, 0);
    symlinkSync(at("elsewhere"), join(directory, "link"));
    writeFileSync(join(directory, "file"), "");
    utimesSync(join(directory, "file"), 0, 0);
    expect(await sweepOrphans(store)).toEqual({ found: 0, removed: 0, failed: [] });
    expect(readdirSync(directory).sort()).toEqual(["alive", "file", "link", "young", "young-half"]);
    expect(existsSync(at("elsewhere"))).toBe(true);
  });

  test("leaves a record alone that it cannot read", async () => {
    const { directory, store } = newStore();
    const home = writeOwner(directory);
    rmSync(join(home, "owner.json"));
    symlinkSync("owner.json", join(home, "owner.json"));
    utimesSync(home, 0, 0);
    expect(await sweepOrphans(store)).toEqual({ found: 0, removed: 0, failed: [] });
    expect(existsSync(home)).toBe(true);
  });

  test("passes over a command's record that is half written, and ends the others", async () => {
    const { directory, store } = newStore();
    const { pid, startedAt } = await startLeader();
    writeOwner(directory, {}, ["", '{"pid":12', "null", "5", { ...self, pid: "self" }, { pid, startedAt }]);
    expect(await sweepOrphans(store)).toEqual({ found: 1, removed: 1, failed: [] });
    await until(() => !runs(pid), "its end");
  });

  test("ends a command's further processes too, also after the command, and counts them as one", async () => {
    const { directory, store } = newStore();
    const [both, over, stranger] = [await startLeader(), await startLeader(), await startLeader()];
    const commandOf = ({ pid, startedAt }: ProcessName) => ({ pid, startedAt });
    const also = [over, { ...stranger, startedAt: "1" }].map(commandOf);
    writeOwner(directory, {}, [
      { ...commandOf(await startLeader()), also: [commandOf(both)] },
      { pid: 2 ** 22 - 1, startedAt: "1", also: ["x", null, { pid: 1 }, ...also] },
      { pid: 2 ** 22 - 1, startedAt: "1", also: "x" },
    ]);
    expect(await sweepOrphans(store)).toEqual({ found: 2, removed: 2, failed: [] });
    await until(() => ![both, over].some(({ pid }) => runs(pid)), "the end of both");
    expect(runs(stranger.pid)).toBe(true);
  });

  test("names a process that it cannot end, counts it as left, and keeps it on record", async () => {
    const { directory, store } = newStore();
    const { pid, startedAt } = await startLeader();
    const home = writeOwner(directory, {}, [{ pid, startedAt }]);
    silenced();
    vi.useFakeTimers();
    const sweeping = sweepOrphans(store);
    await vi.advanceTimersByTimeAsync(2000);
    vi.useRealTimers();
    const failed = [{ kind: "process", name: String(pid), reason: "It could not be ended" }];
    expect(await sweeping).toEqual({ found: 1, removed: 0, failed });
    expect([existsSync(home), runs(pid)]).toEqual([true, true]);
  });

  test("names a cgroup that it cannot remove, soon, and counts what could be ended beside it", async () => {
    const { directory, store } = newStore();
    const { pid, startedAt } = await startLeader();
    const trunk = makeDirectory(`trunk-${stores}`);
    write(`trunk-${stores}/leaf/cgroup.procs`, "999999999\n");
    const home = writeOwner(directory, { cgroups: [trunk] }, [{ pid, startedAt }]);
    const began = performance.now();
    const { found, removed, failed } = await sweepOrphans(store);
    expect(performance.now() - began).toBeLessThan(4000);
    expect([found, removed, existsSync(home), runs(pid)]).toEqual([2, 1, true, false]);
    expect(failed.map(({ kind, name }) => `${kind} ${name}`)).toEqual([`cgroup ${trunk}/leaf`, `cgroup ${trunk}`]);
  });
});
