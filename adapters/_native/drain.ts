/** Lets a stream end after its command has, even when something that got away still holds the other end. */

/** A pipe holds 64 KiB unless somebody enlarged it, up to 1 MiB (pipe(7)); a socket a little over 200 KiB. */
const mostInPipe = 2 * 1024 * 1024;
/**
 * What is in the pipe when the last writer ends can be read at once; nothing comes for this long only if somebody holds it
 * open. In steps: an event loop that was held up by something else looks at its timers before its files, and each step lets
 * a read that is ready come first.
 */
const patienceSteps = 10;
const stepMs = 25;
/** Whoever got away can write a little now and then, for ever. */
const mostWaitMs = 2000;

/** A stream with an end of its own. */
export interface Drained {
  readonly stream: ReadableStream<Uint8Array>;
  /** Everything known of the command is over: hand on what is there, then end. */
  finish(): void;
  /** Settles when our end is closed, whether the command's was, the reader left, or it had to be cut. */
  readonly closed: Promise<void>;
}

/** Bytes as a runtime gives them. */
export interface ByteSource {
  /** The next chunk; `null` at the end. */
  read(): Promise<Uint8Array | null>;
  /** Closes our end. */
  cancel(): void;
}

/** A `ByteSource` of a stream that a runtime made. */
export function sourceOf(stream: ReadableStream<Uint8Array>): ByteSource {
  const reader = stream.getReader();
  return {
    read: async () => {
      const next = await reader.read();
      return next.done ? null : next.value;
    },
    cancel: () => void reader.cancel().catch(() => {}),
  };
}

/** Passes `source` on. The reader's slowness is no reason to cut: only a read that stays unanswered is, or an endless rest. */
export function drainable(source: ByteSource): Drained {
  let finishingSince: number | null = null;
  let waitedMs = 0;
  let cut = false;
  let rest = 0;
  let timer: ReturnType<typeof setTimeout> | undefined;
  let giveUp: (() => void) | null = null;
  const closed = Promise.withResolvers<void>();

  const watch = (steps = patienceSteps) => {
    if (finishingSince === null || giveUp === null) return;
    timer = setTimeout(() => (steps > 1 ? watch(steps - 1) : giveUp?.()), stepMs);
  };
  /** The next chunk, or `null` at the end, whichever way it came. */
  const read = () =>
    new Promise<Uint8Array | null>((resolve, reject) => {
      giveUp = () => {
        cut = true;
        resolve(null);
      };
      watch();
      source.read().then(resolve, reject);
    }).finally(() => {
      giveUp = null;
      clearTimeout(timer);
    });
  const stream = new ReadableStream<Uint8Array>(
    {
      pull: async (controller) => {
        try {
          const began = performance.now();
          const chunk = await read();
          if (finishingSince !== null) {
            rest += chunk?.byteLength ?? 0;
            waitedMs += performance.now() - Math.max(began, finishingSince);
          }
          if (chunk !== null && (rest > mostInPipe || waitedMs > mostWaitMs)) cut = true;
          if (chunk !== null) controller.enqueue(chunk);
          if (chunk !== null && !cut) return;
          // What may still come is not seen any more: the end of it is not to pass for the command's.
          if (cut) controller.error(new Error("Something that got away still holds the other end open"));
          else controller.close();
        } catch (error) {
          controller.error(error);
        }
        source.cancel();
        closed.resolve();
      },
      cancel: () => {
        source.cancel();
        closed.resolve();
      },
    },
    { highWaterMark: 0 },
  );
  return {
    stream,
    finish: () => {
      finishingSince ??= performance.now();
      watch();
    },
    closed: closed.promise,
  };
}
