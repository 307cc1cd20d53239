/** Signals reach whom they are meant for, and nothing else can be named. Nothing here is really sent. */

import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { groupExists, signalGroup, signalProcess } from "../../adapters/_native/signals.ts";

const sent: (readonly [number, unknown])[] = [];
let answer: () => true = () => true;

beforeEach(() => {
  sent.length = 0;
  answer = () => true;
  vi.spyOn(process, "kill").mockImplementation((pid, signal) => {
    sent.push([pid, signal]);
    return answer();
  });
});
afterEach(() => {
  vi.restoreAllMocks();
});

test("a process by its pid, a group by its leader's, and a question by neither", () => {
  expect(signalProcess(4242, "SIGTERM")).toBe(true);
  expect(signalGroup(4242, "SIGKILL")).toBe(true);
  expect(groupExists(4242)).toBe(true);
  expect(sent).toEqual([
    [4242, "SIGTERM"],
    [-4242, "SIGKILL"],
    [-4242, 0],
  ]);
});

describe("is never sent", () => {
  const nobody = [0, 1, -1, -4242, 1.5, Number.NaN, Number.POSITIVE_INFINITY, 2 ** 53];
  const wrong = [undefined, null, "4242", "", {}, [4242], true, 4242n] as unknown as readonly number[];

  test.each([...nobody, ...wrong])("to %s", (pid) => {
    expect(signalProcess(pid, "SIGKILL")).toBe(false);
    expect(signalGroup(pid, "SIGKILL")).toBe(false);
    expect(groupExists(pid)).toBe(false);
    expect(sent).toEqual([]);
  });

  test("to the host itself or the group it leads", () => {
    expect([signalProcess(process.pid, "SIGKILL"), signalGroup(process.pid, "SIGKILL")]).toEqual([false, false]);
    expect(sent).toEqual([]);
  });
});

test.each([
  ["ESRCH", false],
  ["EINVAL", false],
  ["EPERM", true],
])("%s is no error, and says of a group that it exists: %s", (code, exists) => {
  answer = () => {
    throw Object.assign(new Error(code), { code });
  };
  expect([signalProcess(4242, "SIGTERM"), signalGroup(4242, "SIGTERM")]).toEqual([false, false]);
  expect(groupExists(4242)).toBe(exists);
});
