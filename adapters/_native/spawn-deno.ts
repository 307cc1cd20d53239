/** Starts a process on Deno. */

import { constants } from "node:os";
import type { ExitKind } from "../../src/types.ts";
import type { Child, FailedSpawn, SpawnRequest } from "./child.ts";
import { sourceOf } from "./drain.ts";

/** What is used of Deno, whose own types cannot stand beside Node's and Bun's. */
interface DenoNamespace {
  readonly Command: new (
    file: string,
    options: {
      readonly args: readonly string[];
      readonly cwd: string;
      readonly env: Readonly<Record<string, string>>;
      readonly clearEnv: boolean;
      readonly detached: boolean;
      readonly stdin: "piped" | "null";
      readonly stdout: "piped";
      readonly stderr: "piped";
    },
  ) => {
    spawn(): {
      readonly pid: number;
      readonly stdin: WritableStream<Uint8Array>;
      readonly stdout: ReadableStream<Uint8Array>;
      readonly stderr: ReadableStream<Uint8Array>;
      readonly status: Promise<{ readonly code: number; readonly signal: NodeJS.Signals | null }>;
    };
  };
}
declare const Deno: DenoNamespace;

/** Deno connects a child by real pipes. */
export function denoSpawn(request: SpawnRequest): Child | FailedSpawn {
  try {
    const command = new Deno.Command(request.file, {
      args: request.args,
      cwd: request.workingDir,
      env: request.env,
      clearEnv: true,
      detached: true,
      stdin: request.stdin ? "piped" : "null",
      stdout: "piped",
      stderr: "piped",
    });
    const child = command.spawn();
    return {
      pid: child.pid,
      stdin: request.stdin ? child.stdin : null,
      stdout: sourceOf(child.stdout),
      stderr: sourceOf(child.stderr),
      exited: child.status.then(
        ({ code, signal }) =>
          signal === null
            ? { kind: "exited", code }
            : { kind: "signaled", signal, number: constants.signals[signal] ?? null },
        unnamedSignal,
      ),
      dispose: () => {},
    };
  } catch (error) {
    return { pid: undefined, failure: Promise.resolve(error) };
  }
}

/** A child that died of a signal which Deno has no name for makes `status` reject with the number in its message. */
function unnamedSignal(error: unknown): ExitKind {
  const number = /Invalid signal: (\d+)/.exec(String(error))?.[1];
  return number === undefined
    ? { kind: "lost", cause: "unknown" }
    : { kind: "signaled", signal: null, number: Number(number) };
}
