/** What the command reads: this process's stdin, a file, or nothing. */

import { createReadStream, fstatSync, statSync } from "node:fs";
import process from "node:process";
import { isatty } from "node:tty";
import { messageOf, RuntimeError } from "../src/errors.ts";

/** Anything that Node's readable streams are, as far as it matters here. */
interface Chunks extends AsyncIterable<Uint8Array> {
  destroy(): unknown;
}

/**
 * `inherit` or `-`: this process's stdin, as it comes. `none`: nothing. Anything else is a file's path. By default stdin is
 * handed on unless it is a terminal, which would keep the command waiting for somebody to type.
 *
 * @returns `undefined` for nothing: the command reads an end of file at once.
 * @throws RuntimeError `files_failed` for a file that cannot be read.
 */
export function openInput(flag: string | undefined): ReadableStream<Uint8Array> | undefined {
  switch (flag ?? (hasInput() ? "inherit" : "none")) {
    case "none":
      return undefined;
    case "inherit":
    case "-":
      return openOwn();
    default:
      return openFile(flag ?? "");
  }
}

function hasInput(): boolean {
  try {
    fstatSync(0);
    return !isatty(0);
  } catch {
    return false;
  }
}

function openOwn(): ReadableStream<Uint8Array> {
  // Node and Deno would take it for an empty one.
  if (isDirectory(0))
    throw new RuntimeError("files_failed", "The program's stdin is a directory: give a file or a pipe");
  return streamOf(process.stdin);
}

function isDirectory(fd: number): boolean {
  try {
    return fstatSync(fd).isDirectory();
  } catch {
    return false;
  }
}

function openFile(path: string): ReadableStream<Uint8Array> {
  try {
    if (statSync(path).isDirectory()) throw new Error("it is a directory");
    return streamOf(createReadStream(path));
  } catch (cause) {
    const reason = messageOf(cause);
    throw new RuntimeError("files_failed", `File ${path} of --stdin cannot be read: ${reason}`, { cause });
  }
}

/** Nothing is read before the command asks, and cancelling is not waited for: a read that is under way may never end. */
function streamOf(chunks: Chunks): ReadableStream<Uint8Array> {
  let iterator: AsyncIterator<Uint8Array> | null = null;
  return new ReadableStream<Uint8Array>(
    {
      pull: async (controller) => {
        iterator ??= chunks[Symbol.asyncIterator]();
        const next = await iterator.next();
        if (next.done === true) controller.close();
        else controller.enqueue(next.value);
      },
      cancel: () => {
        chunks.destroy();
      },
    },
    { highWaterMark: 0 },
  );
}
