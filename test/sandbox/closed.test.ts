/** Protected names in directories where this user can put nothing. */

import { chmodSync, chownSync, mkdirSync, mkdtempSync, readdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { need } from "../fixtures/needed.ts";
import { tried } from "./against.ts";
import { runAs, users, usersObstacle } from "./as-user.ts";

test.for(users())("as $name in $sandbox", async (user, context) => {
  need(context, usersObstacle() ?? tried.find(([name]) => name === user.sandbox)?.[1] ?? null);
  const place = mkdtempSync("/var/lib/prx-closed-");
  onTestFinished(() => rmSync(place, { recursive: true, force: true }));
  chmodSync(place, 0o755);
  const make = (name: string, owner: number, mode: number) => {
    mkdirSync(join(place, name), { recursive: true });
    chownSync(join(place, name), owner, owner);
    chmodSync(join(place, name), mode);
    return join(place, name);
  };
  const foreign = make("foreign", 0, 0o755);
  const own = make("own", user.uid, 0o555);
  const inside = make("inside", user.uid, 0o755);
  make("inside/.git", 0, 0o755);
  const hidden = make("hidden", user.uid, 0o755);
  make("hidden/.git", 0, 0o700);
  const script = "mv .git away; mkdir -p .git/hooks; echo evil > .bashrc; ls -A";
  const told = await runAs(user, "closed-run.ts", [script, foreign, own, inside, hidden]);
  expect(told).toEqual([
    "",
    expect.stringMatching(`^policy_unenforceable: .*${own}.*chmod u\\+wx ${own}, or leave the name out`),
    ".bashrc\n.git\n",
    ".bashrc\n.git\n",
  ]);
  expect([foreign, own, inside, hidden].map((path) => readdirSync(path))).toEqual([[], [], [".git"], [".git"]]);
});
