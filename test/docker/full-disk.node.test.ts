/** A daemon whose disk is full: what cannot be run says so, nothing of it stays, and with room again everything goes on. */

import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { createRuntime } from "../../mod.ts";
import { dockerObstacle } from "../fixtures/docker-target.ts";
import { need } from "../fixtures/needed.ts";
import { startProgram, stopProgram, within } from "../rig/docker/background.ts";
import { docker, isRig, run } from "../rig/docker/place.ts";

const image = "prx-rig/busybox:latest";

test("a full disk", { timeout: 180_000 }, async (context) => {
  need(
    context,
    dockerObstacle() ?? (isRig ? null : "the rig's own daemon is not used, and another is not to be started"),
  );
  const home = mkdtempSync(join(tmpdir(), "full-"));
  const [data, socket] = [join(home, "data"), join(home, "docker.sock")];
  const own = (...args: readonly string[]) => run("docker", ["--host", `unix://${socket}`, ...args]).trim();
  mkdirSync(data);
  run("mount", ["-t", "tmpfs", "-o", "size=64m", "full", data]);
  try {
    writeFileSync(join(home, "daemon.json"), "{}");
    startProgram({
      name: "full-dockerd",
      program: "dockerd",
      args: [
        ...["--config-file", join(home, "daemon.json"), "--data-root", data, "--exec-root", join(home, "exec")],
        ...["--pidfile", join(home, "pid"), "--host", `unix://${socket}`, "--bridge=none"],
        ...["--iptables=false", "--ip6tables=false"],
      ],
    });
    const isUp = () => {
      try {
        own("version");
        return true;
      } catch {
        return false;
      }
    };
    expect(await within(60_000, isUp)).toBe(true);
    docker("save", image, "--output", join(home, "image.tar"));
    own("load", "--input", join(home, "image.tar"));

    await using runtime = await createRuntime({ runtime: { backend: "docker", docker: { socket, image } } });
    const fill = ["-c", "dd if=/dev/zero of=big bs=1M count=200 2>/tmp/said; cat /tmp/said; exit 7"];
    const full = await runtime.execute("sh", fill, { outputs: ["none"] });
    expect([full.exitCode, full.stdout]).toEqual([7, expect.stringContaining("No space left on device")]);
    expect(own("ps", "--all", "--quiet")).toBe("");
    expect(own("volume", "ls", "--quiet")).toBe("");

    // Full before anything is made.
    run("sh", ["-c", 'head -c 200M /dev/zero > "$1" 2>/dev/null || true', "sh", join(data, "ballast")]);
    const error = await runtime.execute("true").catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ code: "start_failed", started: "no" });
    expect(String(error)).toMatch(/no space left.*Make room on the daemon's disk/is);
    rmSync(join(data, "ballast"));
    expect((await runtime.execute("echo", ["again"])).stdout).toBe("again\n");
    expect(own("ps", "--all", "--quiet")).toBe("");
    expect(own("volume", "ls", "--quiet")).toBe("");
  } finally {
    await stopProgram("full-dockerd");
    run("umount", ["--lazy", data]);
    rmSync(home, { recursive: true, force: true });
  }
});
