/** Ordinary commands of a user without privileges, with the programs that this user can run. */

import { expect, test } from "vitest";
import { isWhole } from "./against.ts";
import { nobodysObstacle, runAsNobody } from "./as-nobody.ts";
import type { Verdict } from "./corpus/judge.ts";

test("the corpus as nobody", { timeout: 1_200_000 }, async ({ skip }) => {
  const why = nobodysObstacle();
  if (why !== null) skip(why);
  if (!isWhole) skip("on this runtime it is asked where PRX_WHOLE is set");
  const verdicts = Object.entries((await runAsNobody("corpus-run.ts")) as Readonly<Record<string, Verdict>>);
  const named = (result: Verdict["result"]) => verdicts.filter(([, verdict]) => verdict.result === result);
  for (const [name, verdict] of named("skipped")) console.log(`skipped as nobody: ${name}`, verdict);
  expect(named("different")).toEqual([]);
  expect(named("same").length).toBeGreaterThan(100);
});
