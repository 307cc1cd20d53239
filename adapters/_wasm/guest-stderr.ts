/** A guest's stderr, without the note on how it exited that may stand at its end. */

import { tailOf } from "./exit-note.ts";

export interface GuestStderr {
  readonly stream: ReadableStream<Uint8Array>;
  /** Reads on to the end, even if nobody else does: to be called when the guest is over, and little is left. */
  settle(): Promise<LastWords>;
}

export interface LastWords {
  /** The exit code that stood at the end. */
  readonly note: number | null;
  /** The last of what was written. */
  readonly lastWords: string;
}

const mostLastWords = 8192;

/** Pulls no faster than the stream is read. */
export function watchStderr(source: ReadableStream<Uint8Array>): GuestStderr {
  const reader = source.getReader();
  let held = new Uint8Array(0);
  let last = new Uint8Array(0);
  let note: number | null = null;
  let isOver = false;

  /** What is sure to be the guest's own, in its order. */
  const ready: Uint8Array[] = [];
  const hand = (bytes: Uint8Array) => {
    if (bytes.length === 0) return;
    last = join(last, bytes.subarray(-mostLastWords)).slice(-mostLastWords);
    ready.push(bytes);
  };
  const readOnce = async (): Promise<void> => {
    if (isOver) return;
    const { done, value } = await reader.read();
    if (done) {
      isOver = true;
      note = tailOf(held).code;
      if (note === null) hand(held);
      return;
    }
    const all = join(held, value);
    const own = all.length - tailOf(all).held;
    held = all.slice(own);
    hand(all.subarray(0, own));
  };
  /** One after the other, whoever asks. */
  let turn: Promise<void> = Promise.resolve();
  const readOn = () => {
    turn = turn.then(readOnce, readOnce);
    return turn;
  };

  const stream = new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        while (ready.length === 0 && !isOver) await readOn();
        const chunk = ready.shift();
        if (chunk === undefined) controller.close();
        else controller.enqueue(chunk);
      },
      cancel(reason) {
        isOver = true;
        return reader.cancel(reason);
      },
    },
    { highWaterMark: 0 },
  );
  return {
    stream,
    async settle() {
      while (!isOver) await readOn();
      return { note, lastWords: new TextDecoder().decode(last) };
    },
  };
}

function join(a: Uint8Array, b: Uint8Array): Uint8Array<ArrayBuffer> {
  const joined = new Uint8Array(a.length + b.length);
  joined.set(a);
  joined.set(b, a.length);
  return joined;
}
