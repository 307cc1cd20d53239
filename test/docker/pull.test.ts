/** Pulling, from real registries on loopback: told on the way, once for all who wait, as the user that docker knows. */

import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { dockerScene } from "../fixtures/docker-scene.ts";
import { need } from "../fixtures/needed.ts";
import { docker, isRig, lockedRegistryPort, registryPort } from "../rig/docker/place.ts";
import { pulledImage, registryObstacle, registryUser } from "../rig/docker/registry.ts";

const scene = dockerScene();
const obstacle = isRig ? registryObstacle() : "the registries belong to the rig's own daemon";
test("registries are there", (context) => need(context, obstacle));

if (scene !== null && obstacle === null) {
  const { open } = scene;
  const image = pulledImage(registryPort);
  const locked = pulledImage(lockedRegistryPort);
  const timeout = 120_000;
  let settings = "";
  const forget = () => {
    for (const name of [image, locked]) if (docker("images", "--quiet", name) !== "") docker("rmi", name);
  };

  beforeEach(() => {
    forget();
    settings = mkdtempSync(join(tmpdir(), "docker-config-"));
    process.env["DOCKER_CONFIG"] = settings;
  });
  afterEach(() => {
    forget();
    delete process.env["DOCKER_CONFIG"];
    rmSync(settings, { recursive: true, force: true });
  });

  test("a missing image is pulled and told of, and its time is not the command's", { timeout }, async () => {
    const runtime = await open({ image });
    const phases: string[] = [];
    const fractions: number[] = [];
    for await (const event of runtime.stream("sleep", ["0.2"], { timeoutMs: 20_000 })) {
      if (event.type === "progress") phases.push(event.phase);
      if (event.type === "progress" && event.fraction !== undefined) fractions.push(event.fraction);
      if (event.type !== "finished") continue;
      expect(event.output.exitCode).toBe(0);
      expect(event.output.timings.pullMs).toBeGreaterThan(0);
      expect(event.output.durationMs).toBeLessThan(5000);
    }
    expect([phases[0], phases.at(-1)]).toEqual(["pull", "start"]);
    expect(fractions.at(-1)).toBe(1);
    expect(fractions).toEqual([...fractions].sort((a, b) => a - b));
    const again = await runtime.execute("true");
    expect(again.timings.pullMs).toBe(0);
  });

  test("an image that is named by its digest is that one and no other", { timeout }, async () => {
    const byTag = await open({ image });
    expect((await byTag.execute("true")).exitCode).toBe(0);
    const digest = docker("inspect", "--format", "{{index .RepoDigests 0}}", image);
    expect(digest).toMatch(/@sha256:[0-9a-f]{64}$/);
    docker("rmi", image);
    const byDigest = await open({ image: digest });
    expect((await byDigest.execute("echo", ["pinned"])).stdout).toBe("pinned\n");
    docker("rmi", digest);
    const other = await open({ image: digest.replace(/[0-9a-f]{8}$/, "00000000") });
    await expect(other.execute("true")).rejects.toMatchObject({ code: "image_not_found", started: "no" });
  });

  test("many who wait for one image have one pull", { timeout }, async () => {
    const runtime = await open({ image });
    const outputs = await Promise.all([1, 2, 3, 4, 5].map((code) => runtime.execute("sh", ["-c", `exit ${code}`])));
    expect(outputs.map(({ exitCode }) => exitCode)).toEqual([1, 2, 3, 4, 5]);
  });

  test("an image that is not in its registry, and a registry that is not there", { timeout }, async () => {
    const missing = await open({ image: `127.0.0.1:${registryPort}/prx/none:1` });
    await expect(missing.execute("true")).rejects.toMatchObject({ code: "image_not_found", started: "no" });
    const nowhere = await open({ image: "127.0.0.1:1/prx/none:1" });
    const error = await nowhere.execute("true").catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ code: "image_pull_failed", started: "no" });
    expect(String(error)).toContain("Image pull failed: 127.0.0.1:1/prx/none:1");
  });

  test("a registry that asks who one is lets in whom docker's settings name, and nobody else", {
    timeout,
  }, async () => {
    const stranger = await open({ image: locked });
    const refused = await stranger.execute("true").catch((thrown: unknown) => thrown);
    expect(refused).toMatchObject({ code: expect.stringMatching(/^image_(pull_failed|not_found)$/), started: "no" });
    const auth = Buffer.from(`${registryUser.name}:${registryUser.password}`).toString("base64");
    const file = { auths: { [`127.0.0.1:${lockedRegistryPort}`]: { auth } } };
    writeFileSync(join(settings, "config.json"), JSON.stringify(file));
    const runtime = await open({ image: locked });
    expect((await runtime.execute("echo", ["in"])).stdout).toBe("in\n");
  });

  test("a credential helper is asked where the settings name one", { timeout }, async () => {
    const bin = join(settings, "bin");
    mkdirSync(bin);
    const answer = JSON.stringify({ Username: registryUser.name, Secret: registryUser.password });
    writeFileSync(join(bin, "docker-credential-rig"), `#!/bin/sh\ncat >/dev/null\necho '${answer}'\n`, { mode: 0o755 });
    writeFileSync(join(settings, "config.json"), JSON.stringify({ credsStore: "rig" }));
    const before = process.env["PATH"];
    process.env["PATH"] = `${bin}:${before}`;
    try {
      const runtime = await open({ image: locked });
      expect((await runtime.execute("echo", ["in"])).stdout).toBe("in\n");
    } finally {
      process.env["PATH"] = before;
    }
  });
}
