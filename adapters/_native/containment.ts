/** What holds a command and everything it begins, so that all of it can be ended. */

import type { ProcessName } from "../../host/process-name.ts";
import type { Leftover } from "../../src/types.ts";
import type { StopSignal } from "./signals.ts";

/** The kernel's own limits on one execution and what it began. `null`: none. */
export interface CellLimits {
  readonly memoryBytes: number | null;
  readonly pids: number | null;
  readonly cpuTimeMs: number | null;
}

/** Which limits a containment can keep for a whole tree of processes. */
export type CellAbilities = Readonly<Record<keyof CellLimits, boolean>>;

/** A place that can hold executions. */
export interface Containment {
  readonly kind: "cgroup" | "process-group";
  /** Names the mechanism for people. */
  readonly description: string;
  /** A process that leaves its group and session is still held. */
  readonly holdsDaemons: boolean;
  readonly can: CellAbilities;
  /** Why not, and what to do, where more is known than that there is no cgroup. */
  readonly cannot?: Readonly<Partial<Record<keyof CellLimits, string>>>;
  /** A new, empty cell. `id` has no character that a file name cannot have. */
  open(id: string, limits: CellLimits, options?: CellOptions): Cell;
  /** Ends what still runs. Answers whether all of it is gone: may be called again if not. */
  close(): boolean;
}

export interface CellOptions {
  /** The first process and its children only watch over the command, and take it down when they end: they are not asked to, only forced. */
  readonly monitored?: boolean;
}

/** Holds one execution. */
export interface Cell {
  /** Runs `spawn`, synchronously, so that the process it starts is held from its first instruction on. */
  enter<Child extends { readonly pid: number | undefined }>(spawn: () => Child): Child;
  /** Holds one more process, which nothing leads to from the first: with a monitor gone, what it watched over. */
  alsoHolds(process: ProcessName): void;
  /** Signals everything that is held. */
  signal(signal: StopSignal): void;
  /** Whether nothing is left. */
  isEmpty(): boolean;
  /** Whether the kernel ended a process for want of memory. */
  wasOutOfMemory(): boolean;
  /** CPU time used by everything that was ever held, in milliseconds; `null` where it cannot be told. */
  cpuTimeMs(): number | null;
  /** Gives the cell up, after {@link isEmpty}. Answers what could not be removed. */
  dispose(): readonly Leftover[];
}
