/** Cancels that come while a daemon has not answered yet, by one that speaks its protocol and answers when it is told to. */

import { afterEach, describe, expect, test } from "vitest";
import { createRuntime, type Runtime } from "../../mod.ts";
import { type FakeDaemon, type Faults, fakeDaemon } from "../fakes/docker-daemon.ts";

const opened: { runtime: Runtime; daemon: FakeDaemon }[] = [];
afterEach(async () => {
  for (const { runtime, daemon } of opened.splice(0)) {
    await runtime.close();
    await daemon.close();
  }
});

async function open(faults: Faults) {
  const daemon = await fakeDaemon(faults);
  const runtime = await createRuntime({
    runtime: { backend: "docker", docker: { socket: daemon.socket, image: "x" } },
  });
  opened.push({ runtime, daemon });
  return { runtime, daemon, run: (signal: AbortSignal) => runtime.execute("echo", [], { signal }) };
}

describe("cancelling while the daemon is at it", { timeout: 60_000 }, () => {
  const asked = {
    create: "POST /containers/create",
    inspect: "GET /containers/ID/json",
    start: "POST /containers/ID/start",
  };

  /** Answers how it ended before the daemon went on. */
  async function cancelIn(held: keyof typeof asked) {
    const { runtime, daemon, run } = await open({ held });
    const stop = new AbortController();
    const running = run(stop.signal);
    const ended = running.then(
      ({ outcome, exitCode }) => [outcome, exitCode],
      ({ code, started }) => [code, started],
    );
    await expect.poll(() => daemon.calls).toContain(asked[held]);
    stop.abort();
    return { runtime, daemon, how: await ended };
  }

  test.each(["create", "inspect"] as const)("in %s: nothing has begun, and what is made later goes", async (held) => {
    const { daemon, how } = await cancelIn(held);
    expect(how).toEqual(["cancelled_before_start", "no"]);
    daemon.goOn();
    await expect.poll(() => daemon.calls.at(-1)).toBe("DELETE /containers/ID");
    expect(daemon.containers.size).toBe(0);
    expect(daemon.calls).not.toContain(asked.start);
  });

  test("in start: it may have begun, nobody knows how it ended, and the container goes", async () => {
    const { daemon, how } = await cancelIn("start");
    expect(how).toEqual(["cancelled", null]);
    daemon.goOn();
    await expect.poll(() => daemon.containers.size).toBe(0);
  });

  test("closing waits for what is still to go", async () => {
    const { daemon, runtime } = await cancelIn("create");
    const closed = runtime.close();
    daemon.goOn();
    await closed;
    expect(daemon.calls.at(-1)).toBe("DELETE /containers/ID");
    expect(daemon.containers.size).toBe(0);
  });
});
