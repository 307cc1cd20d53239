/** The seam between policy and mechanism: plan, adapter, execution, exit. Everything else hangs from these types. */

import type { Clause, FilesystemMode, Limits, NetworkMode, PrivilegeMode, Verdict } from "./clauses.ts";

export * from "./clauses.ts";

/** A backend's name as the configuration spells it: `"native"`, `"docker"`, … */
export type BackendName = string;

/** Whose a file is, by the numbers of its machine. */
export interface FileOwner {
  readonly uid: number;
  readonly gid: number;
}

/** Where the command's files are. */
export interface Workspace {
  /** The directory on the host that the working directory belongs to; `null`: a private one that lives as long as the execution. */
  readonly root: string | null;
  /** How it reaches the command, in the backend's own terms (`host`, `mount`, `copy` …). */
  readonly mode: string;
  /** Whose the root is, where it reaches the command by another way than being there, and the machine says it. */
  readonly owner?: FileOwner;
}

/** A file that is put into the working directory before the command begins. Its bytes travel beside the plan. */
export interface PlannedFile {
  /** Relative to the working directory, `/` between its parts. */
  readonly path: string;
  readonly bytes: number;
  readonly executable: boolean;
}

/** A directory of the host that the command is given besides its working directory. */
export interface GrantedDirectory {
  /** Absolute, on the host. */
  readonly host: string;
  /** Where the command sees it. */
  readonly guest: string;
  readonly writable: boolean;
}

/** Everything that will happen, frozen and serialisable: what is not in the plan does not happen. */
export interface ExecutionPlan {
  readonly id: string;
  /** Who started it: what a later sweep asks about before it ends leftovers. */
  readonly owner: string;
  readonly backend: BackendName;
  readonly tool: string | null;
  /** Never a shell string; passed on byte for byte. */
  readonly argv: readonly [string, ...string[]];
  /** Exact. What a platform adds by itself is told by the lowering. */
  readonly env: Readonly<Record<string, string>>;
  readonly workingDir: string | null;
  readonly stdin: "none" | "inline" | "stream";
  readonly files: readonly PlannedFile[];
  readonly outputs: readonly string[];
  readonly limits: Limits;
  readonly network: NetworkMode;
  readonly filesystem: FilesystemMode;
  readonly privilege: PrivilegeMode;
  readonly workspace: Workspace;
  readonly image: string | null;
  readonly module: string | null;
  /** Directories of the host that are there for the command, in the order in which they were granted. */
  readonly grants: readonly GrantedDirectory[];
  /** What must be kept or refused. */
  readonly demands: readonly Clause[];
  /** What the operator lets be weaker than asked. */
  readonly acceptWeaker: readonly Clause[];
}

/** A plan in a backend's own words. Pure: what `explain` shows is what `start` does. */
export interface Lowering {
  /** The backend's own form of the plan, serialisable, its secrets included: never shown as it is. */
  readonly artifact: unknown;
  /** The artifact for a person's eyes; holds no value of the environment. */
  readonly text: string;
  readonly verdicts: Readonly<Record<Clause, Verdict>>;
  /** Variables that the platform adds to the plan's own. */
  readonly addedEnv: readonly string[];
  /** What stands in every result of such a plan. */
  readonly warnings: readonly Warning[];
}

/** Something that was weaker than asked, or left behind. `code` is stable, `message` is for people. */
export interface Warning {
  readonly code: string;
  readonly message: string;
}

/** What a backend can do: read by the planner, the documentation and the tests alike. */
export interface Capabilities {
  /** stdout and stderr arrive apart. */
  readonly separateStderr: boolean;
  /** The signal that ended a command is named. */
  readonly reportsSignal: boolean;
  readonly stdin: boolean;
  readonly files: boolean;
  /** Any program of an image or host can be run, as opposed to one kind of module. */
  readonly runsPrograms: boolean;
  /** The work outlives this process and can be attached to again. */
  readonly resumable: boolean;
  /** Environment names that the platform takes beyond letters, digits and `_`. */
  readonly anyEnvName: boolean;
}

/** Whether a backend can be used, as found by a real probe. */
export type Availability =
  | { readonly available: true; readonly details: string }
  | { readonly available: false; readonly reason: string; readonly remedy: string };

/** Why a command's end is not known. */
export type LostCause =
  | "evicted"
  | "preempted"
  | "node_lost"
  | "deleted"
  | "daemon_restarted"
  | "connection_lost"
  | "host_restarted"
  | "unknown";

/** How a command ended. A union, never a default number. */
export type Exit = ExitKind & {
  /** The command's own run as the platform measured it, if it did. */
  readonly durationMs?: number;
  readonly warnings?: readonly Warning[];
};
export type ExitKind =
  | { readonly kind: "exited"; readonly code: number }
  | { readonly kind: "signaled"; readonly signal: string | null; readonly number: number | null }
  | { readonly kind: "out_of_memory"; readonly number: number | null }
  | { readonly kind: "lost"; readonly cause: LostCause };

/** One step on the way to the command's first instruction. */
export interface Progress {
  readonly phase: "queue" | "pull" | "schedule" | "start";
  readonly message: string;
  /** 0 … 1 where it is known. */
  readonly fraction?: number;
}

/** Something of an execution that could not be removed. */
export interface Leftover {
  readonly kind: string;
  readonly name: string;
  readonly reason: string;
}

/** By which another process finds an execution again. Serialisable; holds no secret. */
export interface ExecutionRef {
  readonly backend: BackendName;
  readonly id: string;
  readonly owner: string;
  readonly handle: string;
}

/** How many bytes of each stream the reader already has. */
export interface Offsets {
  readonly stdout: number;
  readonly stderr: number;
}

/** A file brought out of an execution, or why it was not. */
export type CollectedFile =
  | { readonly path: string; readonly bytes: Uint8Array }
  | { readonly path: string; readonly missing: string };

/** What travels beside the plan: bytes. */
export interface StartIo {
  /** Present exactly when `plan.stdin` is `"inline"`. */
  readonly stdin?: Uint8Array;
  /** One entry for each of `plan.files`, by path. */
  readonly files: ReadonlyMap<string, Uint8Array>;
  /** What {@link RuntimeAdapter.prepare} answered, if this start is to use it up. */
  readonly prepared?: Prepared;
}

/**
 * Running work. The adapter knows no cap and no deadline: it honours the signal given to `start` by ending the command
 * (politely, then after `limits.killGraceMs` by force) and everything that belongs to it.
 */
export interface Execution {
  readonly ref: ExecutionRef;
  /** Raw bytes, pulled: a slow reader slows the command. Ends by itself soon after `ended`. */
  readonly stdout: ReadableStream<Uint8Array>;
  readonly stderr: ReadableStream<Uint8Array>;
  /** Present exactly when `plan.stdin` is `"stream"`. A write after the command closed its end rejects. */
  readonly stdin?: WritableStream<Uint8Array>;
  /** What happens before the command runs; ends when it does. */
  readonly progress: AsyncIterable<Progress>;
  /** The command is over. Rejects with a `RuntimeError` when it could not be run at all. */
  readonly ended: Promise<Exit>;
  /** `plan.outputs`, read after the command and everything it began are over. Rejects never: what failed is named. */
  readonly outputs: Promise<readonly CollectedFile[]>;
  /** What is known of why the command failed, once both streams have ended. Never rejects. */
  readonly findings?: Promise<readonly Warning[]>;
  /** Everything of it is confirmed gone, or named. Settles last; never rejects. */
  readonly released: Promise<readonly Leftover[]>;
}

/** What can be started ahead of the plan that will use it. */
export interface Template {
  readonly image: string | null;
  readonly module: string | null;
  readonly limits: Limits;
}

/** Work that was started ahead and waits for its plan; used once. */
export interface Prepared {
  readonly handle: unknown;
  discard(): Promise<void>;
}

/** What a sweep found and ended. */
export interface SweepReport {
  readonly found: number;
  readonly removed: number;
  readonly failed: readonly Leftover[];
}

/** A place where commands run. The last five are offers: a backend that cannot do one leaves it out. */
export interface RuntimeAdapter {
  readonly name: BackendName;
  readonly capabilities: Capabilities;
  /** A real probe; quick; never throws. */
  isAvailable(signal?: AbortSignal): Promise<Availability>;
  /** Pure: no I/O, the same answer for the same plan. */
  lower(plan: ExecutionPlan): Lowering;
  /** Begins the work. Throws a `RuntimeError` when nothing was begun. */
  start(plan: ExecutionPlan, io: StartIo, signal: AbortSignal): Promise<Execution>;
  prepare?(template: Template, signal: AbortSignal): Promise<Prepared>;
  attach?(ref: ExecutionRef, from: Offsets, signal: AbortSignal): Promise<Execution>;
  list?(owner: string): AsyncIterable<ExecutionRef>;
  sweep?(isAlive: (owner: string) => Promise<boolean>): Promise<SweepReport>;
  close?(): Promise<void>;
}
