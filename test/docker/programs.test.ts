/** Programs of a container that its user cannot run: said before anything has begun. */

import { chmodSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { dockerScene } from "../fixtures/docker-scene.ts";

const scene = dockerScene();
if (scene !== null) {
  const { open, directory } = scene;
  const slow = 120_000;

  describe("a program that its user cannot come to", { timeout: slow }, () => {
    test.each([
      ["by its path", "closed/tool", "/opt/tools/closed"],
      ["through a link", "linked", "/opt/tools/closed"],
      ["through a link to its directory", "way/tool", "/opt/tools/closed"],
      ["through a link in it", "closed/link", "/opt/tools/closed"],
      ["for its interpreter", "script", "/opt/tools/closed"],
    ])("%s: it is said which directory is closed to whom", async (_, name, closed) => {
      const { path, write } = await directory();
      chmodSync(path, 0o755);
      await write("closed/tool", "#!/bin/sh\necho ran\n", { executable: true });
      await write("script", "#!/opt/tools/closed/tool\n", { executable: true });
      symlinkSync("closed/tool", join(path, "linked"));
      symlinkSync("/opt/tools/tool", join(path, "closed/link"));
      await write("tool", "#!/bin/sh\necho ran\n", { executable: true });
      symlinkSync("closed", join(path, "way"));
      const runtime = await open({ readonly_mounts: [`${path}:/opt/tools`] });
      const run = () => runtime.execute(`/opt/tools/${name}`);
      chmodSync(join(path, "closed"), 0o755);
      expect((await run()).stdout).toBe("ran\n");
      chmodSync(join(path, "closed"), 0o700);
      const error = await run().catch((thrown: unknown) => thrown);
      expect(error).toMatchObject({ code: "not_executable", started: "no" });
      expect(String(error)).toContain(`${closed} cannot be searched by user 65534`);
    });

    test("is passed over where the PATH has another", async () => {
      const { path, write } = await directory();
      chmodSync(path, 0o755);
      await write("closed/echo", "#!/bin/sh\necho closed\n", { executable: true });
      chmodSync(join(path, "closed"), 0o700);
      const runtime = await open({ readonly_mounts: [`${path}:/opt/tools`] });
      const env = { PATH: "/opt/tools/closed:/bin" };
      expect((await runtime.execute("echo", ["open"], { env })).stdout).toBe("open\n");
    });
  });
}
