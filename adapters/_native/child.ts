/** The port through which the three JavaScript runtimes start a process. */

import type { ProcessName } from "../../host/process-name.ts";
import type { ExitKind, Warning } from "../../src/types.ts";
import type { ByteSource } from "./drain.ts";

/** What is started. Every field is final: nothing is searched, inherited or added. */
export interface SpawnRequest {
  /** Absolute. */
  readonly file: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  readonly workingDir: string;
  /** Without it the command reads an end of file at once. */
  readonly stdin: boolean;
  /** Open files for the places from 3 on; they stay open here. @default none */
  readonly descriptors?: readonly number[];
}

/** A child that leads a process group and a session of its own. */
export interface Child {
  readonly pid: number;
  readonly stdin: WritableStream<Uint8Array> | null;
  readonly stdout: ByteSource;
  readonly stderr: ByteSource;
  /** The child has been waited for. What it wrote may still be in the pipes. */
  readonly exited: Promise<ExitKind>;
  /** Nothing of it is needed any more. `contained`: no process can still hold the other ends of its streams. */
  dispose(contained: boolean): void;
  /** There where the child is a monitor around the command: what its exit says of the command. */
  readonly monitor?: Monitor;
}

/** A child that stands between the host and the command. */
export interface Monitor {
  /**
   * The process with which everything inside ends, as soon as it is known, or at the exit; `null` when none was left by then.
   * The command can make the monitor end without it. Never rejects.
   */
  readonly init: Promise<ProcessName | null>;
  /**
   * @param stopped whether it was asked to end: what dies on its way to the command died of that
   * @throws RuntimeError when the command was not run: the promise rejects.
   */
  ending(exit: ExitKind, stopped: boolean): Promise<ExitKind>;
  /** Whether all that it watched has gone, after its exit. */
  isEmpty(): boolean;
  /** What it most likely denied to the command; to be asked once, when stderr has ended. */
  findings(exit: ExitKind): readonly Warning[];
}

/** A child that could not be started, with the runtime's own error. */
export interface FailedSpawn {
  readonly pid: undefined;
  readonly failure: Promise<unknown>;
}

/** Starts a process within the call, so that whatever the calling thread is in, the process is in too. */
export type Spawn = (request: SpawnRequest) => Child | FailedSpawn;
