/** What a hostile command of a user without privileges gets done on the host, it gets done in no sandbox. */

import { expect, test } from "vitest";
import { need } from "../fixtures/needed.ts";
import { isWhole } from "../fixtures/whole.ts";
import { tried } from "./against.ts";
import { runAs, users, usersObstacle } from "./as-user.ts";

interface NamedTrial {
  readonly name: string;
  readonly sandbox: string;
  readonly skipped?: string;
  readonly through?: boolean;
  readonly expected: boolean;
}

test.for(users())("the hostile set against $sandbox as $name", { timeout: 600_000 }, async (user, context) => {
  need(context, usersObstacle() ?? tried.find(([name]) => name === user.sandbox)?.[1] ?? null);
  if (!isWhole) context.skip("on this runtime it is asked where PRX_WHOLE is set");
  const trials = (await runAs(user, "hostile-run.ts")) as readonly NamedTrial[];
  const carried = trials.filter(({ skipped }) => skipped === undefined);
  for (const { name, skipped } of trials)
    if (skipped !== undefined) console.log(`skipped as ${user.name}: ${name}: ${skipped}`);
  expect(carried.filter(({ through, expected: wanted }) => through !== wanted)).toEqual([]);
  expect(carried.filter(({ sandbox }) => sandbox === user.sandbox).length).toBeGreaterThan(30);
});
