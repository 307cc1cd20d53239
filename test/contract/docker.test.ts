/** The contract on containers of a real Docker daemon: with directories that are mounted. */

import { afterAll, describe, it, test } from "vitest";
import { contractCases, registerContract } from "../../testing.ts";
import { dockerObstacle, dockerTarget } from "../fixtures/docker-target.ts";
import { isolateState } from "../fixtures/host-target.ts";
import { need } from "../fixtures/needed.ts";
import { reportMatrix } from "../fixtures/report-matrix.ts";
import { isWhole } from "../fixtures/whole.ts";

/** Where the JavaScript runtime has most to do with it; each execution takes a daemon half a second. */
const smoke = [
  "result-s",
  "output-b",
  "stdin-",
  "files-in",
  "files-out",
  "timeout-term",
  "cancel-",
  "stream-",
  "tree-t",
];
const cases = isWhole ? contractCases : contractCases.filter(({ id }) => smoke.some((kind) => id.startsWith(kind)));

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
    cases,
  );
}
