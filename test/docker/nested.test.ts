/** Commands that work above another one's directory: they can exchange it, and no container is given what they put there. */

import { chmodSync, chownSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import type { ContractDirectory } from "../../testing.ts";
import { dockerScene } from "../fixtures/docker-scene.ts";
import { need } from "../fixtures/needed.ts";
import { obstacleTo, sandboxedRuntime } from "../sandbox/ways.ts";

const scene = dockerScene();
if (scene !== null) {
  const { open, directory } = scene;
  const slow = 120_000;
  const user = { uid: 1000, gid: 1000 };

  /** A directory with another one in it, and one outside that no command is to see. */
  async function places(): Promise<{ above: ContractDirectory; inner: string; outside: ContractDirectory }> {
    const [above, outside] = [await directory(), await directory()];
    const inner = join(above.path, "inner");
    mkdirSync(inner);
    writeFileSync(join(inner, "whose"), "inside");
    writeFileSync(join(outside.path, "whose"), "outside");
    chmodSync(outside.path, 0o755);
    if (process.getuid?.() === 0) for (const path of [inner, join(inner, "whose")]) chownSync(path, user.uid, user.gid);
    return { above, inner, outside };
  }

  /** Begins a command and answers once it has said so; it runs until it is stopped. */
  async function begin(script: string, workingDir: string): Promise<() => Promise<void>> {
    const runtime = await open();
    const stop = new AbortController();
    const events = runtime.stream("sh", ["-c", script], { workingDir, timeoutMs: 0, signal: stop.signal });
    const begun = Promise.withResolvers<void>();
    const over = (async () => {
      for await (const event of events) if (event.type === "stdout") begun.resolve();
    })();
    over.catch(begun.reject);
    await begun.promise;
    return async () => {
      stop.abort();
      await over;
    };
  }

  describe("a directory below the one of a command that runs", { timeout: slow }, () => {
    test("is never what that command puts in its place", async () => {
      const { above, inner, outside } = await places();
      const exchange = `echo begun; while :; do mv inner kept; ln -s ${outside.path} inner; rm inner; mv kept inner; done`;
      const stop = await begin(exchange, above.path);
      // A caller may name a link, but not one that leads out of here.
      const runtime = await open({ allowed_workspace_roots: [above.path] });
      const seen: string[] = [];
      for (let round = 0; round < 24; round += 1) {
        const running = runtime.execute("cat", ["whose"], { workingDir: inner });
        await running.then(({ stdout }) => seen.push(stdout)).catch(() => seen.push("refused"));
      }
      await stop();
      expect(seen).not.toContain("outside");
    });

    test("is copied, and the result says why; afterwards it is mounted", async () => {
      const { above, inner } = await places();
      const stop = await begin("echo begun; exec sleep 300", above.path);
      const runtime = await open();
      const change = () => runtime.execute("sh", ["-c", "cat whose; printf more >> whose"], { workingDir: inner });
      const copied = await change();
      expect([copied.stdout, copied.warnings.map(({ code }) => code)]).toEqual(["inside", ["workspace_copied"]]);
      expect(copied.warnings[0]?.message).toContain("above it");
      await stop();
      const mounted = await change();
      expect([mounted.stdout, mounted.warnings]).toEqual(["insidemore", []]);
    });

    test("cannot be seen by readonly_mounts either", async () => {
      const { above, inner } = await places();
      const runtime = await open({ readonly_mounts: [`${inner}:/opt/inner`] });
      const read = () => runtime.execute("cat", ["/opt/inner/whose"]);
      const stop = await begin("echo begun; exec sleep 300", above.path);
      await expect(read()).rejects.toMatchObject({ code: "policy_unenforceable", started: "no" });
      await stop();
      expect((await read()).stdout).toBe("inside");
    });
  });

  test("a sandboxed command above it is one too", { timeout: slow }, async (context) => {
    need(context, await obstacleTo("bubblewrap"));
    const { above, inner } = await places();
    // Root without capabilities is one of the others.
    chmodSync(above.path, 0o755);
    const sandboxed = await sandboxedRuntime("bubblewrap");
    const stop = new AbortController();
    const options = { workingDir: above.path, signal: stop.signal, timeoutMs: 0 };
    for await (const event of sandboxed.stream("sh", ["-c", "echo begun; exec sleep 300"], options)) {
      if (event.type !== "stdout") continue;
      const runtime = await open();
      const { stdout, warnings } = await runtime.execute("cat", ["whose"], { workingDir: inner });
      expect([stdout, warnings.map(({ code }) => code)]).toEqual(["inside", ["workspace_copied"]]);
      stop.abort();
    }
    await sandboxed.close();
  });

  test("beside one another and in one and the same directory nothing is copied", { timeout: slow }, async () => {
    const { above, inner } = await places();
    const stop = await begin("echo begun; exec sleep 300", inner);
    const runtime = await open();
    for (const workingDir of [inner, above.path])
      expect((await runtime.execute("true", [], { workingDir })).warnings).toEqual([]);
    await stop();
  });
}
