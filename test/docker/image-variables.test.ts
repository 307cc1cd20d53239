/** Variables that an image brings, of which nothing was known when the plan was lowered: by a daemon that runs nothing. */

import { expect, onTestFinished, test } from "vitest";
import { createRuntime } from "../../mod.ts";
import { fakeDaemon } from "../fakes/docker-daemon.ts";

test("are told in the result of the execution that pulled it, and by explain from then on", async () => {
  const imageEnv = ["IMAGE_SAYS=hidden", "GIVEN=the image's"];
  const daemon = await fakeDaemon({ pull: { status: 200, lines: [] }, imageEnv });
  onTestFinished(() => daemon.close());
  const docker = { socket: daemon.socket, image: "fake" };
  const runtime = await createRuntime({ runtime: { backend: "docker", docker } });
  onTestFinished(() => runtime.close());
  const options = { env: { GIVEN: "the caller's" } };
  const { warnings } = await runtime.execute("echo", [], options);
  expect(warnings).toEqual([
    { code: "image_variables", message: "Image fake, which was not known before, brings the variables IMAGE_SAYS" },
  ]);
  expect((await runtime.execute("echo", [], options)).warnings).toEqual([]);
  const { addedEnv } = await runtime.explain("echo", [], options);
  expect(addedEnv).toContain("IMAGE_SAYS");
});
