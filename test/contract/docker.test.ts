/** The contract on containers of a real Docker daemon: with directories that are mounted. */

import { afterAll, describe, it, test } from "vitest";
import { registerContract } from "../../testing.ts";
import { dockerObstacle, dockerTarget } from "../fixtures/docker-target.ts";
import { isolateState } from "../fixtures/host-target.ts";
import { need } from "../fixtures/needed.ts";
import { reportMatrix } from "../fixtures/report-matrix.ts";

const obstacle = dockerObstacle();
test("a Docker daemon is there", (context) => need(context, obstacle));

if (obstacle === null) {
  const { scratch, remove } = isolateState();
  afterAll(() => {
    remove();
    reportMatrix();
  });
  registerContract(
    { describe, it, skip: (title, reason) => it(title, ({ skip }) => skip(reason)) },
    dockerTarget(scratch, { name: "docker" }),
  );
}
