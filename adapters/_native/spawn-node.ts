/** Starts a process on Node. */

import type { ChildProcess } from "node:child_process";
import type { Socket } from "node:net";
import { constants } from "node:os";
import type { Readable, Writable } from "node:stream";
import type { ExitKind } from "../../src/types.ts";
import type { Child, FailedSpawn, Spawn, SpawnRequest } from "./child.ts";
import type { ByteSource } from "./drain.ts";
import { type DescriptorMask, findInherited, maskDescriptors } from "./inherited-descriptors.ts";
import { type OutputPipes, openOutputPipes, type Pipe, type PipePool } from "./pipes.ts";

/** With real pipes where there is a pool of them, else with what Node makes. */
export function createNodeSpawn(pool: PipePool | null): Spawn {
  const inherited = findInherited();
  return (request) => {
    try {
      const mask = maskDescriptors(inherited);
      try {
        return start(request, pool === null ? null : openOutputPipes(pool), mask);
      } finally {
        mask.close();
      }
    } catch (error) {
      return { pid: undefined, failure: Promise.resolve(error) };
    }
  };
}

function start(request: SpawnRequest, pipes: OutputPipes | null, mask: DescriptorMask): Child | FailedSpawn {
  const { spawn } = process.getBuiltinModule("node:child_process");
  let child: ChildProcess;
  try {
    child = spawn(request.file, [...request.args], {
      cwd: request.workingDir,
      env: request.env,
      detached: true,
      windowsHide: true,
      stdio: [
        request.stdin ? "pipe" : "ignore",
        pipes?.stdout.childFd ?? "pipe",
        pipes?.stderr.childFd ?? "pipe",
        ...(request.descriptors ?? []),
        ...mask.places.slice(request.descriptors?.length ?? 0),
      ],
    });
  } catch (error) {
    pipes?.abandon();
    throw error;
  }
  const { pid } = child;
  if (pid === undefined) {
    pipes?.abandon();
    return { pid, failure: new Promise((resolve) => child.once("error", resolve)) };
  }
  pipes?.handOver();
  return {
    pid,
    stdin: child.stdin === null ? null : writableOf(child.stdin),
    stdout: sourceOf(pipes === null ? child.stdout : readerOf(pipes.stdout)),
    stderr: sourceOf(pipes === null ? child.stderr : readerOf(pipes.stderr)),
    exited: new Promise((resolve) => {
      child.once("exit", (code, signal) => resolve(exitOf(code, signal)));
      // Signalling a child through its object can fail; nothing here does so, but an unheard error would end the host.
      child.on("error", () => {});
    }),
    dispose: (reusable) => pipes?.giveBack(reusable),
  };
}

function readerOf({ hostFd }: Pipe): Socket {
  const { Socket } = process.getBuiltinModule("node:net");
  return new Socket({ fd: hostFd, readable: true, writable: false });
}

/**
 * Node gives neither code nor signal for a real-time signal (its table ends at SIGSYS) but answers 0 and null, the same as
 * for a command that exited with 0: https://github.com/nodejs/node/blob/v24.x/src/node.cc, `signo_string`.
 */
function exitOf(code: number | null, signal: NodeJS.Signals | null): ExitKind {
  if (signal !== null) return { kind: "signaled", signal, number: constants.signals[signal] ?? null };
  return code === null ? { kind: "lost", cause: "unknown" } : { kind: "exited", code };
}

/** `Readable.toWeb` measured 0.65 of the plain stream's rate on Node 24; this passes each chunk on as it comes. */
function sourceOf(readable: Readable | null): ByteSource {
  if (readable === null) return { read: async () => null, cancel: () => {} };
  let ended = false;
  let failure: Error | null = null;
  let wake: (() => void) | null = null;
  const turn = () => {
    wake?.();
    wake = null;
  };
  const end = () => {
    ended = true;
    turn();
  };
  readable.on("readable", turn);
  readable.once("end", end);
  readable.once("close", end);
  readable.once("error", (error) => {
    failure = error;
    turn();
  });
  return {
    read: async () => {
      for (;;) {
        const chunk: Buffer | null = readable.read();
        if (chunk !== null) return new Uint8Array(chunk.buffer, chunk.byteOffset, chunk.byteLength);
        if (failure !== null) throw failure;
        if (ended) return null;
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
      }
    },
    cancel: () => {
      readable.destroy();
    },
  };
}

function writableOf(writable: Writable): WritableStream<Uint8Array> {
  // The command may close its end at any time: each write hears of it by its own callback.
  writable.on("error", () => {});
  return new WritableStream<Uint8Array>({
    write: (chunk) =>
      new Promise((resolve, reject) => {
        writable.write(chunk, (error) => (error ? reject(error) : resolve()));
      }),
    close: () => {
      writable.end();
    },
    abort: () => {
      writable.destroy();
    },
  });
}
