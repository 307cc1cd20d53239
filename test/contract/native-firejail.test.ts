/** The contract on local processes that firejail puts a sandbox around. */

import { afterAll, describe, it, test } from "vitest";
import { registerContract } from "../../testing.ts";
import { whyNotFirejail } from "../fixtures/firejail.ts";
import { isolateState } from "../fixtures/host-target.ts";
import { nativeTarget } from "../fixtures/native-target.ts";
import { need } from "../fixtures/needed.ts";
import { reportMatrix } from "../fixtures/report-matrix.ts";

const { scratch, remove } = isolateState();
afterAll(() => {
  remove();
  reportMatrix();
});

const target = nativeTarget(scratch);
const reason = await whyNotFirejail();

if (reason === null) {
  registerContract(
    { describe, it, skip: (title, why) => it(title, ({ skip }) => skip(why)) },
    {
      ...target,
      name: "native-firejail",
      // firejail tells of a signal by the number that a shell would give.
      capabilities: { ...target.capabilities, reportsSignal: false },
      createRuntime: ({ security, ...config }) =>
        target.createRuntime({ ...config, security: { ...security, sandbox: { backend: "firejail" } } }),
      skip: {
        "env-path-skips": "its programs are outside of what a sandbox shows; firejail runs none that is not listed",
      },
    },
  );
} else test("firejail", (context) => need(context, reason));
