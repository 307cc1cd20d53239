/** Results as JSON and back: the snake_case spelling that `--json`, HTTP bodies and the remote backend share. */

import { decodeBase64, encodeBase64 } from "./base64.ts";
import { RuntimeError } from "./errors.ts";
import type { ExecutionOutput, Explanation, Outcome } from "./runtime-types.ts";
import type { LostCause, Warning } from "./types.ts";

/** An {@link ExecutionOutput} as JSON. Bytes are text where they are UTF-8. */
export interface OutputJson {
  readonly id: string;
  readonly backend: string;
  readonly outcome: Outcome;
  readonly exit_code: number | null;
  readonly signal: string | null;
  readonly cause: LostCause | null;
  readonly stdout: string;
  readonly stderr: string;
  /** The exact bytes, present only where `stdout` does not say them. */
  readonly stdout_base64?: string;
  readonly stderr_base64?: string;
  readonly stdout_truncated: boolean;
  readonly stderr_truncated: boolean;
  readonly stdout_total_bytes: number;
  readonly stderr_total_bytes: number;
  /** Base64, by path. */
  readonly files: Readonly<Record<string, string>>;
  readonly warnings: readonly Warning[];
  readonly duration_ms: number;
  readonly timings: { readonly queue_ms: number; readonly pull_ms: number; readonly start_ms: number };
}

/** A result as plain data for `JSON.stringify`. {@link decodeOutput} gives back the same bytes, whatever they are. */
export function encodeOutput(output: ExecutionOutput): OutputJson {
  const { id, backend, outcome, exitCode, signal, cause, stdout, stderr, files, warnings, timings } = output;
  return {
    ...{ id, backend, outcome, exit_code: exitCode, signal, cause, stdout, stderr },
    ...(says(stdout, output.stdoutBytes) ? {} : { stdout_base64: encodeBase64(output.stdoutBytes) }),
    ...(says(stderr, output.stderrBytes) ? {} : { stderr_base64: encodeBase64(output.stderrBytes) }),
    stdout_truncated: output.stdoutTruncated,
    stderr_truncated: output.stderrTruncated,
    stdout_total_bytes: output.stdoutTotalBytes,
    stderr_total_bytes: output.stderrTotalBytes,
    files: Object.fromEntries(Object.entries(files).map(([path, bytes]) => [path, encodeBase64(bytes)])),
    warnings: warnings.map(({ code, message }) => ({ code, message })),
    duration_ms: output.durationMs,
    timings: { queue_ms: timings.queueMs, pull_ms: timings.pullMs, start_ms: timings.startMs },
  };
}

/**
 * The result that {@link encodeOutput} wrote, after `JSON.parse`. What it does not know it leaves out.
 *
 * @throws RuntimeError `internal`, naming the member that is missing or wrong.
 */
export function decodeOutput(json: unknown): ExecutionOutput {
  const read = reader(json, "");
  const timings = reader(read("timings", isObject), "timings.");
  const files: Record<string, Uint8Array> = Object.create(null);
  for (const [path, base64] of Object.entries(read("files", isObject))) files[path] = bytesOf(base64, `files.${path}`);
  const stdout = read("stdout", isString);
  const stderr = read("stderr", isString);
  return {
    id: read("id", isString),
    backend: read("backend", isString),
    outcome: read("outcome", isString) as Outcome,
    exitCode: read("exit_code", orNull(isNumber)),
    signal: read("signal", orNull(isString)),
    cause: read("cause", orNull(isString)) as LostCause | null,
    ...{ stdout, stderr },
    stdoutBytes: bytesBehind(stdout, read("stdout_base64", orAbsent(isString)), "stdout_base64"),
    stderrBytes: bytesBehind(stderr, read("stderr_base64", orAbsent(isString)), "stderr_base64"),
    stdoutTruncated: read("stdout_truncated", isBoolean),
    stderrTruncated: read("stderr_truncated", isBoolean),
    stdoutTotalBytes: read("stdout_total_bytes", isNumber),
    stderrTotalBytes: read("stderr_total_bytes", isNumber),
    files,
    warnings: read("warnings", isArray).map(decodeWarning),
    durationMs: read("duration_ms", isNumber),
    timings: {
      queueMs: timings("queue_ms", isNumber),
      pullMs: timings("pull_ms", isNumber),
      startMs: timings("start_ms", isNumber),
    },
  };
}

/** An explanation as plain data, its members in snake_case. Names of variables stay as they are. */
export function encodeExplanation(explanation: Explanation): unknown {
  return snakeCased(explanation);
}

function snakeCased(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(snakeCased);
  if (!isObject(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, part]) => [
      name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`),
      name === "env" ? part : snakeCased(part),
    ]),
  );
}

/** Whether the text stands for exactly these bytes. */
function says(text: string, bytes: Uint8Array): boolean {
  const encoded = new TextEncoder().encode(text);
  return encoded.length === bytes.length && encoded.every((byte, index) => byte === bytes[index]);
}

function bytesBehind(text: string, base64: string | undefined, name: string): Uint8Array {
  return base64 === undefined ? new TextEncoder().encode(text) : bytesOf(base64, name);
}

function bytesOf(base64: unknown, name: string): Uint8Array {
  try {
    if (isString(base64)) return decodeBase64(base64);
  } catch (cause) {
    throw malformed(name, cause);
  }
  throw malformed(name);
}

function decodeWarning(warning: unknown, index: number): Warning {
  const read = reader(warning, `warnings.${index}.`);
  return { code: read("code", isString), message: read("message", isString) };
}

type Check<T> = (value: unknown) => value is T;

/** Reads members of one object, each checked. */
function reader(json: unknown, prefix: string): <T>(name: string, is: Check<T>) => T {
  return (name, is) => {
    const value = isObject(json) && Object.hasOwn(json, name) ? json[name] : undefined;
    if (is(value)) return value;
    throw malformed(`${prefix}${name}`);
  };
}

function malformed(name: string, cause?: unknown): RuntimeError {
  return new RuntimeError(
    "internal",
    `Member ${name} of a result is missing or wrong: both sides must have the same version of prx-runtime`,
    { cause, started: "yes" },
  );
}

const isString: Check<string> = (value) => typeof value === "string";
const isNumber: Check<number> = (value) => typeof value === "number";
const isBoolean: Check<boolean> = (value) => typeof value === "boolean";
const isArray: Check<readonly unknown[]> = Array.isArray;
const isObject: Check<Readonly<Record<string, unknown>>> = (value): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null && !Array.isArray(value);
const orNull =
  <T>(is: Check<T>): Check<T | null> =>
  (value): value is T | null =>
    value === null || is(value);
const orAbsent =
  <T>(is: Check<T>): Check<T | undefined> =>
  (value): value is T | undefined =>
    value === undefined || is(value);
