/** The public surface: what a caller gives and what comes back. */

import type {
  Availability,
  BackendName,
  Clause,
  ExecutionPlan,
  LostCause,
  NetworkMode,
  Progress,
  Verdict,
  Warning,
} from "./types.ts";

/** Bytes or text for a command's stdin. A string is sent as UTF-8; a stream is pulled as fast as the command reads. */
export type StdinSource = string | Uint8Array | ReadableStream<Uint8Array>;

/** A file for the working directory: its content, or its content and mode. */
export type InputFile = string | Uint8Array | { readonly content: string | Uint8Array; readonly executable?: boolean };

/** What a request may ask. Everything is optional, and nothing here widens what the operator and the tool allow. */
export interface ExecuteOptions {
  /** Added to the whitelisted variables; loader variables (`LD_PRELOAD` …) are refused unless the operator names them. */
  readonly env?: Readonly<Record<string, string>>;
  /** Absolute, or relative to the host process's own. */
  readonly workingDir?: string;
  /** Milliseconds; 0 means no limit where the operator allows it. @default `runtime.default_timeout_secs` */
  readonly timeoutMs?: number;
  /** Without it the command reads an end of file at once. */
  readonly stdin?: StdinSource;
  /** Aborting cancels: the command is stopped and the outcome is `"cancelled"`. */
  readonly signal?: AbortSignal;
  /** Whose limits, environment and backend apply (`[tools.custom.<name>]`). */
  readonly tool?: string;
  /** Another backend than the runtime's own, where it is configured. Never a weaker one in silence. */
  readonly backend?: BackendName;
  /** Put into the working directory before the command begins, by path relative to it. */
  readonly files?: Readonly<Record<string, InputFile>>;
  /** Brought out after the end, by path relative to the working directory. */
  readonly outputs?: readonly string[];
  /** Bytes kept of each stream by `execute`. */
  readonly maxOutputBytes?: number;
  /** Narrower than the backend's own. */
  readonly network?: NetworkMode;
  /** Narrower than the operator's. A limit asked for here is demanded: enforced, or the execution is refused. */
  readonly limits?: RequestedLimits;
  /** The command is one line for the configured shell, and `args` are its positional parameters. @default false */
  readonly shell?: boolean;
}

/** Limits that a request or a tool may ask for. */
export interface RequestedLimits {
  readonly memoryBytes?: number;
  readonly cpus?: number;
  readonly cpuTimeMs?: number;
  readonly pids?: number;
  readonly openFiles?: number;
}

/** Why an execution ended. The flag, never a number, tells a timeout from an exit code that looks like one. */
export type Outcome = "completed" | "timed_out" | "cancelled" | "out_of_memory" | "lost";

/** Where the time before the command's first instruction went, in milliseconds. */
export interface Timings {
  readonly queueMs: number;
  readonly pullMs: number;
  readonly startMs: number;
}

/** What came of a command. */
export interface ExecutionOutput {
  readonly id: string;
  readonly backend: BackendName;
  readonly outcome: Outcome;
  /** The command's own; 128 + n after signal n; `null` when it is not known. */
  readonly exitCode: number | null;
  /** `"SIGKILL"` …, or `null`: it exited, or the backend only reports a number. */
  readonly signal: string | null;
  /** With `"lost"`: why; else `null`. */
  readonly cause: LostCause | null;
  /** Valid UTF-8, never cut inside a character; bytes that are none become U+FFFD. */
  readonly stdout: string;
  readonly stderr: string;
  /** Exactly what the command wrote, up to the cap. Empty in `stream`'s last event: everything was handed on. */
  readonly stdoutBytes: Uint8Array;
  readonly stderrBytes: Uint8Array;
  readonly stdoutTruncated: boolean;
  readonly stderrTruncated: boolean;
  /** All that the command wrote, kept or not. */
  readonly stdoutTotalBytes: number;
  readonly stderrTotalBytes: number;
  /** What `outputs` asked for and was there. */
  readonly files: Readonly<Record<string, Uint8Array>>;
  readonly warnings: readonly Warning[];
  /** The command's own run, by a monotonic clock; pull, queue and start are in `timings`. */
  readonly durationMs: number;
  readonly timings: Timings;
}

/** What `stream` yields. `finished` comes once, and last. */
export type ExecutionEvent =
  | ({ readonly type: "progress" } & Progress)
  | { readonly type: "started"; readonly id: string; readonly backend: BackendName }
  | { readonly type: "stdout"; readonly data: Uint8Array }
  | { readonly type: "stderr"; readonly data: Uint8Array }
  | { readonly type: "finished"; readonly output: ExecutionOutput };

/** A backend that was looked at, what was found, and how long that took. */
export interface Candidate {
  readonly backend: BackendName;
  readonly chosen: boolean;
  readonly availability: Availability;
  readonly probeMs: number;
  /** Why it was or was not chosen, and what would change that. */
  readonly note: string;
}

/** A clause of the plan, what the backend makes of it, and what follows. */
export interface ClauseReport {
  readonly clause: Clause;
  readonly demanded: boolean;
  readonly accepted: boolean;
  readonly verdict: Verdict;
}

/** What would happen. Holds names of variables, never their values. */
export interface Explanation {
  /** The plan with every environment value replaced by `"<redacted>"`. */
  readonly plan: ExecutionPlan;
  /** The backend's own form of it, for reading. */
  readonly lowering: string;
  readonly clauses: readonly ClauseReport[];
  /** `null`, or why `execute` would refuse. */
  readonly refused: string | null;
  readonly addedEnv: readonly string[];
  readonly warnings: readonly Warning[];
  readonly candidates: readonly Candidate[];
}

/** Runs commands in one place, under one policy. */
export interface Runtime extends AsyncDisposable {
  readonly name: BackendName;
  /** Quick; never throws. */
  isAvailable(): Promise<boolean>;
  /** Runs a command to its end. A non-zero exit is a result; a failure to run at all throws a `RuntimeError`. */
  execute(command: string, args?: readonly string[], options?: ExecuteOptions): Promise<ExecutionOutput>;
  /** The same, live. A slow reader slows the command; leaving the iteration cancels it and waits until it is gone. */
  stream(command: string, args?: readonly string[], options?: ExecuteOptions): AsyncIterableIterator<ExecutionEvent>;
  /** Says what `execute` would do. Runs nothing. */
  explain(command: string, args?: readonly string[], options?: ExecuteOptions): Promise<Explanation>;
  /** Cancels what is running, waits until it is gone, and refuses what comes later. */
  close(): Promise<void>;
}
