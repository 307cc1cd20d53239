/** The contract on local processes in bubblewrap's sandbox. */

import { afterAll, describe, it } from "vitest";
import { registerContract } from "../../testing.ts";
import { isolateState } from "../fixtures/host-target.ts";
import { nativeTarget } from "../fixtures/native-target.ts";
import { reportMatrix } from "../fixtures/report-matrix.ts";

const { scratch, remove } = isolateState();
afterAll(() => {
  remove();
  reportMatrix();
});

registerContract(
  { describe, it, skip: (title, reason) => it(title, ({ skip }) => skip(reason)) },
  nativeTarget(scratch, "bubblewrap"),
);
