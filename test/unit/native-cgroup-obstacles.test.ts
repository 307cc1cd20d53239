/** Why a machine cannot keep a limit in cgroup version 2 is said in one sentence, with what to do about it. */

import { spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import type { Hierarchy } from "../../adapters/_native/cgroup-mounts.ts";
import { obstacleTo, whyUndivided } from "../../adapters/_native/cgroup-obstacles.ts";

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
const sentence = /^[A-Z].*[^.]$/;

describe("why a controller cannot be had", () => {
  const given = { "cgroup.controllers": "cpu memory pids\n", "cgroup.subtree_control": "\n" };
  const domain = { ...given, "cgroup.type": "domain\n" };

  test("it can where it is handed down already, at the root, and where only this process is", () => {
    const handed = {
      ...given,
      "cgroup.type": "domain\n",
      "cgroup.procs": "1\n",
      "cgroup.subtree_control": "pids memory\n",
    };
    expect(obstacleTo(fakeCgroup(handed), "memory")).toBeNull();
    expect(obstacleTo(fakeCgroup({ ...given, "cgroup.procs": "1\n2\n" }), "memory")).toBeNull();
    expect(obstacleTo(fakeCgroup({ ...domain, "cgroup.procs": `${process.pid}\n` }), "memory")).toBeNull();
  });

  test("processes that this one has begun are no strangers", () => {
    const child = spawn(process.execPath, ["-e", "setTimeout(() => {}, 60_000)"], { stdio: "ignore" });
    expect(obstacleTo(fakeCgroup({ ...domain, "cgroup.procs": `${process.pid}\n${child.pid}\n` }), "pids")).toBeNull();
    child.kill("SIGKILL");
  });

  test.runIf(process.platform === "linux")("another process is named, one of another namespace is counted", () => {
    const one = obstacleTo(fakeCgroup({ ...domain, "cgroup.procs": `1\n${process.pid}\n` }), "memory");
    expect(one).toMatch(/^The cgroup \S+ also holds another process \(\S.* 1\), which stay/);
    expect(one).toMatch(sentence);
    expect(one).toContain("systemd-run --user --scope -p Delegate=yes");
    const two = obstacleTo(fakeCgroup({ ...domain, "cgroup.procs": "0\n0\n" }), "memory");
    expect(two).toMatch(/also holds 2 other processes, which stay/);
  });

  test("the kernel, the parent, the owner and the type of the cgroup each have a reason of their own", () => {
    const none = { ...given, "cgroup.controllers": "hugetlb\n" };
    const reasons = [
      [none, /^The kernel has no memory controller in cgroup version 2, or version 1 has taken it$/],
      [{ ...none, "cgroup.type": "domain\n" }, /is not given the memory controller: .*Delegate=yes/],
      [{ "cgroup.controllers": "memory\n", "cgroup.type": "domain\n" }, /is not this user's to divide: start this/],
      [{ ...given, "cgroup.type": "domain threaded\n" }, /is of type domain threaded and hands no memory down: /],
    ] as const;
    for (const [files, reason] of reasons) {
      const said = obstacleTo(fakeCgroup(files), "memory");
      expect(said).toMatch(reason);
      expect(said).toMatch(sentence);
    }
  });

  test("and so has a machine where no cgroup can be made", () => {
    expect(whyUndivided([])).toBe("There is no cgroup file system mounted here that this process is in");
    const hierarchy: Hierarchy = { version: 2, controllers: [], home: join(base, "missing") };
    expect(whyUndivided([hierarchy])).toMatch(/missing is not this user's to divide: start this program alone/);
  });
});
