/** The contract as a list of cases, and the ways to run it: under any test framework, or by itself as a matrix. */

import { argumentCases } from "./cases/arguments.ts";
import { cancelCases } from "./cases/cancel.ts";
import { environmentCases } from "./cases/environment.ts";
import { errorCases } from "./cases/errors.ts";
import { fileCases } from "./cases/files.ts";
import { inputCases } from "./cases/input.ts";
import { limitCases } from "./cases/limits.ts";
import { outputCases } from "./cases/output.ts";
import { policyCases } from "./cases/policy.ts";
import { resultCases } from "./cases/results.ts";
import { streamingCases } from "./cases/streaming.ts";
import { timeoutCases } from "./cases/timeouts.ts";
import { treeCases } from "./cases/tree.ts";
import { workingDirCases } from "./cases/working-dir.ts";
import { runCase } from "./context.ts";
import { checkAtRest } from "./rest.ts";
import type { ContractCase, ContractTarget } from "./target.ts";

/** Every claim of the contract, in the order in which they are run. */
export const contractCases: readonly ContractCase[] = [
  ...[...resultCases, ...outputCases, ...inputCases, ...argumentCases, ...environmentCases, ...errorCases],
  ...[...workingDirCases, ...fileCases, ...timeoutCases, ...cancelCases, ...treeCases, ...streamingCases],
  ...[...policyCases, ...limitCases],
];

/** What came of a case on a backend. */
export type CaseResult =
  | { readonly result: "passed"; readonly ms: number }
  | { readonly result: "failed"; readonly reason: string }
  | { readonly result: "skipped"; readonly reason: string };

/** Backend × case, ready for JSON. */
export type ContractMatrix = Readonly<Record<string, Readonly<Record<string, CaseResult>>>>;

const results: Record<string, Record<string, CaseResult>> = {};

/** Everything that was run in this process so far. */
export function contractMatrix(): ContractMatrix {
  return structuredClone(results);
}

/** Why a case is not asked of a backend, or `null`. */
export function reasonToSkip({ id, needs }: ContractCase, target: ContractTarget): string | null {
  return target.skip?.[id] ?? needs?.(target) ?? null;
}

async function runRecorded(contractCase: ContractCase, target: ContractTarget): Promise<void> {
  results[target.name] ??= {};
  const row = results[target.name] as Record<string, CaseResult>;
  const before = performance.now();
  try {
    await runCase(contractCase, target);
    row[contractCase.id] = { result: "passed", ms: Math.round(performance.now() - before) };
  } catch (error) {
    row[contractCase.id] = { result: "failed", reason: error instanceof Error ? error.message : String(error) };
    throw error;
  }
}

function recordSkip({ id }: ContractCase, target: ContractTarget, reason: string): void {
  results[target.name] = { ...results[target.name], [id]: { result: "skipped", reason } };
}

/**
 * Runs every case by itself, without a framework, and answers the backend's row. Never throws.
 *
 * @param cases some of {@link contractCases}. @default all of them
 * @example
 * ```ts ignore: it takes an adapter of yours
 * import { type ContractTarget, runContract } from "prx-runtime/testing";
 *
 * declare const target: ContractTarget;
 * console.log(JSON.stringify(await runContract(target)));
 * ```
 */
export async function runContract(
  target: ContractTarget,
  cases: readonly ContractCase[] = contractCases,
): Promise<Readonly<Record<string, CaseResult>>> {
  for (const contractCase of cases) {
    const reason = reasonToSkip(contractCase, target);
    if (reason !== null) recordSkip(contractCase, target, reason);
    else await runRecorded(contractCase, target).catch(() => {});
  }
  return structuredClone(results[target.name] ?? {});
}

/** What the suite needs of a test framework: vitest, Jest, Mocha, `node:test` and `bun:test` have it. */
export interface Framework {
  describe(title: string, body: () => void): void;
  it(title: string, body: () => Promise<void>, timeoutMs?: number): void;
  /** For a case that does not apply. @default it is a test that passes, with the reason in its title */
  skip?(title: string, reason: string): void;
}

const caseTimeoutMs = 120_000;

/**
 * Registers the contract for one backend. The last test claims that the whole suite left nothing behind.
 *
 * @param cases some of {@link contractCases}. @default all of them
 * @example
 * ```ts ignore: it takes the tests of a framework and an adapter of yours
 * import { type ContractTarget, registerContract } from "prx-runtime/testing";
 * import { describe, it } from "vitest";
 *
 * declare const target: ContractTarget;
 * registerContract({ describe, it }, target);
 * ```
 */
export function registerContract(
  { describe, it, skip }: Framework,
  target: ContractTarget,
  cases: readonly ContractCase[] = contractCases,
): void {
  const omit = skip ?? ((title, reason) => it(`${title} (does not apply: ${reason})`, async () => {}));
  describe(`contract: ${target.name}`, () => {
    const rest = checkAtRest(target);
    it("is at rest before the first case", rest.begin, caseTimeoutMs);
    for (const contractCase of cases) {
      const reason = reasonToSkip(contractCase, target);
      if (reason === null) {
        it(contractCase.title, () => runRecorded(contractCase, target), caseTimeoutMs);
        continue;
      }
      recordSkip(contractCase, target, reason);
      omit(contractCase.title, reason);
    }
    it("leaves nothing behind: files, timers, processes, directories", rest.end, caseTimeoutMs);
  });
}
