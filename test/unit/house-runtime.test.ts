/** The tests run where they say they run: in a worker of the runtime that scripts/test.ts was asked for. */

import { expect, test } from "vitest";

const named = process.env["PRX_TEST_RUNTIME"] ?? "node";

test(`this worker is ${named}`, () => {
  expect("Bun" in globalThis ? "bun" : "Deno" in globalThis ? "deno" : "node").toBe(named);
});
