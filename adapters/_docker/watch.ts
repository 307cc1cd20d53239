/** Waits for a container's command to end, also over a lost connection, and never takes a guess for the truth. */

import { pause } from "../../host/pause.ts";
import type { LostCause } from "../../src/types.ts";
import type { ContainerCalls, InspectedContainer } from "./containers.ts";
import { type OpenAnswer, statusOf } from "./daemon.ts";

/** The end as it was told, or why it was not. */
export type Watched =
  | { readonly code: number; readonly state: InspectedContainer["State"] | null }
  | { readonly lost: LostCause };

/** How long a daemon may be gone before its containers are given up. */
const patienceMs = 30_000;
const againMs = 250;

export interface WatchOptions {
  readonly calls: ContainerCalls;
  readonly waiting: Promise<OpenAnswer>;
  /** Ends the connections. */
  readonly over: AbortSignal;
  /** Told at the moment of the end. */
  readonly ended: () => void;
}

export async function watchContainer({ calls, waiting, over, ended }: WatchOptions): Promise<Watched> {
  let answer = waiting;
  for (;;) {
    const code = await readCode(answer);
    if (code !== null) {
      ended();
      return confirm(calls, code);
    }
    const found = await findAgain(calls);
    if ("lost" in found) {
      ended();
      return found;
    }
    answer = calls.wait("not-running", over);
    answer.catch(() => {});
  }
}

/** `null`: the connection broke off before an answer came. */
async function readCode(waiting: Promise<OpenAnswer>): Promise<number | null> {
  try {
    const { body } = await waiting;
    let text = "";
    for await (const chunk of body) text += Buffer.from(chunk).toString("utf8");
    const { StatusCode } = JSON.parse(text) as { StatusCode?: number };
    return typeof StatusCode === "number" ? StatusCode : null;
  } catch {
    return null;
  }
}

/** A daemon that ends its containers because it is ending itself tells of them like of any other, and is gone a moment later. */
async function confirm(calls: ContainerCalls, code: number): Promise<Watched> {
  try {
    return { code, state: (await calls.inspect()).State };
  } catch (error) {
    return statusOf(error) === null ? { lost: "daemon_restarted" } : { code, state: null };
  }
}

/** After a lost connection: the command still runs, or what happened to it meanwhile was told to nobody. */
async function findAgain(calls: ContainerCalls): Promise<{ readonly runs: true } | { readonly lost: LostCause }> {
  const until = performance.now() + patienceMs;
  let wasGone = false;
  while (performance.now() < until) {
    try {
      const { State } = await calls.inspect();
      if (State.Running === true) return { runs: true };
      return { lost: wasGone ? "daemon_restarted" : "connection_lost" };
    } catch (error) {
      if (statusOf(error) === 404) return { lost: "deleted" };
      wasGone ||= statusOf(error) === null;
    }
    await pause(againMs);
  }
  return { lost: "connection_lost" };
}
