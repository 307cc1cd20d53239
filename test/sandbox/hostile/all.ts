/** The whole hostile set, in one order. */

import type { Attack } from "./attack.ts";
import { kernelAttacks } from "./kernel.ts";
import { reachingAttacks } from "./reaching.ts";
import { readingAttacks } from "./reading.ts";
import { signallingAttacks } from "./signalling.ts";
import { startingAttacks } from "./starting.ts";
import { survivingAttacks } from "./surviving.ts";
import { writingAttacks } from "./writing.ts";

/** Every attack, by what it is after. */
export const hostile: Readonly<Record<string, readonly Attack[]>> = {
  reading: readingAttacks,
  writing: writingAttacks,
  signalling: signallingAttacks,
  reaching: reachingAttacks,
  kernel: kernelAttacks,
  surviving: survivingAttacks,
  starting: startingAttacks,
};
