/** The process's own stdin, stdout and stderr, byte for byte and in place: nothing is on its way when the process ends. */

import { constants, fstatSync, openSync, readSync, writeSync } from "node:fs";
import { always, Pollable } from "./poll.ts";
import { sleep } from "./sleep.ts";
import { InputStream, OutputStream, type Sink, type Source } from "./streams.ts";

/** A pipe that somebody else has set not to wait says so when it is full or empty. */
const retryMs = 1;

function sinkOf(fd: number, sees?: (bytes: Uint8Array) => void): Sink {
  return {
    write(bytes) {
      sees?.(bytes);
      for (let at = 0; at < bytes.length; ) {
        try {
          at += writeSync(fd, bytes, at, bytes.length - at);
        } catch (error) {
          if (!isBusy(error)) throw error;
          sleep(retryMs);
        }
      }
    },
    // The process's own: a guest that lets go of a stream asks for it again.
    close() {},
  };
}

function isBusy(error: unknown): boolean {
  return error instanceof Error && "code" in error && (error.code === "EAGAIN" || error.code === "EWOULDBLOCK");
}

/** Reads what is there; `null` at the end, `undefined` where a descriptor that does not wait has nothing. */
function readNow(fd: number, length: number): Uint8Array | null | undefined {
  const buffer = new Uint8Array(length);
  try {
    const count = readSync(fd, buffer, 0, length, null);
    return count === 0 ? null : buffer.subarray(0, count);
  } catch (error) {
    if (isBusy(error)) return undefined;
    // Windows tells of the end of a pipe by an error, and a process can be started without stdin.
    if (error instanceof Error && "code" in error && (error.code === "EOF" || error.code === "EBADF")) return null;
    throw error;
  }
}

/** A second way to the same pipe, which does not wait. Sockets and terminals have none: there a guest that asks waits. */
function openWithoutWaiting(): number | null {
  try {
    if (!fstatSync(0).isFIFO()) return null;
    return openSync("/proc/self/fd/0", constants.O_RDONLY | constants.O_NONBLOCK);
  } catch {
    return null;
  }
}

function createStdin(): Source {
  let ahead: Uint8Array = new Uint8Array();
  let ended = false;
  let quick: number | null | undefined;

  /** Whether a read would not wait. */
  const look = (): boolean => {
    if (ended || ahead.length > 0) return true;
    if (quick === undefined) quick = openWithoutWaiting();
    if (quick === null) return true;
    const bytes = readNow(quick, 64 * 1024);
    if (bytes === null) ended = true;
    else if (bytes !== undefined) ahead = bytes;
    return ended || ahead.length > 0;
  };

  const take = (length: number): Uint8Array => {
    const bytes = ahead.subarray(0, length);
    ahead = ahead.subarray(length);
    return bytes;
  };

  return {
    read(length, waits) {
      if (!waits && !look()) return new Uint8Array();
      if (ahead.length > 0) return take(length);
      if (ended) return null;
      for (;;) {
        const bytes = readNow(0, length);
        if (bytes === null) ended = true;
        if (bytes !== undefined) return bytes;
        sleep(retryMs);
      }
    },
    subscribe: () => (quick === null ? always() : new Pollable(look)),
    close() {},
  };
}

/** @param sees is shown what the guest writes to stderr */
export function createStdio(sees: (bytes: Uint8Array) => void) {
  const stdin = createStdin();
  const stdout = sinkOf(1);
  const stderr = sinkOf(2, sees);
  return {
    stdin: { getStdin: () => new InputStream(stdin) },
    stdout: { getStdout: () => new OutputStream(stdout) },
    stderr: { getStderr: () => new OutputStream(stderr) },
  };
}
