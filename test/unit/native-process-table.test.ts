/** What the kernel says of processes, read right whatever the processes call themselves, and who belongs to whom. */

import { describe, expect, test } from "vitest";
import {
  familyOf,
  findProcess,
  isInitBelow,
  listProcesses,
  type ProcessEntry,
  parsePs,
  parseStat,
} from "../../host/process-table.ts";

/** The text of `/proc/PID/stat` for a process of that name. */
function stat(name: string, { pid = 4242, state = "S", startedAt = "987654", threads = 1 } = {}): string {
  const numbers = `1 2 3 34816 4242 4194304 96 0 0 0 7 8 0 0 20 0 ${threads} 0`.split(" ");
  return `${pid} (${name}) ${[state, ...numbers, startedAt, "2318336", "512"].join(" ")}\n`;
}

describe("parseStat", () => {
  test.each([
    ["sh"],
    ["Web Content"],
    ["(sd-pam)"],
    ["a) Z 7 8 9 ("],
    [") R 1"],
    ["line\nbreak"],
    [""],
    ["tmux: server"],
    [" (x) "],
  ])("a process called %j", (name) => {
    expect(parseStat(stat(name))).toEqual({
      ...{ pid: 4242, parent: 1, group: 2, session: 3, startedAt: "987654", zombie: false },
    });
  });

  test.each([
    ["Z", true],
    ["X", true],
    ["R", false],
    ["D", false],
    ["T", false],
    ["I", false],
  ])("state %s: over %s", (state, zombie) => {
    expect(parseStat(stat("sh", { state }))?.zombie).toBe(zombie);
  });

  test("whose first thread has ended and others have not is not over", () => {
    expect(parseStat(stat("sh", { state: "Z", threads: 2 }))?.zombie).toBe(false);
    expect(parseStat(stat("sh", { state: "X", threads: 0 }))?.zombie).toBe(true);
  });

  test.each([[""], ["4242"], ["4242 (sh"], ["4242 (sh) S 1 2 3"], ["(sh) S 1 2 3"], ["no such process"]])(
    "%j is none",
    (text) => {
      expect(parseStat(text)).toBeNull();
    },
  );
});

describe("parsePs", () => {
  const sample = [
    "    1     0     1      0 Ss   Mon Oct  6 09:12:44 2025    ",
    "  501     1   501      0 S+   Tue Oct  7 10:00:00 2025",
    "  777   501   501 ffffff8 Z    Tue Oct  7 10:00:01 2025",
    "99999 98765 12345      0 ??   Wed Oct  8 23:59:59 2025",
    "",
    "  PID  PPID  PGID   SESS STAT STARTED",
    "garbage",
  ].join("\n");

  test("reads what ps prints on macOS, and nothing else", () => {
    const session = 0;
    expect(parsePs(sample)).toEqual([
      { pid: 1, parent: 0, group: 1, session, startedAt: "Mon Oct  6 09:12:44 2025", zombie: false },
      { pid: 501, parent: 1, group: 501, session, startedAt: "Tue Oct  7 10:00:00 2025", zombie: false },
      { pid: 777, parent: 501, group: 501, session, startedAt: "Tue Oct  7 10:00:01 2025", zombie: true },
      { pid: 99999, parent: 98765, group: 12345, session, startedAt: "Wed Oct  8 23:59:59 2025", zombie: false },
    ]);
    expect(parsePs("")).toEqual([]);
  });
});

describe("familyOf", () => {
  const entry = (pid: number, parent: number, rest: Partial<ProcessEntry> = {}): ProcessEntry => ({
    ...{ pid, parent, group: pid, session: pid, startedAt: "1", zombie: false },
    ...rest,
  });
  const of = (leader: number, ...table: readonly ProcessEntry[]) => familyOf(leader, table).map(({ pid }) => pid);

  test("holds the leader, its group, its session and every descendant, in any order of the table", () => {
    const table = [
      entry(50, 40),
      entry(40, 30, { group: 30, session: 30 }),
      entry(30, 20),
      entry(20, 10),
      entry(11, 1, { group: 10, session: 10 }),
      entry(12, 1, { session: 10 }),
      entry(13, 12),
      entry(10, 5),
      entry(5, 1),
      entry(60, 5),
      entry(1, 0),
    ];
    const family = [50, 40, 30, 20, 11, 12, 13, 10];
    expect(of(10, ...table)).toEqual(family);
    expect(of(10, ...table.toReversed())).toEqual(family.toReversed());
  });

  test("holds those who stayed in the group after the leader is gone", () => {
    expect(of(10, entry(11, 1, { group: 10, session: 10 }), entry(12, 11), entry(9, 1))).toEqual([11, 12]);
  });

  test("leads through a zombie but does not hold it", () => {
    expect(of(10, entry(10, 5), entry(11, 10, { zombie: true }), entry(12, 11))).toEqual([10, 12]);
  });

  test("of somebody who was never started, or who leads everybody, is nobody", () => {
    const table = [entry(1, 0), entry(2, 0, { group: 0, session: 0 }), entry(100, 1), entry(101, 100)];
    for (const leader of [0, 1, -1, Number.NaN]) expect(of(leader, ...table)).toEqual([]);
  });

  test("of somebody alone is nobody else, not even where no session is known", () => {
    const table = [entry(10, 5, { session: 0 }), entry(20, 5, { session: 0 }), entry(5, 1, { session: 0 })];
    expect(of(10, ...table)).toEqual([10]);
  });
});

test("this process finds itself, its start unchanged, and nobody of a pid that is none", () => {
  const found = findProcess(process.pid);
  expect(found).toMatchObject({ pid: process.pid, parent: process.ppid, zombie: false });
  expect(found?.startedAt).not.toBe("");
  expect(findProcess(process.pid)?.startedAt).toBe(found?.startedAt);
  expect(listProcesses()).toContainEqual(expect.objectContaining({ pid: process.pid, startedAt: found?.startedAt }));
  for (const pid of [0, -1, 2 ** 22 + 1, Number.NaN]) expect(findProcess(pid)).toBeNull();
});

test("nobody here is the first process of a namespace below, and nobody is who is not there", () => {
  expect([process.pid, process.ppid, 1, 0, 2 ** 22 - 1].map(isInitBelow)).toEqual(Array(5).fill(false));
});
