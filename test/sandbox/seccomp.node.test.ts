/** The seccomp filter on the kernel: put on by bubblewrap, and its like by firejail, around small programs and real ones. */

import { execFileSync } from "node:child_process";
import { describe, expect, test } from "vitest";
import { architectureOf } from "../../adapters/_native/seccomp-filter.ts";
import { numberOf, type SyscallName, syscallNumbers } from "../../adapters/_native/syscalls.ts";
import { missing, need } from "../fixtures/needed.ts";
import {
  type Argv,
  answers,
  bubblewrap,
  firejail,
  program,
  unfiltered,
  whyNotBubblewrap,
  whyNotFirejail,
} from "./sandboxes.ts";

const aimed = ["ptrace", "process_vm_readv", "process_vm_writev", "kcmp", "pidfd_open"] as const;
const inspected: readonly string[] = [
  ...["ioctl", "socket", "socketpair", "clone", "unshare", "personality"],
  ...aimed,
];
const fallsBack = ["clone3", "uselib", "_sysctl", "nfsservctl", "lookup_dcookie"];
const all = (Object.keys(syscallNumbers) as SyscallName[]).filter(
  (name) => !inspected.includes(name) && numberOf(name, architectureOf(process.arch) ?? "x86_64") !== null,
);
/** Arguments that no call can do harm with, if it should pass. */
const nonsense = Array.from({ length: 6 }, () => 0xffff_ffff_ffff_ffffn);
const refusals = all.map((name) => `${name}: ${fallsBack.includes(name) ? "ENOSYS" : "EPERM"}`);
const calls = all.map((name) => [name, ...nonsense] as const);

/** Real programs of everyday use, as argv and what they print. */
const python = `
import os, threading, subprocess, tempfile
done = []
workers = [threading.Thread(target=lambda: done.append(os.stat("/").st_mode)) for _ in range(8)]
for worker in workers: worker.start()
for worker in workers: worker.join()
print(len(done), subprocess.run(["echo", "child"], capture_output=True, text=True).stdout.strip())`;
const node = `
const { Worker } = require("node:worker_threads");
const { execFileSync } = require("node:child_process");
require("node:fs").promises.stat("/").then(() => {
  const worker = new Worker('require("node:worker_threads").parentPort.postMessage("thread")', { eval: true });
  worker.on("message", (said) => console.log(said, execFileSync("echo", ["child"], { encoding: "utf8" }).trim()));
});`;
const everyday: readonly (readonly [name: string, argv: Argv, prints: string])[] = [
  ["python3", ["python3", "-c", python], "8 child"],
  ["node", [process.execPath, "-e", node], "thread child"],
  ["sh", ["sh", "-c", "ls / | wc -l >/dev/null; (sleep 0.01; echo late) & wait; date >/dev/null"], "late"],
];

describe.each([
  ["bubblewrap", bubblewrap, whyNotBubblewrap, "EAFNOSUPPORT", "EPROTONOSUPPORT"],
  ["firejail", firejail, whyNotFirejail, "EOPNOTSUPP", "0"],
] as const)("by %s", (_, sandbox, why, noFamily, noProtocol) => {
  test("every call of the list is refused", (context) => {
    need(context, why);
    expect(answers(sandbox, calls)).toEqual(refusals);
  });

  test("new namespaces are refused, and unshare without one is not", (context) => {
    need(context, why);
    const kinds = [0x20000, 0x2000000, 0x4000000, 0x8000000, 0x10000000, 0x20000000, 0x40000000];
    const made = kinds.flatMap((kind) => [["unshare", kind] as const, ["clone", kind | 17] as const]);
    expect(new Set(answers(sandbox, made))).toEqual(new Set(["unshare: EPERM", "clone: EPERM"]));
    expect(answers(sandbox, [["unshare", 0x80]])).toEqual(["unshare: EPERM"]);
    expect(
      answers(sandbox, [
        ["unshare", 0x200],
        ["clone", 17],
      ]),
    ).toEqual(["unshare: 0", "clone: 0"]);
    expect(sandbox("unshare", "--user", "true").status).toBe(1);
  });

  test("sockets are local, of the Internet, or of netlink", (context) => {
    need(context, why);
    const those = [
      ["socket", 1, 1],
      ["socket", 2, 1],
      ["socket", 16, 3, 0],
    ] as const;
    expect(answers(sandbox, those)).toEqual(["socket: 0", "socket: 0", "socket: 0"]);
    const others = [3, 17, 21, 29, 30, 31, 38, 40, 44, 45].map((one) => ["socket", one, 3] as const);
    expect(new Set(answers(sandbox, others))).toEqual(new Set([`socket: ${noFamily}`]));
    expect(answers(sandbox, [["socket", 16, 3, 9]])).toEqual([`socket: ${noProtocol}`]);
  });

  test("a personality is asked for, and not one that maps the first page", (context) => {
    need(context, why);
    expect(
      answers(sandbox, [
        ["personality", 0xffffffff],
        ["personality", 0x100000],
      ]),
    ).toEqual(["personality: 0", "personality: EPERM"]);
  });

  test("what is newer than the list is left to the kernel", (context) => {
    need(context, whyNotBubblewrap ?? why);
    const numbers = [449, 450, 451, 452, 453, 454, 455, 457, 462, 463, 468, 469, 470, 600, 900];
    const asked = numbers.map((number) => [number, ...nonsense] as const);
    expect(answers(sandbox, asked)).toEqual(answers(unfiltered, asked));
  });

  test("threads, spawn, epoll, sockets and a debugger work", (context) => {
    need(context, why);
    const { stdout, stderr } = sandbox(program("ordinary"));
    const steps = stdout.trim().split("\n");
    expect(steps.filter((step) => !step.startsWith("ok ")).join() + stderr).toBe("");
    expect(steps).toHaveLength(9);
  });

  test.for(everyday)("%s works", ([name, argv, prints], context) => {
    need(context, why ?? missing(name));
    const { stdout, stderr } = sandbox(...argv);
    expect(`${stdout.trim()}${stderr}`).toBe(prints);
  });
});

describe("by bubblewrap alone", () => {
  test("without the filter the same calls answer otherwise", (context) => {
    need(context, whyNotBubblewrap);
    if (process.getuid?.() !== 0) context.skip("the kernel itself refuses these to all but root");
    const same = answers(unfiltered, calls).filter((answer, at) => answer === refusals[at]);
    // What kernels are built without by now, and what is refused by sysctl or by another part of the machine.
    expect(same.length).toBeLessThan(12);
    expect(same.filter((answer) => /^(keyctl|mount|bpf|setns|clone3|io_uring_setup):/.test(answer))).toEqual([]);
  });

  test("nobody types into a terminal, however the request is written", (context) => {
    need(context, whyNotBubblewrap);
    const requests = [0x5412, 0x1_0000_5412, 0x541c, 0x5423, 0x5413];
    const told = answers(
      bubblewrap,
      requests.map((request) => ["ioctl", 0, request] as const),
    );
    // 25 is ENOTTY: TIOCGWINSZ is asked of /dev/null.
    expect(told).toEqual([...Array.from({ length: 4 }, () => "ioctl: EPERM"), "ioctl: 25"]);
  });

  test("no call is aimed at its own process 1, and the same calls are at others", (context) => {
    need(context, whyNotBubblewrap);
    // PTRACE_SEIZE is 0x4206; of a nonsensical process nothing is known (3 is ESRCH).
    const at = (pid: number) =>
      [
        ["ptrace", 0x4206, pid],
        ["process_vm_readv", pid, 0, 0, 0, 0],
        ["process_vm_writev", pid, 0, 0, 0, 0],
        ["kcmp", pid, pid, 0],
        ["kcmp", 2, pid, 0],
        ["pidfd_open", pid],
      ] as const;
    expect(new Set(answers(bubblewrap, at(1)).map((answer) => answer.split(": ")[1]))).toEqual(new Set(["EPERM"]));
    expect(answers(bubblewrap, at(4_000_000)).filter((answer) => answer.endsWith(": EPERM"))).toEqual([]);
    expect(answers(bubblewrap, [["pidfd_open", 2]])).toEqual(["pidfd_open: 0"]);
  });

  test("a debugger may turn the randomising of addresses off", (context) => {
    need(context, whyNotBubblewrap);
    expect(answers(bubblewrap, [["personality", 0x40000]])).toEqual(["personality: 0"]);
  });

  test("no packet socket by its oldest name", (context) => {
    need(context, whyNotBubblewrap);
    expect(answers(bubblewrap, [["socket", 2, 10, 768]])).toEqual(["socket: EAFNOSUPPORT"]);
  });

  test("x32 is not there, and a call of 32-bit x86 ends the process by SIGSYS", (context) => {
    need(context, whyNotBubblewrap);
    if (process.arch !== "x64") context.skip("x86_64 has these");
    expect(answers(bubblewrap, [[0x4000_0027], [521]])).toEqual([`${0x4000_0027}: ENOSYS`, "521: ENOSYS"]);
    // 128 and the signal's number, as bubblewrap tells it.
    expect(bubblewrap(program("foreign"))).toMatchObject({ status: 128 + 31, stdout: "" });
  });
});

describe("by firejail alone", () => {
  test("its own process 1, which has no filter, is out of reach", (context) => {
    need(context, whyNotFirejail);
    expect(firejail(program("first-process")).stdout.trim()).toBe("0 0");
  });

  test("a call of 32-bit x86 is refused", (context) => {
    need(context, whyNotFirejail);
    if (process.arch !== "x64") context.skip("x86_64 has these");
    expect(firejail(program("foreign")).stdout.trim()).toBe("-1");
  });
});

test("the numbers are those of the kernel's headers", (context) => {
  need(context, missing("gcc"));
  const numbersIn = (header: string, ...flags: string[]) => {
    const input = `#include <${header}>\n`;
    const text = execFileSync("gcc", ["-E", "-dM", ...flags, "-x", "c", "-"], { input, encoding: "utf8" });
    return new Map([...text.matchAll(/#define __NR_(\w+) (\d+)$/gm)].map(([, name, number]) => [name, Number(number)]));
  };
  const generic = numbersIn("asm-generic/unistd.h", "-D__BITS_PER_LONG=64", "-D__ARCH_WANT_SYS_CLONE3");
  const x64 = process.arch === "x64" ? numbersIn("asm/unistd_64.h") : new Map<string | undefined, number>();
  const known = (map: ReadonlyMap<string | undefined, number>, name: string, number: number | null) =>
    map.size === 0 || (map.get(name) ?? number) === number;
  const wrong = Object.entries(syscallNumbers).filter(
    ([name, [first, second]]) => !known(x64, name, first) || !known(generic, name, second),
  );
  expect([wrong, generic.size > 250]).toEqual([[], true]);
});
