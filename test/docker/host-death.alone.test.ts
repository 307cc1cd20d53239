/** A host that is killed cannot clean up: the next one removes what it left, and nothing of anybody else's. */

import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { afterEach, expect, test } from "vitest";
import { busybox, dockerScene } from "../fixtures/docker-scene.ts";
import { dockerLeft } from "../fixtures/docker-target.ts";
import { runScript } from "../fixtures/runtimes.ts";
import { docker, testedHost } from "../rig/docker/place.ts";

const scene = dockerScene();
const script = fileURLToPath(new URL("../fixtures/docker-host.ts", import.meta.url));
const [program, ...before] = runScript;
const env = () => ({ ...process.env, DOCKER_HOST: testedHost });

if (scene !== null) {
  const hosts: ChildProcess[] = [];
  const strangers: string[] = [];
  afterEach(() => {
    for (const host of hosts.splice(0)) host.kill("SIGKILL");
    for (const name of strangers.splice(0)) docker("rm", "--force", "--volumes", name);
  });

  /** A host with so many commands running. */
  async function begin(count: number): Promise<number> {
    const host = spawn(program, [...before, script, "run", String(count)], {
      env: env(),
      stdio: ["ignore", "pipe", "inherit"],
    });
    hosts.push(host);
    for await (const chunk of host.stdout) if (String(chunk).includes("ready")) break;
    return host.pid ?? 0;
  }

  async function kill(pid: number): Promise<void> {
    const host = hosts.find((one) => one.pid === pid);
    const gone = host === undefined ? null : once(host, "exit");
    host?.kill("SIGKILL");
    await gone;
  }

  function stranger(name: string, ...flags: readonly string[]): string {
    strangers.push(name);
    docker("run", "--detach", "--name", name, ...flags, busybox, "sleep", "300");
    return name;
  }

  const isRunning = (name: string) => docker("ps", "--quiet", "--filter", `name=^${name}$`) !== "";

  test("only the dead host's containers are removed", { timeout: 120_000 }, async () => {
    const [dead, alive] = [await begin(2), await begin(1)];
    // What has our labels by way of an image that was made of one of ours, and what has nothing to do with us.
    const labels = docker("inspect", "--format", "{{json .Config.Labels}}", dockerLeft(dead)[0] ?? "");
    const flags = Object.entries(JSON.parse(labels) as Record<string, string>).flatMap(([name, value]) => [
      "--label",
      `${name}=${value}`,
    ]);
    const names = [stranger(`job-${dead}`), stranger(`inherits-${dead}`, ...flags)];
    expect(dockerLeft(dead).length).toBe(3);
    await kill(dead);
    const started = spawnSync(program, [...before, script, "start"], { env: env(), encoding: "utf8" });
    expect(JSON.parse(started.stdout)).toContainEqual("leftovers_ended Removed 2 of 2 containers of dead hosts");
    expect(dockerLeft(dead)).toEqual([`inherits-${dead}`]);
    expect(dockerLeft(alive).length).toBe(1);
    for (const name of names) expect(isRunning(name)).toBe(true);
    await kill(alive);
    spawnSync(program, [...before, script, "start"], { env: env() });
    expect(dockerLeft(alive)).toEqual([]);
  });

  test("a script that closes its runtime ends by itself", { timeout: 60_000 }, () => {
    const { stdout, stderr, status } = spawnSync(program, [...before, script, "echo", "5"], {
      env: env(),
      encoding: "utf8",
      timeout: 30_000,
    });
    expect([status, stdout, stderr]).toEqual([0, "hi\n".repeat(5), ""]);
  });
}
