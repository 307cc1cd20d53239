/** One error class and one closed table of codes, with the HTTP status and the CLI's exit code of each. */

interface CodeFacts {
  /** The status with which the control endpoint answers. */
  readonly status: number;
  /** What the CLI exits with. 126 and 127 as in a shell; the sysexits(3) numbers for the rest. */
  readonly exit: number;
}

/** Every way in which an execution can fail to run at all. */
export const errorCodes = {
  invalid_request: { status: 400, exit: 64 },
  config_invalid: { status: 500, exit: 78 },
  tool_not_found: { status: 404, exit: 64 },
  backend_not_allowed: { status: 403, exit: 64 },
  backend_unavailable: { status: 503, exit: 69 },
  policy_unenforceable: { status: 422, exit: 77 },
  command_not_found: { status: 422, exit: 127 },
  not_executable: { status: 422, exit: 126 },
  working_dir_not_found: { status: 422, exit: 66 },
  working_dir_not_a_directory: { status: 422, exit: 66 },
  working_dir_not_allowed: { status: 403, exit: 77 },
  argument_list_too_long: { status: 422, exit: 126 },
  files_failed: { status: 422, exit: 74 },
  image_not_found: { status: 422, exit: 69 },
  image_pull_failed: { status: 502, exit: 69 },
  start_timeout: { status: 504, exit: 69 },
  start_failed: { status: 502, exit: 71 },
  cancelled_before_start: { status: 499, exit: 130 },
  closed: { status: 503, exit: 69 },
  internal: { status: 500, exit: 70 },
} as const satisfies Record<string, CodeFacts>;

/** A code of {@link errorCodes}. */
export type ErrorCode = keyof typeof errorCodes;

/** Whether the command may have begun, so that a caller knows when a retry is safe. */
export type Started = "no" | "maybe" | "yes";

export interface RuntimeErrorOptions {
  readonly backend?: string;
  /** @default "no" */
  readonly started?: Started;
  readonly cause?: unknown;
}

/**
 * A failure to run a command at all. A non-zero exit is never one.
 *
 * @example
 * ```ts
 * import { RuntimeError } from "prx-runtime";
 *
 * const error = new RuntimeError("command_not_found", "Command not found: frobnicate", { backend: "native" });
 * console.log(error.code, error.started);
 * // → command_not_found no
 * ```
 */
export class RuntimeError extends Error {
  override readonly name = "RuntimeError";
  readonly code: ErrorCode;
  /** The backend that was to run it; `null` when none had been chosen yet. */
  readonly backend: string | null;
  readonly started: Started;

  constructor(code: ErrorCode, message: string, options: RuntimeErrorOptions = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.code = code;
    this.backend = options.backend ?? null;
    this.started = options.started ?? "no";
  }

  /** The same facts as plain data, in the spelling of HTTP bodies and `--json`. The cause is left out: it may hold secrets. */
  toJSON(): { code: ErrorCode; message: string; backend: string | null; started: Started } {
    return { code: this.code, message: this.message, backend: this.backend, started: this.started };
  }
}

/** What whatever was thrown says of itself. */
export function messageOf(thrown: unknown): string {
  return thrown instanceof Error ? thrown.message : String(thrown);
}

/** Makes a `RuntimeError` of whatever was thrown; one that already is stays as it is. */
export function asRuntimeError(thrown: unknown, fallback: RuntimeErrorOptions = {}): RuntimeError {
  if (thrown instanceof RuntimeError) return thrown;
  return new RuntimeError("internal", messageOf(thrown), { ...fallback, cause: thrown });
}
