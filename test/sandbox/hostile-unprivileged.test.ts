/** What a hostile command of a user without privileges gets done on the host, it gets done in no sandbox. */

import { expect, test } from "vitest";
import { nobodysObstacle, runAsNobody } from "./as-nobody.ts";

interface NamedTrial {
  readonly name: string;
  readonly sandbox: string;
  readonly skipped?: string;
  readonly through?: boolean;
  readonly expected: boolean;
}

test("the hostile set as nobody", { timeout: 600_000 }, async ({ skip }) => {
  const why = nobodysObstacle();
  if (why !== null) skip(why);
  const trials = (await runAsNobody("hostile-run.ts")) as readonly NamedTrial[];
  const tried = trials.filter(({ skipped }) => skipped === undefined);
  for (const { name, skipped } of trials)
    if (skipped !== undefined) console.log(`skipped as nobody: ${name}: ${skipped}`);
  expect(tried.filter(({ through, expected: wanted }) => through !== wanted)).toEqual([]);
  expect(tried.length).toBeGreaterThan(30);
});
