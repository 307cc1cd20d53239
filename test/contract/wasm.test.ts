/** The contract on guests of an engine. */

import { afterAll, describe, it, test } from "vitest";
import { contractCases, registerContract } from "../../testing.ts";
import { isolateState } from "../fixtures/host-target.ts";
import { need } from "../fixtures/needed.ts";
import { reportMatrix } from "../fixtures/report-matrix.ts";
import { wasmTarget } from "../fixtures/wasm-target.ts";
import { isPatient, isWhole } from "../fixtures/whole.ts";
import { wasmObstacle } from "../rig/wasm/place.ts";

/** Where the JavaScript runtime, or the kind of guest, has most to do with it. */
const smoke = ["result-s", "output-b", "stdin-", "files-out", "timeout-r", "cancel-", "stream-", "env-", "limit-m"];
const some = contractCases.filter(({ id }) => smoke.some((kind) => id.startsWith(kind)));

const obstacle = wasmObstacle();
test("an engine and guests are there", (context) => need(context, obstacle));

if (obstacle === null) {
  const { scratch, remove } = isolateState();
  afterAll(() => {
    remove();
    reportMatrix();
  });
  for (const engine of ["wasmtime", "jco"] as const)
    for (const kind of ["wasip1", "wasip2"] as const)
      registerContract(
        { describe, it, skip: (title, reason) => it(title, ({ skip }) => skip(reason)) },
        wasmTarget(scratch, { engine, kind }),
        isPatient || (isWhole && engine === "wasmtime" && kind === "wasip1") ? contractCases : some,
      );
}
