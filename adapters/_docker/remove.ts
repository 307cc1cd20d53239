/** Removes a container and says so only when it is gone. */

import { pause } from "../../host/pause.ts";
import { messageOf } from "../../src/errors.ts";
import type { Leftover } from "../../src/types.ts";
import type { ContainerCalls } from "./containers.ts";
import { statusOf } from "./daemon.ts";

/** Between two tries. */
const pausesMs = [50, 200, 500, 1000, 2000, 4000];
/** A daemon that restarts is waited for. */
const absenceMs = 20_000;

/** `null` once it is gone, with its volumes; else what is left. Never throws. */
export async function removeContainer(calls: ContainerCalls, name: string): Promise<Leftover | null> {
  const until = performance.now() + absenceMs;
  let tries = 0;
  for (;;) {
    try {
      await calls.remove();
      return null;
    } catch (error) {
      const status = statusOf(error);
      if (status === 404) return null;
      // 409: somebody else is removing it, and it is gone when it is not found any more.
      const isAbsent = status === null && performance.now() < until;
      const wait = pausesMs[tries];
      if (wait === undefined && !isAbsent) return { kind: "container", name, reason: messageOf(error) };
      await pause(wait ?? 500);
      if (!isAbsent) tries += 1;
    }
  }
}
