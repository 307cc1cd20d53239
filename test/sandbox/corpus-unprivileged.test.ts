/** Ordinary commands of users without privileges, with the programs that such a user can run. */

import { expect, test } from "vitest";
import { need } from "../fixtures/needed.ts";
import { isWhole } from "../fixtures/whole.ts";
import { tried } from "./against.ts";
import { runAs, users, usersObstacle } from "./as-user.ts";
import type { Verdict } from "./corpus/judge.ts";

test.for(users())("the corpus in $sandbox as $name", { timeout: 1_800_000 }, async (user, context) => {
  need(context, usersObstacle() ?? tried.find(([name]) => name === user.sandbox)?.[1] ?? null);
  if (!isWhole) context.skip("on this runtime it is asked where PRX_WHOLE is set");
  const verdicts = Object.entries((await runAs(user, "corpus-run.ts")) as Readonly<Record<string, Verdict>>);
  const named = (result: Verdict["result"]) => verdicts.filter(([, verdict]) => verdict.result === result);
  for (const [name, verdict] of named("skipped")) console.log(`skipped as ${user.name}: ${name}`, verdict);
  expect(named("different")).toEqual([]);
  expect(named("same").length).toBeGreaterThan(80);
});
