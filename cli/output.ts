/** Where the program writes: stdout and stderr, awaited, so that a slow reader slows us and nothing is lost at the exit. */

import process from "node:process";
import { styleText } from "node:util";
import { messageOf, RuntimeError } from "../src/errors.ts";

/** A colour or weight of node:util's `styleText`. */
export type Style = Parameters<typeof styleText>[0];

/** One of the program's two outputs. */
export interface Output {
  readonly isTerminal: boolean;
  /** Characters in a line of the terminal. */
  readonly columns: number;
  /**
   * Settles when the system has taken everything.
   *
   * @throws ReaderLeft when nobody reads any more; RuntimeError `files_failed` otherwise, on a full disk for example.
   */
  write(data: string | Uint8Array): Promise<void>;
  /** The text in a style, where that can be seen and is wanted (`NO_COLOR`, `FORCE_COLOR`, not a terminal). */
  paint(style: Style, text: string): string;
}

/** The reader of an output has left: `| head -1` has what it wants. */
export class ReaderLeft extends Error {
  override readonly name = "ReaderLeft";
}

type StandardStream = NodeJS.WriteStream & { readonly fd: 1 | 2 };
type WriteBytes = (bytes: Uint8Array) => Promise<void>;

let out: Output | null = null;
let err: Output | null = null;

export function stdout(): Output {
  out ??= openOutput(process.stdout);
  return out;
}

export function stderr(): Output {
  err ??= openOutput(process.stderr);
  return err;
}

function openOutput(stream: StandardStream): Output {
  const write = denoWriter(stream.fd) ?? nodeWriter(stream);
  const encoder = new TextEncoder();
  return {
    isTerminal: stream.isTTY === true,
    columns: stream.columns ?? 80,
    write: async (data) => {
      const bytes = typeof data === "string" ? encoder.encode(data) : data;
      if (bytes.length > 0) await write(bytes).catch((error: unknown) => rethrow(error, stream.fd));
    },
    paint: (style, text) => styleText(style, text, { stream }),
  };
}

function rethrow(cause: unknown, fd: 1 | 2): never {
  const code = cause instanceof Error && "code" in cause ? cause.code : null;
  if (code === "EPIPE" || code === "ERR_STREAM_DESTROYED") throw new ReaderLeft("The reader has left", { cause });
  const name = fd === 1 ? "stdout" : "stderr";
  const reason = messageOf(cause);
  throw new RuntimeError("files_failed", `Output could not be written to ${name}: ${reason}`, {
    started: "maybe",
    cause,
  });
}

function nodeWriter(stream: StandardStream): WriteBytes {
  let failure: Error | null = null;
  stream.on("error", (error) => {
    failure = error;
  });
  return (bytes) =>
    new Promise((resolve, reject) => {
      stream.write(bytes, (error) => {
        // Bun tells only the first write of an error.
        const wrong = error ?? failure;
        if (wrong) reject(wrong);
        else resolve();
      });
    });
}

interface DenoStream {
  write(bytes: Uint8Array): Promise<number>;
}

/** Deno's `process.stdout` blocks the event loop on a full pipe, and with it the time limit; its own writer does not. */
function denoWriter(fd: 1 | 2): WriteBytes | null {
  const { Deno: deno } = globalThis as { Deno?: { readonly stdout: DenoStream; readonly stderr: DenoStream } };
  if (deno === undefined) return null;
  const stream = fd === 1 ? deno.stdout : deno.stderr;
  return async (bytes) => {
    for (let at = 0; at < bytes.length; ) at += await stream.write(bytes.subarray(at));
  };
}
