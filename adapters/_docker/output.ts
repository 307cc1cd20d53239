/** A container's two output streams out of one connection, at the pace of whoever reads them. */

import type { Readable } from "node:stream";
import { createFrameReader } from "./frames.ts";

/** The two streams, before and after there is a connection. */
export interface ContainerOutput {
  readonly stdout: ReadableStream<Uint8Array>;
  readonly stderr: ReadableStream<Uint8Array>;
  /** Both have ended, or nobody wants them any more. Never rejects. */
  readonly closed: Promise<void>;
  /** Everything comes from here. */
  connect(source: Readable): void;
  /** The command is over: a connection that gives nothing more is not waited for. */
  commandOver(): void;
  /** There will be nothing (more). */
  end(): void;
}

/** What is read ahead of each stream. */
const aheadBytes = 64 * 1024;
/** A daemon closes the connection when all is told; one that holds it open without a byte is left after so long. */
const patienceMs = 5000;

interface Side {
  readonly stream: ReadableStream<Uint8Array>;
  readonly closed: Promise<void>;
  push(bytes: Uint8Array): Promise<void> | undefined;
  end(): void;
  fail(error: unknown): void;
  isWanted(): boolean;
}

export function createOutput(): ContainerOutput {
  let source: Readable | null = null;
  const letGo = () => {
    if (!stdout.isWanted() && !stderr.isWanted()) source?.destroy();
  };
  const stdout = createSide(letGo);
  const stderr = createSide(letGo);
  const settle = (what: (side: Side) => void) => [stdout, stderr].forEach(what);
  const idle = createIdleWatch(() =>
    source?.destroy(new Error("The daemon did not end the output of an ended command")),
  );

  async function read(from: Readable): Promise<void> {
    const frames = createFrameReader();
    try {
      idle.watch();
      for await (const chunk of from) {
        idle.pause();
        for (const { stream, bytes } of frames.read(chunk)) await (stream === "stdout" ? stdout : stderr).push(bytes);
        idle.watch();
      }
      if (!frames.isWhole) throw new Error("The connection to the daemon ended in the midst of the output");
      settle((side) => side.end());
    } catch (error) {
      settle((side) => side.fail(error));
    } finally {
      idle.end();
      // Half of it would stay open.
      from.destroy();
    }
  }

  return {
    stdout: stdout.stream,
    stderr: stderr.stream,
    closed: Promise.all([stdout.closed, stderr.closed]).then(() => {}),
    connect(from) {
      source = from;
      void read(from);
    },
    commandOver: idle.arm,
    end: () => {
      source?.destroy();
      settle((side) => side.end());
    },
  };
}

function createSide(letGo: () => void): Side {
  const closed = Promise.withResolvers<void>();
  let isOver = false;
  let room = Promise.withResolvers<void>();
  let controller: ReadableStreamDefaultController<Uint8Array> | null = null;
  const over = (what: () => void) => {
    if (isOver) return;
    isOver = true;
    what();
    room.resolve();
    closed.resolve();
  };
  const stream = new ReadableStream<Uint8Array>(
    {
      start: (own) => {
        controller = own;
      },
      pull: () => room.resolve(),
      cancel: () => {
        over(() => {});
        letGo();
      },
    },
    { highWaterMark: aheadBytes, size: (chunk) => chunk?.byteLength ?? 0 },
  );
  return {
    stream,
    closed: closed.promise,
    push(bytes) {
      if (isOver || controller === null) return undefined;
      controller.enqueue(bytes);
      if ((controller.desiredSize ?? 1) > 0) return undefined;
      room = Promise.withResolvers<void>();
      return room.promise;
    },
    end: () => over(() => controller?.close()),
    fail: (error) => over(() => controller?.error(error)),
    isWanted: () => !isOver,
  };
}

/** Counts only while a byte is waited for, and only once the command is over. */
function createIdleWatch(onIdle: () => void) {
  let isArmed = false;
  let isWaiting = false;
  let timer: ReturnType<typeof setTimeout> | undefined;
  const update = () => {
    clearTimeout(timer);
    if (isArmed && isWaiting) timer = setTimeout(onIdle, patienceMs);
  };
  const set = (waiting: boolean, armed = isArmed) => {
    [isWaiting, isArmed] = [waiting, armed];
    update();
  };
  return {
    watch: () => set(true),
    pause: () => set(false),
    arm: () => set(isWaiting, true),
    end: () => set(false, false),
  };
}
