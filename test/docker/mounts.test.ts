/** What a daemon has in the place of a directory, and who else is at work there, by one that speaks its protocol and runs nothing. */

import { chownSync, mkdirSync, mkdtempSync, readdirSync, realpathSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, describe, expect, onTestFinished, test } from "vitest";
import { createRuntime } from "../../mod.ts";
import { type Faults, fakeDaemon } from "../fakes/docker-daemon.ts";

let above: string;
let inner: string;
beforeEach(() => {
  above = realpathSync(mkdtempSync(join(tmpdir(), "mounts-")));
  inner = join(above, "inner");
  mkdirSync(inner);
  if (process.getuid?.() === 0) for (const path of [above, inner]) chownSync(path, 1000, 1000);
});
afterEach(() => rmSync(above, { recursive: true, force: true }));

async function open(faults: Faults) {
  const daemon = await fakeDaemon(faults);
  onTestFinished(() => daemon.close());
  const runtime = await createRuntime({
    runtime: { backend: "docker", docker: { socket: daemon.socket, image: "x" } },
  });
  onTestFinished(() => runtime.close());
  return { daemon, run: (workingDir: string) => runtime.execute("echo", [], { workingDir }) };
}

const codes = ({ warnings }: { readonly warnings: readonly { readonly code: string }[] }) =>
  warnings.map(({ code }) => code);

test("a directory is mounted where the daemon has that very one, and it is left as it was", async () => {
  const { run, daemon } = await open({ mounts: "same" });
  expect(codes(await run(inner))).toEqual([]);
  expect(readdirSync(inner)).toEqual([]);
  expect(daemon.calls).not.toContain("PUT /containers/ID/archive");
});

test("another machine's is not taken for it because it has the same time and mode", async () => {
  const { run, daemon } = await open({ mounts: "alike" });
  expect(codes(await run(inner))).toContain("workspace_copied");
  expect(daemon.calls).toContain("PUT /containers/ID/archive");
});

test("what may be read is looked at each time, by its real path", async () => {
  const daemon = await fakeDaemon();
  onTestFinished(() => daemon.close());
  const tools = join(above, "tools");
  symlinkSync(inner, tools);
  const docker = { socket: daemon.socket, image: "x", readonly_mounts: [`${tools}:/opt/tools`] };
  const runtime = await createRuntime({ runtime: { backend: "docker", docker } });
  onTestFinished(() => runtime.close());
  expect((await runtime.execute("echo")).warnings).toEqual([]);
  expect(daemon.created).toMatchObject([{ HostConfig: { Mounts: [{ Source: inner, Target: "/opt/tools" }] } }]);
  rmSync(tools);
  symlinkSync(dirname(daemon.socket), tools);
  await expect(runtime.execute("echo")).rejects.toMatchObject({
    code: "policy_unenforceable",
    message: expect.stringContaining("holds the daemon's socket"),
  });
  expect(daemon.created.length).toBe(1);
});

describe("another container", () => {
  const ours = (State: string, Source: string, more: object = {}) => ({
    ...{ Id: "o", Names: ["/prx-other"], State, Created: Date.now() / 1000 },
    Labels: { "prx-runtime.id": "other", "prx-runtime.owner": "someone", "prx-runtime.kept": "false", ...more },
    Mounts: [{ Type: "bind", Source, RW: true }],
  });
  const theirs = (State: string, Source: string, RW = true) => ({
    ...{ Id: "t", Names: ["/theirs"], State, Created: 1, Labels: {} },
    Mounts: [{ Type: "bind", Source, RW }],
  });
  const copying = () => ({ ...ours("exited", "", { "prx-runtime.directory": above }), Mounts: [] });

  test.each([
    ["somebody's that runs above it", () => theirs("running", above), ["workspace_copied"]],
    ["one that is about to begin there", () => ours("created", above), ["workspace_copied"]],
    ["one that brings its changes back there", copying, ["workspace_copied"]],
    ["one that can only read it", () => theirs("running", above, false), []],
    ["one that is over", () => theirs("exited", above), []],
    ["one in the very directory", () => ours("running", inner), []],
    ["one beside it", () => theirs("running", `${inner}-more`), []],
  ])("%s", async (_, other, warnings) => {
    const { run } = await open({ mounts: "same", listed: [[other()]] });
    expect(codes(await run(inner))).toEqual(warnings.length === 0 ? [] : expect.arrayContaining(warnings));
  });

  test("whose directory this command could exchange is waited for until it has been mounted", async () => {
    const before = ours("created", inner);
    const { run, daemon } = await open({
      mounts: "same",
      listed: [[], [before], [before], [before], [ours("running", inner)]],
    });
    expect(codes(await run(above))).toEqual([]);
    const lists = daemon.calls.slice(0, daemon.calls.indexOf("POST /containers/ID/start"));
    expect(lists.filter((call) => call === "GET /containers/json").length).toBe(5);
  });
});
