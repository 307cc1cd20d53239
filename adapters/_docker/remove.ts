/** Removes a container and says so only when it is gone. */

import { pause } from "../../host/pause.ts";
import { messageOf } from "../../src/errors.ts";
import type { Leftover } from "../../src/types.ts";
import type { ContainerCalls } from "./containers.ts";
import { statusOf } from "./daemon.ts";

/** Between two tries; a daemon that restarts needs some seconds. */
const pausesMs = [50, 200, 500, 1000, 2000, 4000];

/** `null` once it is gone, with its volumes; else what is left. Never throws. */
export async function removeContainer(calls: ContainerCalls, name: string): Promise<Leftover | null> {
  let reason = "";
  for (const pauseMs of [0, ...pausesMs]) {
    await pause(pauseMs);
    try {
      await calls.remove();
      return null;
    } catch (error) {
      const status = statusOf(error);
      if (status === 404) return null;
      // Somebody else is removing it: it is gone when it is not found any more.
      reason = messageOf(error);
    }
  }
  return { kind: "container", name, reason };
}
