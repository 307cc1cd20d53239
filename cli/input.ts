/** What the command reads: this process's stdin, a file, or nothing. */

import { closeSync, constants, createReadStream, fstatSync, openSync, readSync } from "node:fs";
import process from "node:process";
import { isatty } from "node:tty";
import { type HeldFile, reasonOf } from "../host/held-directory.ts";
import { holdNamed } from "../host/named-files.ts";
import { RuntimeError } from "../src/errors.ts";

/** Anything that Node's readable streams are, as far as it matters here. */
interface Chunks extends AsyncIterable<Uint8Array> {
  destroy(): unknown;
}

/**
 * `inherit` or `-`: this process's stdin, as it comes. `none`: nothing. Anything else is a file's path. By default stdin is
 * handed on unless it is a terminal, which would keep the command waiting for somebody to type.
 *
 * @param places where commands work: see `placesOfCommands`
 * @returns `undefined` for nothing: the command reads an end of file at once.
 * @throws RuntimeError `files_failed` for a file that cannot be read.
 */
export function openInput(flag: string | undefined, places: readonly string[]): ReadableStream<Uint8Array> | undefined {
  switch (flag ?? (hasInput() ? "inherit" : "none")) {
    case "none":
      return undefined;
    case "inherit":
    case "-":
      return openOwn();
    default:
      return openFile(flag ?? "", places);
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

function openFile(path: string, places: readonly string[]): ReadableStream<Uint8Array> {
  try {
    const held = holdNamed(path, places);
    const { close } = held;
    if (held.stats.isDirectory()) throw new Error("it is a directory");
    if (held.stats.isFIFO()) return streamOf(readPipe(held));
    // It is opened in its own time: a device may be waiting for something.
    return streamOf(createReadStream(held.path).once("close", close));
  } catch (cause) {
    const reason = reasonOf(cause);
    throw new RuntimeError("files_failed", `File ${path} of --stdin cannot be read: ${reason}`, { cause });
  }
}

const chunkBytes = 65_536;
const lookMs = 10;

/**
 * A pipe is looked at again and again: this process could not end while one of its threads waits for the other end to be
 * opened, or to be written to. Until somebody writes it is not over; who only opens and closes it meanwhile may go unseen.
 */
function readPipe({ path, close }: HeldFile): Chunks {
  const fd = openSync(path, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0));
  close();
  let isOpen = true;
  const destroy = () => {
    if (isOpen) closeSync(fd);
    isOpen = false;
  };
  async function* chunks(): AsyncGenerator<Uint8Array> {
    let hadWriter = false;
    while (isOpen) {
      const chunk = readNow(fd);
      if (chunk?.length === 0 && hadWriter) return destroy();
      hadWriter ||= chunk?.length !== 0;
      if (chunk !== null && chunk.length > 0) yield chunk;
      else await new Promise((resolve) => setTimeout(resolve, lookMs));
    }
  }
  return { [Symbol.asyncIterator]: chunks, destroy };
}

/** Empty where nobody has the other end; `null` where nothing has been written yet. */
function readNow(fd: number): Uint8Array | null {
  const buffer = new Uint8Array(chunkBytes);
  try {
    return buffer.subarray(0, readSync(fd, buffer, 0, buffer.length, null));
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "EAGAIN") return null;
    throw error;
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
