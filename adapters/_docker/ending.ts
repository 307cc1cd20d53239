/** How a command ended, from what the daemon says of its container. Pure. */

import type { ExitKind, LostCause, Warning } from "../../src/types.ts";
import type { InspectedContainer } from "./containers.ts";

/** 128 + SIGKILL: all that an init tells of a command that the kernel killed. */
const killed = 137;

export interface EndingFacts {
  /** What the daemon answered to whoever waited; `null`: nobody got an answer. */
  readonly waited: number | null;
  /** What it said afterwards; `null`: the container was not there any more. */
  readonly state: InspectedContainer["State"] | null;
  /** Whether we ended it by force. */
  readonly wasKilled: boolean;
}

/** The exit, and what is to be said beside it. A number is a fact or is not told. */
export function endingOf({ waited, state, wasKilled }: EndingFacts): {
  readonly kind: ExitKind;
  readonly warnings: readonly Warning[];
} {
  // Who removes a container ends its command, and whoever waits is told a number like any other.
  if (waited === killed && state === null && !wasKilled) return lost("deleted");
  const code = waited ?? (state?.Running === false ? state.ExitCode : undefined);
  if (code === undefined) return lost(state === null ? "deleted" : "unknown");
  if (state?.OOMKilled !== true) return { kind: { kind: "exited", code }, warnings: [] };
  if (code === killed && !wasKilled) return { kind: { kind: "out_of_memory", number: 9 }, warnings: [] };
  return { kind: { kind: "exited", code }, warnings: [childOutOfMemory] };
}

export function lost(cause: LostCause): { readonly kind: ExitKind; readonly warnings: readonly Warning[] } {
  return { kind: { kind: "lost", cause }, warnings: [] };
}

const childOutOfMemory: Warning = {
  code: "child_out_of_memory",
  message: "The kernel ended a process that the command had begun for want of memory",
};
