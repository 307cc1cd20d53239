/** What a sandbox denied is told from evidence, and never of a command that succeeded. */

import { describe, expect, test } from "vitest";
import { withoutComplaint, withTail } from "../../adapters/_native/sandbox/command-stderr.ts";
import { type Evidence, findDenials } from "../../adapters/_native/sandbox/denials.ts";
import { countUnroutable } from "../../adapters/_native/sandbox/network-counters.ts";
import { composeView } from "../../adapters/_native/sandbox/view.ts";

const view = composeView({
  system: [{ kind: "readonly", at: "/usr", source: "/usr" }],
  ...{
    toolchains: [],
    listed: [],
    protectedPaths: [],
    keptFiles: [],
    hidden: [],
    network: false,
    workingDir: "/home/u/w",
    home: "/home/u",
  },
});
const evidence: Evidence = { view, exit: { kind: "exited", code: 1 }, stderr: "", unroutable: 0 };
const denied = (over: Partial<Evidence>) => findDenials({ ...evidence, ...over }).map(({ code }) => code);
const message = (stderr: string) => findDenials({ ...evidence, stderr })[0]?.message;

describe("the network", () => {
  test("was denied where the kernel counted, whatever the command says", () => {
    expect(denied({ unroutable: 2, stderr: "oops" })).toEqual(["denied_network"]);
    expect(denied({ unroutable: 0, stderr: "Network is unreachable" })).toEqual([]);
  });

  test("was denied by the words of the resolver where nothing could be counted", () => {
    expect(denied({ unroutable: null, stderr: "curl: (6) Could not resolve host: a" })).toEqual(["denied_network"]);
    expect(denied({ unroutable: 0, stderr: "getaddrinfo EAI_AGAIN a" })).toEqual(["denied_network"]);
    expect(denied({ unroutable: null, stderr: "oops" })).toEqual([]);
  });

  test("was not denied to whoever has one", () => {
    expect(denied({ view: { ...view, network: true }, unroutable: null, stderr: "no such host" })).toEqual([]);
  });
});

describe("the file system", () => {
  test.each([
    ["cat: /home/u/.ssh/id: No such file or directory", "/home/u/.ssh/id"],
    ["/usr/bin/cat: /srv/data: No such file or directory", "/srv/data"],
    ["FileNotFoundError: [Errno 2] No such file or directory: '/opt/a/b'", "/opt/a/b"],
    ["fatal: repository '/some/repo' does not exist", "/some/repo"],
    ["Error: ENOENT: no such file or directory, open '/data/x.json'", "/data/x.json"],
  ])("hid what the complaint names: %s", (stderr, path) => {
    expect(message(stderr)).toMatch(`missed ${path}, which the sandbox does not show`);
  });

  test.each([
    ["touch: cannot touch '/usr/x': Read-only file system", " /usr/x,"],
    ["sh: 1: cannot create /etc/passwd: Read-only file system", " /etc/passwd,"],
    ["EROFS: read-only file system, open 'x'", ","],
  ])("kept what could not be written: %s", (stderr, path) => {
    expect(message(stderr)).toMatch(`could not write${path} which the sandbox keeps as it is`);
  });

  test.each([
    "cat: /home/u/w/missing: No such file or directory",
    "cat: /usr/missing: No such file or directory",
    "cat: missing: No such file or directory",
    "cat: /proc/12/x: No such file or directory",
    "everything is fine with /srv/data",
  ])("is not to blame for what is seen, or was not complained about: %s", (stderr) => {
    expect(denied({ stderr })).toEqual([]);
  });
});

test("a program that the filter ended is told", () => {
  expect(denied({ exit: { kind: "exited", code: 159 } })).toEqual(["denied_privilege"]);
});

test.each<Evidence["exit"]>([
  { kind: "exited", code: 0 },
  { kind: "signaled", signal: "SIGKILL", number: 9 },
])("nothing is told of one that succeeded or was ended: %j", (exit) => {
  expect(denied({ exit, unroutable: 5, stderr: "cat: /srv/x: No such file or directory" })).toEqual([]);
});

test("the kernel's counters, in both of its forms", () => {
  const snmp = "Ip: Forwarding OutNoRoutes\nIp: 2 3\nTcp: A\nTcp: 9\nUdp: InDatagrams NoPorts\nUdp: 7 2\n";
  expect(countUnroutable(snmp)).toBe(3);
  expect(countUnroutable("Ip6InReceives\t4\nIp6OutNoRoutes\t6\nUdp6NoPorts 1\n")).toBe(6);
  expect(countUnroutable("")).toBe(0);
});

describe("stderr", () => {
  const source = (...chunks: string[]) => ({
    read: async () => {
      const chunk = chunks.shift();
      return chunk === undefined ? null : new TextEncoder().encode(chunk);
    },
    cancel: () => {},
  });
  const all = async (from: { read(): Promise<Uint8Array | null> }) => {
    const parts: string[] = [];
    for (let chunk = await from.read(); chunk !== null; chunk = await from.read())
      parts.push(new TextDecoder().decode(chunk));
    return parts;
  };

  test("is passed on as it is but for the program's own complaint", async () => {
    expect(await all(withoutComplaint(source("x", "bwrap: y"), "bwrap: ", async () => true))).toEqual([
      "x",
      "bwrap: y",
    ]);
    expect(await all(withoutComplaint(source("bwrap: ", "y"), "bwrap: ", async () => true))).toEqual([]);
    expect(await all(withoutComplaint(source("bwrap: ", "y"), "bwrap: ", async () => false))).toEqual(["bwrap: ", "y"]);
  });

  test("leaves its last bytes behind, and no more", async () => {
    const tail = withTail(source("a".repeat(5000), "b".repeat(5000), "end"));
    await all(tail.source);
    expect(tail.text()).toBe(`${"a".repeat(3189)}${"b".repeat(5000)}end`);
    const large = withTail(source("x".repeat(20_000)));
    await all(large.source);
    expect(large.text()).toHaveLength(8192);
  });
});
