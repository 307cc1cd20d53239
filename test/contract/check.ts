/** Assertions that need no framework and no runtime's own module. */

import { type ErrorCode, RuntimeError } from "../../src/errors.ts";
import type { ExecutionOutput } from "../../src/runtime-types.ts";

/** A claim of the contract that does not hold. */
export class ContractViolation extends Error {
  override readonly name = "ContractViolation";
}

/** The value in one line, cut where it gets long. */
function show(value: unknown): string {
  if (value instanceof Uint8Array) return `${value.length} bytes [${value.subarray(0, 24).join(" ")}…]`;
  const text =
    JSON.stringify(value, (_, part) => (typeof part === "bigint" || typeof part === "function" ? `${part}` : part)) ??
    String(value);
  return text.length > 600 ? `${text.slice(0, 600)}… (${text.length} characters)` : text;
}

/** Fails with `message` unless `claim` is true. */
export function check(claim: boolean, message: string): asserts claim {
  if (!claim) throw new ContractViolation(message);
}

/** The two are deeply equal; bytes are compared as bytes. */
export function equal<T>(actual: T, expected: T, what: string): void {
  const same =
    actual instanceof Uint8Array && expected instanceof Uint8Array
      ? sameBytes(actual, expected)
      : Object.is(actual, expected) || canonical(actual) === canonical(expected);
  check(same, `${what}: expected ${show(expected)}, got ${show(actual)}`);
}

/** Objects with their keys sorted, so that their order does not count. */
function canonical(value: unknown): string {
  const sorted = (_: string, part: unknown): unknown =>
    typeof part === "object" && part !== null && !Array.isArray(part)
      ? Object.fromEntries(Object.entries(part).sort(([a], [b]) => (a < b ? -1 : 1)))
      : part;
  return JSON.stringify(value, sorted) ?? String(value);
}

function sameBytes(a: Uint8Array, b: Uint8Array): boolean {
  return a.length === b.length && a.every((byte, index) => byte === b[index]);
}

/** `low` ≤ `actual` ≤ `high`. */
export function between(actual: number, [low, high]: readonly [number, number], what: string): void {
  check(actual >= low && actual <= high, `${what}: expected ${low} to ${high}, got ${actual}`);
}

/** The text holds the part. */
export function includes(text: string, part: string, what: string): void {
  check(text.includes(part), `${what}: expected ${show(part)} in ${show(text)}`);
}

/** Rejects with a `RuntimeError` of one of the codes; answers it for a closer look. */
export async function rejects(
  promise: Promise<unknown>,
  codes: ErrorCode | readonly ErrorCode[],
): Promise<RuntimeError> {
  const outcome = await promise.then(
    (value) => ({ value }),
    (error: unknown) => ({ error }),
  );
  if ("value" in outcome) throw new ContractViolation(`Expected ${show(codes)}, got the result ${show(outcome.value)}`);
  const { error } = outcome;
  if (!(error instanceof RuntimeError)) {
    throw new ContractViolation(`Expected a RuntimeError ${show(codes)}, got ${error}`, { cause: error });
  }
  check([codes].flat().includes(error.code), `Expected ${show(codes)}, got ${error.code}: ${error.message}`);
  return error;
}

/** It completed with that exit code; the message holds what it wrote. */
export function exited(output: ExecutionOutput, exitCode: number): void {
  const { outcome, stdout, stderr, warnings } = output;
  const told = { outcome, exitCode: output.exitCode, stdout, stderr, warnings };
  check(outcome === "completed" && output.exitCode === exitCode, `Expected exit ${exitCode}, got ${show(told)}`);
}

/** The codes of an output's warnings. */
export function warningCodes(output: Pick<ExecutionOutput, "warnings">): readonly string[] {
  return output.warnings.map(({ code }) => code);
}

/** The codes of what this execution did, without those that a backend gives of every one. */
export function ownWarningCodes(output: Pick<ExecutionOutput, "warnings">): readonly string[] {
  return warningCodes(output).filter((code) => code !== "uncontained" && !code.startsWith("weaker_"));
}
