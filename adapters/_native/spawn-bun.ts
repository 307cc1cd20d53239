/** Starts a process on Bun. */

import { constants } from "node:os";
import type { ExitKind } from "../../src/types.ts";
import { sourceOf } from "./drain.ts";
import type { Child, FailedSpawn, SpawnRequest } from "./spawn.ts";

export function spawn(request: SpawnRequest): Child | FailedSpawn {
  try {
    const child = Bun.spawn([request.file, ...request.args], {
      cwd: request.workingDir,
      env: request.env,
      detached: true,
      windowsHide: true,
      stdin: request.stdin ? "pipe" : "ignore",
      stdout: "pipe",
      stderr: "pipe",
    });
    return {
      pid: child.pid,
      stdin: child.stdin === undefined ? null : writableOf(child.stdin),
      stdout: sourceOf(child.stdout),
      stderr: sourceOf(child.stderr),
      exited: child.exited.then((status) => exitOf(status, child.exitCode, child.signalCode)),
    };
  } catch (error) {
    return { pid: undefined, failure: Promise.resolve(error) };
  }
}

/** A signal without a name (a real-time one) leaves both `code` and `signal` empty, but the status is 128 and its number. */
function exitOf(status: number, code: number | null, signal: NodeJS.Signals | number | null): ExitKind {
  if (code !== null) return { kind: "exited", code };
  if (typeof signal === "string") return { kind: "signaled", signal, number: constants.signals[signal] ?? null };
  return status > 128 ? { kind: "signaled", signal: null, number: status - 128 } : { kind: "lost", cause: "unknown" };
}

function writableOf(sink: Bun.FileSink): WritableStream<Uint8Array> {
  return new WritableStream<Uint8Array>({
    write: async (chunk) => {
      sink.write(chunk);
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
