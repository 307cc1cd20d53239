/** One running program: what it is given, how it is asked to stop, and how it ended. */

import type { ExitKind } from "../../src/types.ts";
import { BrokenPipe, type ByteLog } from "./byte-log.ts";
import type { MemoryClock } from "./clock.ts";
import type { MemoryFiles } from "./file-tree.ts";
import { joinPath } from "./file-tree.ts";

/**
 * A program written in JavaScript. What it resolves to is its exit code, nothing being 0; what it throws is printed to stderr
 * and makes it exit 1.
 *
 * @example
 * ```ts
 * import type { MemoryProgram } from "prx-runtime/testing";
 *
 * const greet: MemoryProgram = async ({ argv, stdout }) => {
 *   await stdout.write(`hello ${argv[1]}\n`);
 * };
 * ```
 */
export type MemoryProgram = (process: MemoryProcess) => Promise<number | undefined> | Promise<void>;

/** One of a program's two outputs. */
export interface MemoryWriter {
  /** Resolves when the reader has room: awaiting it is back-pressure. Rejects when the process is over or the reader is gone. */
  write(data: string | Uint8Array): Promise<void>;
}

/** What a program sees of its process. */
export interface MemoryProcess {
  readonly argv: readonly [string, ...string[]];
  readonly env: Readonly<Record<string, string>>;
  readonly workingDir: string;
  readonly stdin: ReadableStream<Uint8Array>;
  readonly stdout: MemoryWriter;
  readonly stderr: MemoryWriter;
  /** Aborts on TERM, trapped or not, and at the forced end. */
  readonly signal: AbortSignal;
  readonly files: MemoryFiles;
  /** From `workingDir`, without `.` and `..`. */
  resolve(path: string): string;
  /** From now on TERM only calls the handler. Without a handler it is ignored. What follows the grace period cannot be trapped. */
  trap(handler?: () => void): void;
  /** Rejects as soon as the process is over. `Infinity` waits for just that. */
  sleep(ms: number): Promise<void>;
  /** Starts another process of the same execution, with the same outputs and no stdin; it may outlive this one. */
  spawn(program: MemoryProgram, argv: readonly [string, ...string[]]): void;
  /** Ends the process at once; a write that was not awaited may be lost. */
  exit(code: number): never;
  /** Ends the process at once, as that signal does: `"SIGSEGV"`. */
  killSelf(signal: string): never;
  /** Takes memory. What is beyond the plan's limit ends the execution as out of memory; so does `Infinity`. */
  allocate(bytes: number): void;
}

/** Thrown inside of a program whose process is over. */
export class ProcessOver extends Error {
  override readonly name = "ProcessOver";
}

const signalNumbers: Readonly<Record<string, number>> = {
  SIGHUP: 1,
  SIGINT: 2,
  SIGQUIT: 3,
  SIGABRT: 6,
  SIGKILL: 9,
  SIGUSR1: 10,
  SIGSEGV: 11,
  SIGUSR2: 12,
  SIGPIPE: 13,
  SIGALRM: 14,
  SIGTERM: 15,
};

export function signaled(signal: string): ExitKind {
  return { kind: "signaled", signal, number: signalNumbers[signal] ?? null };
}

/** What the processes of one execution share. */
export interface ProcessContext {
  readonly env: Readonly<Record<string, string>>;
  readonly workingDir: string;
  readonly stdin: ByteLog;
  readonly stdout: ByteLog;
  readonly stderr: ByteLog;
  readonly files: MemoryFiles;
  readonly clock: MemoryClock;
  spawn(program: MemoryProgram, argv: readonly [string, ...string[]]): void;
  allocate(bytes: number): void;
}

/** A process as the world sees it. */
export interface RunningProcess {
  readonly argv: readonly string[];
  readonly over: boolean;
  readonly ended: Promise<ExitKind>;
  /** Asks politely; ends it unless it traps. */
  terminate(): void;
  /** Ends it, whatever it does. */
  end(kind: ExitKind): void;
}

const encoder = new TextEncoder();

export function runProcess(
  context: ProcessContext,
  program: MemoryProgram,
  argv: readonly [string, ...string[]],
): RunningProcess {
  const polite = new AbortController();
  const forced = new AbortController();
  const { promise: ended, resolve: settle } = Promise.withResolvers<ExitKind>();
  let trapped = false;
  let handler: (() => void) | undefined;

  function end(kind: ExitKind): void {
    if (forced.signal.aborted) return;
    const over = new ProcessOver("The process is over");
    forced.abort(over);
    polite.abort(over);
    settle(kind);
  }

  function leave(kind: ExitKind): never {
    end(kind);
    throw new ProcessOver("The process is over");
  }

  function terminate(): void {
    if (!trapped) {
      end(signaled("SIGTERM"));
      return;
    }
    polite.abort(new ProcessOver("The process was asked to stop"));
    try {
      handler?.();
    } catch {
      // A handler that threw has ended the process itself, or is a program that failed.
      end({ kind: "exited", code: 1 });
    }
  }

  const writerTo = (log: ByteLog): MemoryWriter => ({
    async write(data) {
      if (forced.signal.aborted) throw new ProcessOver("The process is over");
      await orOver(log.append(typeof data === "string" ? encoder.encode(data) : data), forced.signal);
    },
  });

  const process: MemoryProcess = {
    argv,
    env: context.env,
    workingDir: context.workingDir,
    stdin: context.stdin.read(0),
    stdout: writerTo(context.stdout),
    stderr: writerTo(context.stderr),
    signal: polite.signal,
    files: context.files,
    resolve: (path) => joinPath(context.workingDir, path),
    trap(given) {
      trapped = true;
      handler = given;
    },
    sleep: (ms) => context.clock.pause(ms, forced.signal),
    spawn: context.spawn,
    exit: (code) => leave({ kind: "exited", code: code & 0xff }),
    killSelf: (signal) => leave(signaled(signal)),
    allocate(bytes) {
      context.allocate(bytes);
      if (forced.signal.aborted) throw new ProcessOver("The process is over");
    },
  };

  const flushed = (): Promise<unknown> =>
    orOver(Promise.all([context.stdout.flushed(), context.stderr.flushed()]), forced.signal);

  async function live(): Promise<void> {
    try {
      const code = (await program(process)) ?? 0;
      await flushed();
      end({ kind: "exited", code: code & 0xff });
    } catch (error) {
      if (forced.signal.aborted) return;
      if (error instanceof BrokenPipe) {
        end(signaled("SIGPIPE"));
        return;
      }
      await process.stderr.write(`${argv[0]}: ${error instanceof Error ? error.message : error}\n`).catch(() => {});
      end({ kind: "exited", code: 1 });
    }
  }
  // Later, so that the process is known to its world before its first line runs.
  queueMicrotask(() => void live());

  return {
    argv,
    ended,
    terminate,
    end,
    get over() {
      return forced.signal.aborted;
    },
  };
}

/** The promise's own answer, unless the signal aborts first. */
function orOver<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const abandon = (): void => reject(signal.reason);
    if (signal.aborted) return abandon();
    signal.addEventListener("abort", abandon, { once: true });
    promise.then(resolve, reject).finally(() => signal.removeEventListener("abort", abandon));
  });
}
