/** Progress on stderr: a line that changes on a terminal, a line now and then elsewhere, nothing for what is soon over. */

import { afterEach, beforeEach, expect, test, vi } from "vitest";
import type { Output } from "../../cli/output.ts";
import { createProgressLine } from "../../cli/progress-line.ts";
import type { Progress } from "../../src/types.ts";

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

function fakeOutput(isTerminal: boolean): Output & { readonly written: string[] } {
  const written: string[] = [];
  const write = async (data: string | Uint8Array) => void written.push(String(data));
  return { written, write, isTerminal, columns: 40, paint: (_, text) => text };
}

const pull = (fraction: number): Progress => ({ phase: "pull", message: "debian:bookworm-slim", fraction });

test("what is soon over shows nothing", async () => {
  for (const isTerminal of [true, false]) {
    const err = fakeOutput(isTerminal);
    const line = createProgressLine(err, { quiet: false });
    line.show(pull(0));
    await vi.advanceTimersByTimeAsync(150);
    await line.clear();
    await vi.advanceTimersByTimeAsync(20_000);
    expect(err.written).toEqual([]);
  }
});

test("on a terminal one line changes, fits, and goes away", async () => {
  const err = fakeOutput(true);
  const line = createProgressLine(err, { quiet: false });
  line.show(pull(0.1));
  await vi.advanceTimersByTimeAsync(250);
  line.show(pull(0.2));
  line.show(pull(0.3));
  await vi.advanceTimersByTimeAsync(150);
  await line.clear();
  expect(err.written).toEqual([
    `\r\x1b[2K${"prx-runtime: pull: debian:bookworm-slim 10%".slice(0, 39)}`,
    `\r\x1b[2K${"prx-runtime: pull: debian:bookworm-slim 30%".slice(0, 39)}`,
    "\r\x1b[2K",
  ]);
});

test("elsewhere there are lines, few of them, and none is said twice", async () => {
  const err = fakeOutput(false);
  const line = createProgressLine(err, { quiet: false });
  for (let step = 0; step < 100; step++) {
    line.show(pull(Math.min(step / 50, 1)));
    await vi.advanceTimersByTimeAsync(200);
  }
  await line.clear();
  expect(err.written).toEqual([
    "prx-runtime: pull: debian:bookworm-slim 18%\n",
    "prx-runtime: pull: debian:bookworm-slim 68%\n",
    "prx-runtime: pull: debian:bookworm-slim 100%\n",
  ]);
});

test("--quiet shows nothing, and an output that fails disturbs nobody", async () => {
  const quiet = fakeOutput(false);
  const line = createProgressLine(quiet, { quiet: true });
  line.show(pull(0));
  await vi.advanceTimersByTimeAsync(10_000);
  expect(quiet.written).toEqual([]);
  const broken = createProgressLine(
    { ...fakeOutput(false), write: () => Promise.reject(new Error("gone")) },
    { quiet: false },
  );
  broken.show(pull(0));
  await vi.advanceTimersByTimeAsync(10_000);
  await broken.clear();
});
