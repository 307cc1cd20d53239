/** The contract on containers of a daemon that is reached by TCP, as one on another machine is: directories are copied in and back. */

import { afterAll, describe, it, test } from "vitest";
import { contractCases, registerContract } from "../../testing.ts";
import { dockerObstacle, dockerTarget, tcpHost } from "../fixtures/docker-target.ts";
import { isolateState } from "../fixtures/host-target.ts";
import { need } from "../fixtures/needed.ts";
import { reportMatrix } from "../fixtures/report-matrix.ts";
import { isWhole } from "../fixtures/whole.ts";

const obstacle = tcpHost === null ? "the daemon is not the rig's, which listens on loopback" : dockerObstacle();
test("a Docker daemon is there, by TCP", (context) => need(context, obstacle));

if (obstacle === null && tcpHost !== null) {
  const { scratch, remove } = isolateState();
  afterAll(() => {
    remove();
    reportMatrix();
  });
  // What depends on the way to the daemon, and on how directories reach it: the rest is the same as by the socket.
  const all = ["dir-", "files-", "env-path", "error-script", "error-no-", "stdin-", "output-i", "tree-c", "cancel-d"];
  const kinds = isWhole ? all : ["dir-used", "files-out", "stdin-e"];
  registerContract(
    { describe, it, skip: (title, reason) => it(title, ({ skip }) => skip(reason)) },
    dockerTarget(scratch, {
      name: "docker by TCP",
      host: tcpHost,
      settings: { image: "prx-rig/busybox:latest" },
      skip: { "stdin-pulled": "the buffers of TCP connections hold more than the case allows" },
    }),
    contractCases.filter(({ id }) => kinds.some((kind) => id.startsWith(kind))),
  );
}
