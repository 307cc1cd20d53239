/** Where this process is in the cgroup hierarchies, on every kind of host. */

import { existsSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { findHierarchies, parseHierarchies } from "../../adapters/_native/cgroup-mounts.ts";

/** One line of `/proc/self/mountinfo`. */
const mount = (root: string, point: string, type: string, options: string) =>
  `31 23 0:28 ${root} ${point} rw,nosuid shared:5 master:7 - ${type} ${type} ${options}`;
const homes = (mounts: readonly string[], cgroups: readonly string[]) =>
  parseHierarchies(`${mounts.join("\n")}\n`, `${cgroups.join("\n")}\n`);

describe("version 1", () => {
  test("one hierarchy for each, several controllers in one, and a named one without any", () => {
    const mounts = [
      "23 1 252:1 / / rw - ext4 /dev/vda1 rw",
      "31 23 0:28 / /sys/fs/cgroup rw - tmpfs tmpfs rw,mode=755",
      mount("/", "/sys/fs/cgroup/cpu,cpuacct", "cgroup", "rw,cpu,cpuacct"),
      mount("/", "/sys/fs/cgroup/memory", "cgroup", "rw,memory"),
      mount("/", "/sys/fs/cgroup/systemd", "cgroup", "rw,xattr,release_agent=/x,name=systemd"),
      mount("/", "/sys/fs/cgroup/pids", "cgroup", "rw,pids"),
    ];
    const cgroups = ["4:memory:/", "3:cpu,cpuacct:/user.slice", "2:name=systemd:/user.slice/session-1.scope"];
    expect(homes(mounts, cgroups)).toEqual([
      { version: 1, controllers: ["cpu", "cpuacct"], home: "/sys/fs/cgroup/cpu,cpuacct/user.slice" },
      { version: 1, controllers: ["memory"], home: "/sys/fs/cgroup/memory" },
      { version: 1, controllers: [], home: "/sys/fs/cgroup/systemd/user.slice/session-1.scope" },
    ]);
  });

  test("a controller whose name begins like another's is another", () => {
    const mounts = [mount("/", "/cpuset", "cgroup", "rw,cpuset"), mount("/", "/cpu", "cgroup", "rw,cpu")];
    expect(homes(mounts, ["1:cpu:/a"])).toEqual([{ version: 1, controllers: ["cpu"], home: "/cpu/a" }]);
  });
});

describe("version 2", () => {
  test("has one, and lists no controller here", () => {
    const mounts = [mount("/", "/sys/fs/cgroup", "cgroup2", "rw,nsdelegate")];
    const home = "/sys/fs/cgroup/user.slice/a.service";
    expect(homes(mounts, ["0::/user.slice/a.service"])).toEqual([{ version: 2, controllers: [], home }]);
    expect(homes(mounts, ["0::/"])).toEqual([{ version: 2, controllers: [], home: "/sys/fs/cgroup" }]);
  });

  test("beside version 1, each has its own", () => {
    const mounts = [
      mount("/", "/sys/fs/cgroup/unified", "cgroup2", "rw"),
      mount("/", "/sys/fs/cgroup/pids", "cgroup", "rw,pids"),
    ];
    expect(homes(mounts, ["8:pids:/p", "0::/u"])).toEqual([
      { version: 2, controllers: [], home: "/sys/fs/cgroup/unified/u" },
      { version: 1, controllers: ["pids"], home: "/sys/fs/cgroup/pids/p" },
    ]);
  });
});

describe("a mount of a part", () => {
  const of = (root: string, path: string) => homes([mount(root, "/sys/fs/cgroup", "cgroup2", "rw")], [`0::${path}`]);

  test("as containers have it: what is below its root is below its mount point", () => {
    expect(of("/docker/abc", "/docker/abc")).toMatchObject([{ home: "/sys/fs/cgroup" }]);
    expect(of("/docker/abc", "/docker/abc/init")).toMatchObject([{ home: "/sys/fs/cgroup/init" }]);
  });

  test("that this process is not in is no place for it", () => {
    expect(of("/docker/abc", "/docker/abcd")).toEqual([]);
    expect(of("/docker/abc", "/docker")).toEqual([]);
    expect(of("/docker/abc", "/")).toEqual([]);
  });

  test("from outside of the cgroup namespace is none either", () => {
    expect(of("/", "/../other")).toEqual([]);
    expect(of("/..", "/")).toEqual([]);
  });
});

test("a process that was born in a host's seat belongs to the cgroup that the seat was made for", () => {
  const mounts = [mount("/", "/sys/fs/cgroup", "cgroup2", "rw")];
  const homeOf = (path: string) => homes(mounts, [`0::${path}`])[0]?.home;
  expect(homeOf("/a/prx-runtime-host")).toBe("/sys/fs/cgroup/a");
  expect(homeOf("/prx-runtime-host")).toBe("/sys/fs/cgroup");
  expect(homeOf("/prx-runtime-host/b")).toBe("/sys/fs/cgroup/prx-runtime-host/b");
  expect(homeOf("/a/my-prx-runtime-host")).toBe("/sys/fs/cgroup/a/my-prx-runtime-host");
});

test("blanks in mount point and root are read as what they are", () => {
  const mounts = [mount("/a\\040b", "/mnt/my\\040cgroups\\011\\134x", "cgroup2", "rw")];
  expect(homes(mounts, ["0::/a b/c"])).toEqual([{ version: 2, controllers: [], home: "/mnt/my cgroups\t\\x/c" }]);
});

test("no cgroups, or nothing that is one, are none", () => {
  expect(parseHierarchies("", "")).toEqual([]);
  expect(homes(["nonsense"], ["nonsense", "0::/"])).toEqual([]);
  expect(homes([mount("/", "/sys/fs/cgroup", "cgroup2", "rw")], [])).toEqual([]);
});

test("what is found on this machine is there", () => {
  for (const { home } of findHierarchies()) expect([home, existsSync(`${home}/cgroup.procs`)]).toEqual([home, true]);
});
