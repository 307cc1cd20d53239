/** A byte stream that is kept for a while: its writer waits for the furthest reader, and a reader may begin at any kept offset. */

/** Where one side of a {@link ByteLog} is no longer there. */
export class BrokenPipe extends Error {
  override readonly name = "BrokenPipe";
}

export interface ByteLogOptions {
  /** How far the writer may be ahead of the furthest reader. */
  readonly windowBytes: number;
  /** How many bytes behind the furthest reader stay readable. */
  readonly retainBytes: number;
  /** Told when a reader cancels. */
  readonly readerGone?: () => void;
}

export interface ByteLog {
  /** Bytes accepted so far. */
  readonly total: number;
  /** The first offset that can still be read. */
  readonly first: number;
  /** Resolves when all of it is accepted: a slow reader slows the writer. Rejects once the log is broken or ended. */
  append(bytes: Uint8Array): Promise<void>;
  /** Resolves when all that was appended so far is accepted or refused. */
  flushed(): Promise<void>;
  /** No byte comes any more; readers read the rest and then see the end. What still waited to be accepted is refused. */
  end(): void;
  /** The reading side is gone: what is appended from now on rejects. */
  breakOff(reason: Error): void;
  /** Bytes from `offset` on, pulled. */
  read(offset: number): ReadableStream<Uint8Array>;
}

/** After so many bytes the writer lets timers run, or two programs that only await each other would starve them. */
const breatheBytes = 256 * 1024;
const largestChunkBytes = 64 * 1024;

interface Kept {
  readonly start: number;
  readonly bytes: Uint8Array;
}

export function createByteLog(options: ByteLogOptions): ByteLog {
  const kept: Kept[] = [];
  let total = 0;
  let first = 0;
  let furthest = 0;
  let sinceBreath = 0;
  let over: Error | null = null;
  let ended = false;
  let turn: Promise<void> = Promise.resolve();
  let wakers: (() => void)[] = [];

  const wake = (): void => {
    const woken = wakers;
    wakers = [];
    for (const waker of woken) waker();
  };
  const change = (): Promise<void> => new Promise((resolve) => wakers.push(resolve));

  function forget(): void {
    for (let oldest = kept[0]; oldest !== undefined; oldest = kept[0]) {
      const end = oldest.start + oldest.bytes.length;
      if (end > furthest - options.retainBytes) return;
      first = end;
      kept.shift();
    }
  }

  async function accept(bytes: Uint8Array): Promise<void> {
    for (let rest = bytes; rest.length > 0; ) {
      if (over !== null) throw over;
      const room = Math.min(options.windowBytes - (total - furthest), largestChunkBytes);
      if (room <= 0) {
        await change();
        continue;
      }
      // A copy: the writer may use its buffer again, and a later reader must see what was written.
      const piece = rest.slice(0, room);
      rest = rest.subarray(room);
      kept.push({ start: total, bytes: piece });
      total += piece.length;
      sinceBreath += piece.length;
      wake();
      if (sinceBreath < breatheBytes) continue;
      sinceBreath = 0;
      await new Promise((resolve) => setTimeout(resolve, 0));
    }
    if (over !== null) throw over;
  }

  function chunkAt(offset: number): Uint8Array | null {
    let low = 0;
    let high = kept.length - 1;
    while (low <= high) {
      const middle = (low + high) >> 1;
      const { start, bytes } = kept[middle] as Kept;
      if (offset < start) high = middle - 1;
      else if (offset >= start + bytes.length) low = middle + 1;
      else return bytes.slice(offset - start);
    }
    return null;
  }

  function read(offset: number): ReadableStream<Uint8Array> {
    let at = offset;
    let cancelled = false;
    return new ReadableStream<Uint8Array>(
      {
        async pull(controller) {
          while (at >= total && !ended && !cancelled) await change();
          if (cancelled) return;
          const chunk = chunkAt(at);
          if (chunk === null) {
            if (at < first) controller.error(new BrokenPipe(`Bytes before ${first} are no longer kept`));
            else controller.close();
            return;
          }
          at += chunk.length;
          furthest = Math.max(furthest, at);
          forget();
          wake();
          controller.enqueue(chunk);
        },
        cancel() {
          cancelled = true;
          wake();
          options.readerGone?.();
        },
      },
      { highWaterMark: 0 },
    );
  }

  function finish(reason: Error): void {
    over ??= reason;
    ended = true;
    wake();
  }

  return {
    get total() {
      return total;
    },
    get first() {
      return first;
    },
    append(bytes) {
      const mine = turn.then(() => accept(bytes));
      turn = mine.catch(() => {});
      return mine;
    },
    flushed: () => turn,
    end: () => finish(new BrokenPipe("The stream has ended")),
    breakOff: finish,
    read,
  };
}
