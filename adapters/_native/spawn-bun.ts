/** Starts a process on Bun. */

import { closeSync } from "node:fs";
import { constants } from "node:os";
import type { ExitKind } from "../../src/types.ts";
import type { Child, FailedSpawn, Spawn, SpawnRequest } from "./child.ts";
import { type ByteSource, sourceOf } from "./drain.ts";
import { type OutputPipes, openOutputPipes, type PipePool } from "./pipes.ts";

/** With real pipes where there is a pool of them, else with what Bun makes. */
export function createBunSpawn(pool: PipePool | null): Spawn {
  return (request): Child | FailedSpawn => {
    try {
      return start(request, pool === null ? null : openOutputPipes(pool));
    } catch (error) {
      return { pid: undefined, failure: Promise.resolve(error) };
    }
  };
}

function start(request: SpawnRequest, pipes: OutputPipes | null): Child {
  try {
    const child = Bun.spawn([request.file, ...request.args], {
      cwd: request.workingDir,
      env: request.env,
      detached: true,
      windowsHide: true,
      stdio: [
        request.stdin ? "pipe" : "ignore",
        pipes?.stdout.childFd ?? "pipe",
        pipes?.stderr.childFd ?? "pipe",
        ...(request.descriptors ?? []),
      ],
    });
    pipes?.handOver();
    return {
      pid: child.pid,
      stdin: child.stdin === undefined ? null : writableOf(child.stdin),
      stdout: pipes === null ? streamSource(child.stdout) : pipeReader(pipes.stdout.hostFd),
      stderr: pipes === null ? streamSource(child.stderr) : pipeReader(pipes.stderr.hostFd),
      exited: child.exited.then((status) => exitOf(status, child.exitCode, child.signalCode)),
      dispose: (contained) => pipes?.giveBack(contained),
    };
  } catch (error) {
    pipes?.abandon();
    throw error;
  }
}

/** A signal without a name (a real-time one) leaves both `code` and `signal` empty, but the status is 128 and its number. */
function exitOf(status: number, code: number | null, signal: NodeJS.Signals | number | null): ExitKind {
  if (code !== null) return { kind: "exited", code };
  if (typeof signal === "string") return { kind: "signaled", signal, number: constants.signals[signal] ?? null };
  return status > 128 ? { kind: "signaled", signal: null, number: status - 128 } : { kind: "lost", cause: "unknown" };
}

/** What Bun gives for `"pipe"`; its types also allow for a descriptor of ours. */
function streamSource(stream: ReadableStream<Uint8Array> | number): ByteSource {
  if (typeof stream === "number") throw new TypeError("Bun answered a descriptor where a pipe was asked for");
  return sourceOf(stream);
}

function pipeReader(fd: number): ByteSource {
  const source = sourceOf(Bun.file(fd).stream());
  let open = true;
  const close = () => {
    if (open) closeSync(fd);
    open = false;
  };
  return {
    read: async () => {
      const chunk = await source.read();
      if (chunk === null) close();
      return chunk;
    },
    cancel: () => {
      source.cancel();
      close();
    },
  };
}

/** Once the child is over Bun takes every chunk, answers `true` instead of a length, and drops it. */
function writableOf(sink: Bun.FileSink): WritableStream<Uint8Array> {
  return new WritableStream<Uint8Array>({
    write: async (chunk) => {
      const written: unknown = sink.write(chunk);
      if (written === true) throw new Error("The command is over");
      // A full pipe makes it a promise, which nobody else hears of when the command closes its end.
      await written;
      await sink.flush();
    },
    close: async () => {
      await sink.end();
    },
    abort: async () => {
      await sink.end();
    },
  });
}
