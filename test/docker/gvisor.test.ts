/** gVisor: the same policy with another kernel beneath, where the daemon has it, and a clear no where it has not. */

import { expect, test } from "vitest";
import { dockerScene } from "../fixtures/docker-scene.ts";
import { need } from "../fixtures/needed.ts";
import { docker } from "../rig/docker/place.ts";

const scene = dockerScene();
if (scene !== null) {
  const { open, directory } = scene;

  test("a daemon without the runtime refuses it when the runtime is made", async () => {
    await expect(open({ runtime: "no-such-runtime" })).rejects.toMatchObject({
      code: "backend_unavailable",
      message: expect.stringContaining("The daemon has no runtime no-such-runtime: it has "),
    });
  });

  test("commands run on gVisor's kernel", { timeout: 180_000 }, async (context) => {
    const runtimes = docker("info", "--format", "{{json .Runtimes}}");
    need(
      context,
      runtimes.includes('"runsc"') ? null : "the daemon has no runsc: apt-get install runsc, and start the rig anew",
    );
    const runtime = await open({ runtime: "runsc" }, { runtime: { kill_grace_secs: 0.5 } });
    const kernel = await runtime.execute("dmesg");
    expect(kernel.stdout).toContain("gVisor");
    const { path, read } = await directory();
    const script = "cat; id -u; echo made > f; echo err >&2; exit 5";
    const output = await runtime.execute("sh", ["-c", script], { workingDir: path, stdin: "in\n" });
    expect([output.exitCode, output.stdout, output.stderr]).toEqual([5, "in\n1000\n", "err\n"]);
    expect(await read("f")).toBe("made\n");
    const slow = await runtime.execute("sh", ["-c", "trap '' TERM; while :; do sleep 1; done"], { timeoutMs: 500 });
    expect([slow.outcome, slow.exitCode]).toEqual(["timed_out", 137]);
  });
}
