/** `wasi:clocks` and `wasi:random`. */

import { randomBytes } from "node:crypto";
import { type Pollable, pollableAt } from "./poll.ts";

const nanoseconds = 1_000_000_000n;

export interface DateTime {
  readonly seconds: bigint;
  readonly nanoseconds: number;
}

/** Times before 1970 have no place in it: they become the first moment that has. */
export function dateTimeOf(ns: bigint): DateTime {
  if (ns < 0n) return { seconds: 0n, nanoseconds: 0 };
  return { seconds: ns / nanoseconds, nanoseconds: Number(ns % nanoseconds) };
}

export const monotonicClock = {
  now: (): bigint => process.hrtime.bigint(),
  resolution: (): bigint => 1n,
  subscribeInstant: (when: bigint): Pollable => pollableAt(when),
  subscribeDuration: (duration: bigint): Pollable => pollableAt(process.hrtime.bigint() + duration),
};

export const wallClock = {
  now: (): DateTime => dateTimeOf(BigInt(Math.round((performance.timeOrigin + performance.now()) * 1e3)) * 1000n),
  resolution: (): DateTime => ({ seconds: 0n, nanoseconds: 1000 }),
};

export const timezone = {
  display: () => ({ utcOffset: 0, name: "UTC", inDaylightSavingTime: false }),
  utcOffset: () => 0,
};

function number64(): bigint {
  return randomBytes(8).readBigUInt64LE();
}

/** More than this in one call is an attack on the host's memory; as a trap it ends the guest. */
const mostRandomBytes = 64n * 1024n * 1024n;

function bytes(length: bigint): Uint8Array {
  if (length > mostRandomBytes) throw new RangeError(`${length} random bytes were asked for at once`);
  return new Uint8Array(randomBytes(Number(length)));
}

const seed = [number64(), number64()];

export const random = { getRandomBytes: bytes, getRandomU64: number64 };
export const insecure = { getInsecureRandomBytes: bytes, getInsecureRandomU64: number64 };
export const insecureSeed = { insecureSeed: () => seed, getInsecureSeed: () => seed };
