/** Holds up the whole program: a guest runs without an event loop, and while it waits nothing else is to happen. */

const never = new Int32Array(new SharedArrayBuffer(4));

export function sleep(milliseconds: number): void {
  if (milliseconds > 0) Atomics.wait(never, 0, 0, milliseconds);
}
