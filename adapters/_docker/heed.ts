/** A cancel that comes while the daemon is asked to make or start a container, which can take it minutes. */

import { soonest } from "../../host/pause.ts";
import { RuntimeError } from "../../src/errors.ts";
import { cancelledBeforeStart } from "./failures.ts";

/** Most daemons answer within that, and then it is known what has become of the container. */
const patienceMs = 2000;

/**
 * The work's own end, unless it is cancelled and goes on for too long: then it is left to itself.
 *
 * @param mayRun asked then: whether the command may have begun
 * @throws RuntimeError with `started` accordingly
 */
export async function heedCancel<Result>(
  work: Promise<Result>,
  signal: AbortSignal,
  mayRun: () => boolean,
): Promise<Result> {
  const isOver = work.then(
    () => {},
    () => {},
  );
  const cancelled = Promise.withResolvers<void>();
  const cancel = () => cancelled.resolve();
  if (signal.aborted) cancel();
  signal.addEventListener("abort", cancel, { once: true });
  await Promise.race([isOver, cancelled.promise]);
  signal.removeEventListener("abort", cancel);
  if (await soonest(isOver, patienceMs)) return work;
  throw mayRun() ? startUnknown() : cancelledBeforeStart();
}

function startUnknown(): RuntimeError {
  const message = "The daemon has not said whether the command was started before it was cancelled";
  return new RuntimeError("start_failed", message, { backend: "docker", started: "maybe" });
}
