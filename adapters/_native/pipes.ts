/**
 * Real pipes for what a command writes. Node and Bun connect a child by sockets, and Linux does not let a socket be opened
 * anew: there `echo failed > /dev/stderr` and `tee /dev/stdout` fail in every script. Named pipes have no such limit.
 * stdin stays a socket: opening a named pipe whose writer is gone would wait for another one, for ever (fifo(7)).
 */

import { execFileSync } from "node:child_process";
import { closeSync, constants, mkdirSync, openSync, rmSync } from "node:fs";
import { join } from "node:path";
import process from "node:process";

/** One pipe, opened at both ends. */
export interface Pipe {
  /** Does not block. */
  readonly hostFd: number;
  /** Blocks, as a command expects of its standard streams. To be closed once the command has it. */
  readonly childFd: number;
  /** Both ends are closed. Only a pipe that nobody else can still have open may be used again. */
  giveBack(reusable: boolean): void;
}

/** Makes pipes from the command to the host. */
export interface PipePool {
  /** @throws Error when none can be made or opened. */
  open(): Pipe;
  close(): void;
}

/** One call of mkfifo(1) makes this many: it takes as long as a command. */
const batch = 24;

/** Pipes below `directory`, which is removed in the end; `null` where there is no need or no way to make them. */
export function createPipePool(directory: string): PipePool | null {
  if (process.platform !== "linux") return null;
  const idle: string[] = [];
  let made = 0;
  const make = () => {
    const paths = Array.from({ length: batch }, (_, index) => join(directory, String(made + index)));
    execFileSync("mkfifo", ["-m", "600", ...paths], { stdio: "ignore", env: { PATH: "/usr/bin:/bin" } });
    made += batch;
    idle.push(...paths);
  };
  try {
    mkdirSync(directory, { recursive: true, mode: 0o700 });
    make();
  } catch {
    return null;
  }
  return {
    open: () => {
      if (idle.length === 0) make();
      const path = idle.pop() ?? "";
      // In this order: without a reader, opening the writing end would block.
      const hostFd = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
      const childFd = openSync(path, constants.O_WRONLY);
      return {
        hostFd,
        childFd,
        giveBack: (reusable) => {
          if (reusable) idle.push(path);
          else rmSync(path, { force: true });
        },
      };
    },
    close: () => rmSync(directory, { recursive: true, force: true }),
  };
}

/** What a child writes to. */
export interface OutputPipes {
  readonly stdout: Pipe;
  readonly stderr: Pipe;
  /** Closes the child's ends here: it has its own now. */
  handOver(): void;
  /** The child could not be started. */
  abandon(): void;
  /** The host's ends are closed too. */
  giveBack(reusable: boolean): void;
}

/** @throws Error when a pipe cannot be made or opened; none stays open then. */
export function openOutputPipes(pool: PipePool): OutputPipes {
  const stdout = pool.open();
  const discard = (pipe: Pipe) => {
    closeSync(pipe.hostFd);
    closeSync(pipe.childFd);
    pipe.giveBack(true);
  };
  let stderr: Pipe;
  try {
    stderr = pool.open();
  } catch (error) {
    discard(stdout);
    throw error;
  }
  const both = [stdout, stderr];
  return {
    stdout,
    stderr,
    handOver: () =>
      both.forEach(({ childFd }) => {
        closeSync(childFd);
      }),
    abandon: () => both.forEach(discard),
    giveBack: (reusable) =>
      both.forEach((pipe) => {
        pipe.giveBack(reusable);
      }),
  };
}
