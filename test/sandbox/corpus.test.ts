/** Ordinary commands come to the same end in every sandbox as outside of one. */

import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { isolateState } from "../fixtures/host-target.ts";
import { need } from "../fixtures/needed.ts";
import { isWhole } from "../fixtures/whole.ts";
import { sandboxes, tried } from "./against.ts";
import { corpus } from "./corpus/all.ts";
import { defaultTimeoutMs, openPlaces, type Places } from "./corpus/judge.ts";

const state = isolateState();
let places: Places;

beforeAll(async () => {
  places = await openPlaces();
});
afterAll(async () => {
  await places.close();
  state.remove();
});

for (const [name, obstacle] of tried)
  test(`${name} is there to be held against the host`, (context) => need(context, obstacle));

/** On a runtime where not everything is asked. */
const smoke = ["beginning", "redirects", "processes"];
const themes = Object.entries(corpus).filter(([theme]) => isWhole || smoke.includes(theme));

describe.each(themes)("%s", (_, cases) => {
  for (const asked of cases) {
    const timeout = (asked.timeoutMs ?? defaultTimeoutMs) * (sandboxes.length + 1);
    test(asked.name, { timeout }, async ({ skip }) => {
      const verdict = await places.judge(asked);
      if (verdict.result === "skipped") skip(verdict.reason);
      expect(verdict).toEqual({ result: "same" });
    });
  }
});
