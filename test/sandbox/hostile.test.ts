/** What a hostile command gets done on the host, it gets done in no sandbox. */

import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { isolateState } from "../fixtures/host-target.ts";
import { hostile } from "./hostile/all.ts";
import { expected, openTargets, type Target, tryAttack } from "./hostile/try.ts";

const state = isolateState();
let targets: readonly Target[] = [];

beforeAll(async () => {
  targets = await openTargets();
});
afterAll(async () => {
  for (const { close } of targets) await close();
  state.remove();
});

describe.each(Object.entries(hostile))("%s", (_, attacks) => {
  for (const attack of attacks) {
    test(attack.name, { timeout: 120_000 }, async ({ skip }) => {
      for (const { sandbox, carry } of targets) {
        const trial = await tryAttack(attack, carry);
        if ("skipped" in trial) return skip(trial.skipped);
        expect(trial, sandbox).toMatchObject({ through: expected(attack, sandbox) });
        expect(trial.evidence.outcome, sandbox).not.toBe("timed_out");
      }
    });
  }
});
