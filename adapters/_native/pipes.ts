/**
 * Real pipes for what a command writes. Node and Bun connect a child by sockets, and Linux does not let a socket be opened
 * anew: there `echo failed > /dev/stderr` and `tee /dev/stdout` fail in every script. Named pipes have no such limit.
 * stdin stays a socket: opening a named pipe whose writer is gone would wait for another one, for ever (fifo(7)).
 */

import type { ChildProcess } from "node:child_process";
import { closeSync, constants, fstatSync, mkdirSync, openSync, readSync, rmSync } from "node:fs";
import { join } from "node:path";

/** One pipe, opened at both ends. */
export interface Pipe {
  /** Does not block. */
  readonly hostFd: number;
  /** Blocks, as a command expects of its standard streams. To be closed once the command has it. */
  readonly childFd: number;
  /** Both ends are closed. Only a pipe that nobody else can still know may be used again. */
  giveBack(reusable: boolean): void;
}

/** Makes pipes from the command to the host. */
export interface PipePool {
  /** @throws Error when none can be made or opened. */
  open(): Pipe;
  close(): void;
}

/** How many one call of mkfifo(1) makes: it takes as long as a command. The first are for four commands at a time. */
const firstBatch = 8;
const batch = 32;

const program = "mkfifo";
const options = { stdio: "ignore", env: { PATH: "/usr/bin:/bin" } } as const;

/** Pipes below `directory`, which is removed in the end; `null` where there is no need or no way to make them. */
export async function createPipePool(directory: string): Promise<PipePool | null> {
  if (process.platform !== "linux") return null;
  const { execFileSync, spawn } = process.getBuiltinModule("node:child_process");
  const idle: { readonly path: string; readonly isUsed: boolean }[] = [];
  let made = 0;
  const fresh = (path: string) => ({ path, isUsed: false });
  const name = (count: number) => {
    const paths = Array.from({ length: count }, (_, index) => join(directory, String(made + index)));
    made += count;
    return paths;
  };
  const make = () => {
    const paths = name(batch);
    // Whoever tidies temporary directories may have removed it meanwhile.
    mkdirSync(directory, { recursive: true, mode: 0o700 });
    execFileSync(program, ["-m", "600", ...paths], options);
    idle.push(...paths.map(fresh));
  };
  try {
    mkdirSync(directory, { recursive: true, mode: 0o700 });
    const paths = name(firstBatch);
    // Not synchronously, as later ones are: the host has other things to do while it starts.
    await exitOf(spawn(program, ["-m", "600", ...paths], options));
    idle.push(...paths.map(fresh));
  } catch {
    remove(directory);
    return null;
  }
  const takeUnheld = (): string => {
    for (;;) {
      if (idle.length === 0) make();
      const { path, isUsed } = idle.pop() ?? fresh("");
      if (!isUsed || !isHeld(path)) return path;
      rmSync(path, { force: true });
    }
  };
  return {
    open: () => {
      const path = takeUnheld();
      // In this order: without a reader, opening the writing end would block.
      const hostFd = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
      const childFd = openWriter(path, hostFd);
      // A command of the same user can put something else in the place of a pipe that it knows by its name.
      if (!fstatSync(hostFd).isFIFO()) {
        closeSync(hostFd);
        closeSync(childFd);
        throw new Error(`${path} is no pipe any more`);
      }
      return {
        hostFd,
        childFd,
        giveBack: (reusable) => {
          if (reusable) idle.push({ path, isUsed: true });
          else rmSync(path, { force: true });
        },
      };
    },
    close: () => remove(directory),
  };
}

/**
 * Whether somebody still has the pipe open, at either end: a command can hand a descriptor to a process that is none of its own
 * (unix(7), SCM_RIGHTS). Without a reader nothing can be opened for writing (fifo(7)); without a writer a read finds the end.
 */
function isHeld(path: string): boolean {
  try {
    closeSync(openSync(path, constants.O_WRONLY | constants.O_NONBLOCK));
    return true;
  } catch (error) {
    if (!isCode(error, "ENXIO")) return true;
  }
  let fd: number | undefined;
  try {
    fd = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
    return readSync(fd, Buffer.alloc(1)) !== 0;
  } catch {
    return true;
  } finally {
    if (fd !== undefined) closeSync(fd);
  }
}

function isCode(error: unknown, code: string): boolean {
  return error instanceof Error && "code" in error && error.code === code;
}

/** Where the writing end cannot be opened, the reading one is closed again. */
function openWriter(path: string, readerFd: number): number {
  try {
    return openSync(path, constants.O_WRONLY);
  } catch (error) {
    closeSync(readerFd);
    throw error;
  }
}

function remove(directory: string): void {
  try {
    rmSync(directory, { recursive: true, force: true });
  } catch {
    // What is above it is no directory.
  }
}

function exitOf(child: ChildProcess): Promise<void> {
  return new Promise((resolve, reject) => {
    child.once("error", reject);
    child.once("exit", (code) => (code === 0 ? resolve() : reject(new Error(`${program} exited with ${code}`))));
  });
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

/** `null` when a pipe cannot be made or opened: none stays open then, and what the runtime itself makes has to do. */
export function openOutputPipes(pool: PipePool): OutputPipes | null {
  const stdout = tryOpen(pool);
  if (stdout === null) return null;
  const discard = (pipe: Pipe) => {
    closeSync(pipe.hostFd);
    closeSync(pipe.childFd);
    pipe.giveBack(true);
  };
  const stderr = tryOpen(pool);
  if (stderr === null) {
    discard(stdout);
    return null;
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

function tryOpen(pool: PipePool): Pipe | null {
  try {
    return pool.open();
  } catch {
    return null;
  }
}
