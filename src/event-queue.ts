/** Pushed events in, pulled events out: a producer waits until its event has been taken. */

/** A queue between one producer and one consumer. */
export interface EventQueue<Event> {
  /** Settles when the event has been taken, or when nobody will. */
  push(event: Event): Promise<void>;
  /** The next event; `undefined` after the end. Rejects with what the queue failed with. */
  take(): Promise<Event | undefined>;
  /** No more events, after those that are there. */
  end(failure?: unknown): void;
  /** Nobody waits for a consumer any more. What is there, and what still comes, can be taken. */
  release(): void;
  /** The consumer left: what is there and what comes is dropped. */
  abandon(): void;
}

export function createEventQueue<Event>(): EventQueue<Event> {
  const waiting: { readonly event: Event; readonly taken: () => void }[] = [];
  const takers: { readonly give: (event: Event | undefined) => void; readonly fail: (error: unknown) => void }[] = [];
  let state: "open" | "ended" | "failed" | "abandoned" = "open";
  let failure: unknown;
  let released = false;

  const flush = () => {
    for (let taker = takers.shift(); taker !== undefined; taker = takers.shift()) {
      if (state === "failed") {
        state = "ended";
        taker.fail(failure);
      } else taker.give(undefined);
    }
  };
  return {
    push: (event) => {
      if (state !== "open") return Promise.resolve();
      const taker = takers.shift();
      if (taker !== undefined) {
        taker.give(event);
        return Promise.resolve();
      }
      return new Promise((taken) => {
        waiting.push({ event, taken });
        if (released) taken();
      });
    },
    take: () =>
      new Promise((give, fail) => {
        const next = waiting.shift();
        if (next !== undefined) {
          give(next.event);
          next.taken();
          return;
        }
        takers.push({ give, fail });
        if (state !== "open") flush();
      }),
    end: (error) => {
      if (state !== "open") return;
      state = error === undefined ? "ended" : "failed";
      failure = error;
      if (waiting.length === 0) flush();
    },
    release: () => {
      released = true;
      for (const { taken } of waiting) taken();
    },
    abandon: () => {
      state = "abandoned";
      for (const { taken } of waiting.splice(0)) taken();
      flush();
    },
  };
}
