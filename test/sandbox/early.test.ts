/** A command that is to end before it has begun ends at once, and as one that was asked. */

import { afterAll, beforeEach, describe, expect, onTestFinished, test } from "vitest";
import type { Runtime, RuntimeError } from "../../mod.ts";
import { isolateState } from "../fixtures/host-target.ts";
import { need } from "../fixtures/needed.ts";
import { tried } from "./against.ts";
import { sandboxedRuntime } from "./ways.ts";

const state = isolateState();
afterAll(() => state.remove());

describe.each(tried)("in %s", (backend, obstacle) => {
  let runtime: Runtime;

  beforeEach(async (context) => {
    need(context, obstacle);
    // Far longer than the test may take.
    runtime = await sandboxedRuntime(backend, {}, { runtime: { backend: "native", kill_grace_secs: 600 } });
    onTestFinished(() => runtime.close());
  });

  test.each([0, 1, 3, 5, 8, 12, 20, 40, 80, 150, 300])("%i ms after it was started", async (ms) => {
    const stop = new AbortController();
    const running = runtime.execute("/bin/sleep", ["300"], { signal: stop.signal });
    setTimeout(() => stop.abort(), ms);
    const ended = await running.then(
      ({ outcome, exitCode }) => [outcome, exitCode],
      ({ code }: RuntimeError) => [code],
    );
    expect([["cancelled", 143], ["cancelled_before_start"]]).toContainEqual(ended);
  });
});
