/** The native backend as a whole: what it finds when it is made, what it refuses to pretend, and that closing it leaves nothing. */

import { existsSync, mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { native } from "../../adapters/native.ts";
import { currentWorld } from "../../host/process-name.ts";
import { createSystemHost } from "../../host/system-host.ts";
import type { Warning } from "../../src/types.ts";
import { configOf } from "./core-parts.ts";
import { runs, startLeader, until } from "./native-processes.ts";
import { scratchDirectory } from "./native-scratch.ts";

const { at, makeDirectory } = scratchDirectory();

/** The adapter with its state in a directory of the test's own, closed with it. */
async function adapterOf(config: unknown = {}, env: Readonly<Record<string, string>> = { PRX_STATE_DIR: at("state") }) {
  const told: Warning[] = [];
  const host = { ...createSystemHost(), env };
  const { adapter } = await native({ config: configOf(config), host, log: (message) => told.push(message) });
  onTestFinished(async () => adapter.close?.());
  return { adapter, told, owner: host.owner };
}

describe("where its records are", () => {
  const children = (path: string) => (existsSync(path) ? readdirSync(path) : []);

  test("the operator's own directory, else the user's runtime directory", async () => {
    const runtime = makeDirectory("runtime");
    const named = await adapterOf({}, { PRX_STATE_DIR: at("named"), XDG_RUNTIME_DIR: runtime });
    expect([children(at("named")), children(runtime)]).toEqual([[named.owner], []]);
    const user = await adapterOf({}, { PRX_STATE_DIR: "", XDG_RUNTIME_DIR: runtime });
    expect(children(join(runtime, "prx-runtime"))).toEqual([user.owner]);
  });
});

describe("available", () => {
  test.each([{}, { security: { sandbox: { backend: "none" } } }])(
    "it is, and says what holds its commands: %j",
    async (config) => {
      const { adapter } = await adapterOf(config);
      expect(await adapter.isAvailable()).toEqual({
        available: true,
        details: expect.stringMatching(/^Local processes, held by (cgroup v[12]|process group|process tree)$/),
      });
    },
  );

  test.each([
    [{ allow_network: true }, "security.sandbox.allow_network is"],
    [{ writable_paths: ["/data"] }, "security.sandbox.writable_paths is"],
    [
      { bubblewrap: { readonly_paths: ["/data"] }, allow_network: false },
      "allow_network, security.sandbox.readonly_paths are",
    ],
  ])("it is not where keys of a sandbox are written and none is asked for: %j", async (sandbox, keys) => {
    const { adapter } = await adapterOf({ security: { sandbox } });
    expect(await adapter.isAvailable()).toEqual({
      available: false,
      reason: expect.stringContaining(keys),
      remedy: expect.stringContaining("leave these keys out"),
    });
  });
});

test("all share one listener, and closing leaves nothing: no directory, no listener; it may be done again", async () => {
  const before = process.listenerCount("exit");
  const { adapter, owner } = await adapterOf();
  const other = await adapterOf();
  expect(process.listenerCount("exit")).toBe(before + 1);
  expect(readdirSync(at("state")).sort()).toEqual([owner, other.owner].sort());
  await adapter.close?.();
  expect([process.listenerCount("exit"), readdirSync(at("state"))]).toEqual([before + 1, [other.owner]]);
  await adapter.close?.();
  await other.adapter.close?.();
  expect([process.listenerCount("exit"), readdirSync(at("state"))]).toEqual([before, []]);
});

test("it ends what a dead host left when it is made, and tells of it; later when it is asked to", async () => {
  const left = async () => {
    const { pid, startedAt } = await startLeader();
    const home = join(at("state"), "dead");
    mkdirSync(home, { recursive: true });
    const owner = { pid: process.pid, startedAt: "1", ...currentWorld(), cgroups: [] };
    writeFileSync(join(home, "owner.json"), JSON.stringify(owner));
    writeFileSync(join(home, "1.run"), JSON.stringify({ pid, startedAt }));
    return pid;
  };
  mkdirSync(at("state"), { recursive: true, mode: 0o700 });
  const first = await left();
  const { adapter, told } = await adapterOf();
  await until(() => !runs(first), "its end");
  expect(told).toEqual([{ code: "leftovers_ended", message: "Ended 1 of 1 executions of dead hosts" }]);
  const second = await left();
  expect(await adapter.sweep?.(async () => false)).toEqual({ found: 1, removed: 1, failed: [] });
  await until(() => !runs(second), "its end");
  expect(told.length).toBe(1);
});
