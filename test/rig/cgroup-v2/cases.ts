/** What is to be shown of containment in cgroup version 2. Each case runs in a host process of its own. */

import type { Case } from "./case.ts";
import { limitCases } from "./cases-limits.ts";
import { sharingCases } from "./cases-sharing.ts";
import { treeCases } from "./cases-trees.ts";

export const cases: Readonly<Record<string, Case>> = { ...treeCases, ...limitCases, ...sharingCases };

export async function runCase(name: string): Promise<void> {
  const found = cases[name];
  if (found === undefined) throw new Error(`There is no case ${name}`);
  const uid = Number(process.env["RIG_UID"] ?? 0);
  if (uid !== 0) {
    process.setgid?.(uid);
    process.setuid?.(uid);
  }
  await found.run();
}
