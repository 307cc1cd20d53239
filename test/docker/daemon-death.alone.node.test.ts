/** A daemon that dies in mid-run: the command is lost, and never said to have ended with a number that nobody told. */

import { expect, test } from "vitest";
import { dockerScene } from "../fixtures/docker-scene.ts";
import { runningPid, within } from "../rig/docker/background.ts";
import { startDaemon } from "../rig/docker/daemon.ts";
import { answers, isRig } from "../rig/docker/place.ts";

const scene = dockerScene();
if (scene !== null) {
  const { open } = scene;
  // It ends with 0 when it is asked to, as a server does.
  const script = "trap 'exit 0' TERM; echo ready; while :; do sleep 0.1; done";

  test.each(["SIGTERM", "SIGKILL"] as const)("%s to the daemon", { timeout: 180_000 }, async (signal) => {
    const runtime = await open();
    let restarted: Promise<unknown> = Promise.resolve();
    for await (const event of runtime.stream("sh", ["-c", script], { timeoutMs: 0 })) {
      if (event.type === "stdout") {
        process.kill(runningPid("dockerd") ?? 0, signal);
        restarted = within(30_000, () => !answers()).then(startDaemon);
      }
      if (event.type !== "finished") continue;
      const { outcome, exitCode, cause, warnings } = event.output;
      expect([outcome, exitCode, cause]).toEqual(["lost", null, "daemon_restarted"]);
      expect(warnings.filter(({ code }) => code === "left_behind")).toEqual([]);
    }
    await restarted;
    expect((await runtime.execute("echo", ["again"])).stdout).toBe("again\n");
  });
  if (!isRig) test.beforeEach(({ skip }) => skip("A daemon of somebody's own is not to be killed"));
}
