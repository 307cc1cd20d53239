/** Races and faults that a real daemon shows once a month, played by one that speaks its protocol and runs nothing. */

import { afterEach, describe, expect, test } from "vitest";
import { createRuntime, type ExecuteOptions, type Runtime } from "../../mod.ts";
import { type FakeDaemon, type Faults, fakeDaemon } from "../fakes/docker-daemon.ts";

const opened: { runtime: Runtime; daemon: FakeDaemon }[] = [];
afterEach(async () => {
  for (const { runtime, daemon } of opened.splice(0)) {
    await runtime.close();
    await daemon.close();
  }
});

async function open(faults: Faults = {}, docker: object = {}) {
  const daemon = await fakeDaemon(faults);
  const settings = { socket: daemon.socket, image: "fake", ...docker };
  const runtime = await createRuntime({ runtime: { backend: "docker", docker: settings } });
  opened.push({ runtime, daemon });
  return { runtime, daemon, run: (options: ExecuteOptions = {}) => runtime.execute("echo", [], options) };
}

const whole = { outcome: "completed", exitCode: 3, stdout: "output\n", stderr: "err" };

describe("the order", () => {
  test("is create, attach and wait, start, inspect, remove", async () => {
    const { run, daemon } = await open();
    expect(await run()).toMatchObject({ ...whole, warnings: [] });
    const calls = daemon.calls.filter((call) => /containers\/(create|ID)/.test(call));
    const at = (call: string) => calls.indexOf(call);
    expect(at("POST /containers/create")).toBe(0);
    expect(at("POST /containers/ID/start")).toBeGreaterThan(at("POST /containers/ID/attach"));
    expect(at("POST /containers/ID/start")).toBeGreaterThan(at("POST /containers/ID/wait"));
    expect(calls.at(-1)).toBe("DELETE /containers/ID");
    expect(daemon.containers.size).toBe(0);
  });

  test("a command that is over before the start is answered has all of its output and its code", async () => {
    const { run } = await open({ overAtStart: true });
    expect(await run()).toMatchObject({ ...whole, warnings: [] });
  });

  test.each([1, 2, 7, 8, 9, 11])("frames that are cut every %i bytes are whole", async (cut) => {
    const { run } = await open({ cut });
    expect(await run()).toMatchObject({ ...whole, warnings: [] });
  });
});

describe("waiting", { timeout: 60_000 }, () => {
  test("a container that is gone before it was begun: nothing has begun", async () => {
    const { run, daemon } = await open({ wait: "missing" });
    await expect(run()).rejects.toMatchObject({ code: "start_failed", started: "no" });
    expect(daemon.calls).not.toContain("POST /containers/ID/start");
  });

  test("a connection that is dropped while nobody knows the end: lost", async () => {
    const { run, daemon } = await open({ wait: "dropped" });
    expect(await run()).toMatchObject({ outcome: "lost", exitCode: null, cause: "connection_lost" });
    expect(daemon.containers.size).toBe(0);
  });

  test("a daemon that tells of the end and is gone a moment later ended its containers itself", async () => {
    const { run } = await open({ goneAfter: "wait" });
    const output = await run();
    expect(output).toMatchObject({ outcome: "lost", exitCode: null, cause: "daemon_restarted" });
    expect(output.warnings.map(({ code }) => code)).toContain("left_behind");
  });
});

describe("stopping", { timeout: 90_000 }, () => {
  test("a command that no signal ends is given up, and its container removed by force", async () => {
    const { run, daemon } = await open({ deaf: true });
    const output = await run({ timeoutMs: 200 });
    expect(output).toMatchObject({ outcome: "timed_out", exitCode: null });
    expect(daemon.killed.length).toBeGreaterThan(2);
    expect(daemon.containers.size).toBe(0);
  });
});

describe("removing", { timeout: 60_000 }, () => {
  test.each([
    ["gone already", [404]],
    ["somebody else is at it", [409, 409, 404]],
    ["an error of the daemon's", [500, 500, 204]],
  ])("%s: tried until it is gone, and nothing is said", async (_, remove) => {
    const { run, daemon } = await open({ remove });
    expect(await run()).toMatchObject({ ...whole, warnings: [] });
    expect(daemon.calls.filter((call) => call.startsWith("DELETE")).length).toBe(remove.length);
  });

  test("what stays is named, and the command's result is given all the same", async () => {
    const { run } = await open({ remove: Array.from({ length: 7 }, () => 500) });
    const output = await run();
    expect(output).toMatchObject(whole);
    expect(output.warnings).toMatchObject([
      { code: "left_behind", message: expect.stringMatching(/container prx-.*fake 500/) },
    ]);
  });

  test("a container that was made while the connection was lost is removed by its name", async () => {
    const { run, daemon } = await open({ createDropped: true });
    await expect(run()).rejects.toMatchObject({ code: "start_failed", started: "no" });
    expect(daemon.containers.size).toBe(0);
  });
});

describe("what stands between", () => {
  test("a proxy that does not upgrade gives the output", async () => {
    const { run } = await open({ attach: "plain" });
    expect(await run()).toMatchObject({ ...whole, warnings: [] });
  });

  test("and takes no input: a clear error, nothing begun, nothing left", async () => {
    const { run, daemon } = await open({ attach: "plain" });
    const error = await run({ stdin: "x" }).catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ code: "start_failed", started: "no" });
    expect(String(error)).toContain("does not upgrade connections");
    expect(daemon.calls).not.toContain("POST /containers/ID/start");
    expect(daemon.containers.size).toBe(0);
  });
});

describe("starting", () => {
  test.each([
    [400, 'OCI runtime create failed: runc: exec: "x": executable file not found in $PATH', "command_not_found"],
    [400, "OCI runtime create failed: exec: permission denied", "not_executable"],
    [500, "runc: fork/exec: argument list too long", "argument_list_too_long"],
    [500, "no space left on device", "start_failed"],
    [409, "conflict", "start_failed"],
  ])("%i %s: %s, and nothing left", async (status, message, code) => {
    const { run, daemon } = await open({ start: { status, message } });
    await expect(run()).rejects.toMatchObject({ code, started: "no" });
    expect(daemon.containers.size).toBe(0);
  });
});

describe("pulling", () => {
  const line = (value: object) => JSON.stringify(value);

  test("an error in the midst of a stream that began well is an error, and nothing is made", async () => {
    const lines = [line({ status: "Pulling fs layer", id: "a" }), line({ error: "unexpected EOF" })];
    const { run, daemon } = await open({ pull: { status: 200, lines } });
    const error = await run().catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ code: "image_pull_failed", started: "no" });
    expect(String(error)).toContain("Image pull failed: fake: unexpected EOF");
    expect(daemon.calls.filter((call) => call === "POST /containers/create").length).toBe(1);
  });

  test("an answer without a stream is one too", async () => {
    const { run } = await open({ pull: { status: 404, lines: ["pull access denied, repository does not exist"] } });
    await expect(run()).rejects.toMatchObject({ code: "image_not_found", started: "no" });
  });

  test("one that takes longer than it may ends by its own limit", async () => {
    const lines = Array.from({ length: 100 }, () => line({ status: "Downloading", id: "a" }));
    const { run } = await open({ pull: { status: 200, lines, pauseMs: 50 } }, { pull_timeout_secs: 0.3 });
    const error = await run({ timeoutMs: 60_000 }).catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ code: "image_pull_failed", started: "no" });
    expect(String(error)).toContain("pull_timeout_secs");
  });

  test("many who wait have one pull, and one who leaves does not end it for the others", async () => {
    const lines = Array.from({ length: 10 }, () => line({ status: "Downloading", id: "a" }));
    const { run, daemon } = await open({ pull: { status: 200, lines, pauseMs: 30 } });
    const stop = new AbortController();
    const [left, stayed] = [run({ signal: stop.signal }), run()];
    setTimeout(() => stop.abort(), 100);
    await expect(left).rejects.toMatchObject({ code: "cancelled_before_start" });
    expect(await stayed).toMatchObject({ exitCode: 3 });
    expect(daemon.calls.filter((call) => call === "POST /images/create").length).toBe(1);
  });

  test("a tag is always asked for, so that not every tag is pulled", async () => {
    const { run, daemon } = await open({ pull: { status: 200, lines: [] } });
    await run();
    const query = daemon.queries[daemon.calls.indexOf("POST /images/create")];
    expect([query?.get("fromImage"), query?.get("tag")]).toEqual(["fake", "latest"]);
  });
});

test.each([
  [{ ApiVersion: "1.40", MinAPIVersion: "1.12" }, /speaks API 1.12 to 1.40, and this adapter 1.41 to/],
  [{ ApiVersion: "1.99", MinAPIVersion: "1.98" }, /Upgrade whichever is older/],
])("a daemon of another time is told apart: %o", async (version, reason) => {
  const daemon = await fakeDaemon({ version });
  const attempt = createRuntime({ runtime: { backend: "docker", docker: { socket: daemon.socket } } });
  await expect(attempt).rejects.toThrow(reason);
  await daemon.close();
});
