/** One command in one container, from its creation to its confirmed removal. */

import type { Duplex } from "node:stream";
import { soonest } from "../../host/pause.ts";
import { usePlace } from "../../host/places-in-use.ts";
import { RuntimeError } from "../../src/errors.ts";
import { ProgressFeed } from "../../src/progress-feed.ts";
import type { CollectedFile, Execution, ExecutionPlan, Exit, Leftover, StartIo, Warning } from "../../src/types.ts";
import { type Beginning, type BegunContainer, beginContainer, type DockerParts } from "./begin.ts";
import type { ContainerCalls } from "./containers.ts";
import { endingOf, lost } from "./ending.ts";
import { heedCancel } from "./heed.ts";
import { feedInput, inputSink } from "./input.ts";
import { containerName } from "./labels.ts";
import { createOutput } from "./output.ts";
import { removeContainer } from "./remove.ts";
import { stopContainer } from "./stop.ts";
import { type Watched, watchContainer } from "./watch.ts";
import { takeBack } from "./workspace.ts";

export interface DockerStart extends DockerParts {
  readonly plan: ExecutionPlan;
  readonly io: StartIo;
  readonly signal: AbortSignal;
}

interface TakenBack {
  readonly files: readonly CollectedFile[];
  readonly warnings: readonly Warning[];
}

const nothing: TakenBack = { files: [], warnings: [] };

/** Answers at once: an image may have to be pulled first, and that is told on the way. */
export function startDocker(start: DockerStart): Execution {
  const { plan, io, signal, context } = start;
  const progress = new ProgressFeed();
  const output = createOutput();
  const connection = Promise.withResolvers<Duplex>();
  connection.promise.catch(() => {});
  const over = new AbortController();
  let container: ContainerCalls | null = null;
  const made = (calls: ContainerCalls) => {
    container = calls;
  };
  let mayRun = false;
  const starting = () => {
    mayRun = true;
  };

  let isMade = false;
  let leave = () => {};
  const entered: Beginning["entered"] = (place) => {
    leave();
    leave = usePlace({ ...place, backend: plan.backend, isMade: () => isMade });
  };

  const beginning = beginContainer({ ...start, progress, made, entered, starting, over: over.signal });
  const settled = () => {
    isMade = true;
  };
  beginning.then(settled, settled);
  const begun = heedCancel(beginning, signal, () => mayRun);
  begun
    .then(({ input }) => input !== null && connection.resolve(input))
    .catch((error: unknown) => connection.reject(error))
    .finally(() => progress.end());
  const ended = begun.then(
    (running) => {
      output.connect(running.output);
      if (io.stdin !== undefined && running.input !== null) void feedInput(running.input, io.stdin);
      return follow(start, running, output.commandOver, over.signal);
    },
    (error: unknown): Exit => {
      if (!signal.aborted || !(error instanceof RuntimeError && error.started === "maybe")) throw error;
      output.end();
      return { kind: "lost", cause: "unknown", durationMs: 0 };
    },
  );
  ended.catch(() => output.end());

  const back = Promise.all([begun, ended]).then(
    ([{ artifact, calls, placed }]) => takeBack({ plan, artifact, calls }, placed),
    () => nothing,
  );
  const release = async (): Promise<readonly Leftover[]> => {
    const hasBegun = await begun.then(
      () => true,
      () => false,
    );
    await ended.catch(() => {});
    await Promise.all([back, output.closed]);
    over.abort();
    await connection.promise.then(
      (input) => input.destroy(),
      () => {},
    );
    if (container === null || (hasBegun && !context.settings.auto_remove)) return [];
    const calls = container;
    const remove = () => removeContainer(calls, containerName(plan.id));
    // What the daemon is still at, it may yet make: it is removed after that, and nobody waits.
    if (await soonest(beginning, 0)) return [await remove()].filter((left) => left !== null);
    start.goesOn(beginning.then(remove, remove));
    return [
      { kind: "container", name: containerName(plan.id), reason: "the daemon is still at it; it goes afterwards" },
    ];
  };
  if (plan.stdin === "none") connection.reject(new Error("There is no stdin"));
  return {
    ref: { backend: plan.backend, id: plan.id, owner: plan.owner, handle: containerName(plan.id) },
    stdout: output.stdout,
    stderr: output.stderr,
    ...(plan.stdin === "stream" ? { stdin: inputSink(connection.promise) } : {}),
    progress,
    ended,
    outputs: back.then(({ files }) => files),
    findings: back.then(({ warnings }) => warnings),
    released: release().finally(() => leave()),
  };
}

/** From the first instruction to the end, however it comes. */
async function follow(
  { plan, signal, context }: DockerStart,
  { calls, created, waiting, warnings: unforeseen }: BegunContainer,
  commandOver: () => void,
  over: AbortSignal,
): Promise<Exit> {
  const startedAt = performance.now();
  let durationMs = 0;
  let wasKilled = false;
  const watched = watchContainer({
    ...{ calls, waiting, over },
    ended: () => {
      durationMs = performance.now() - startedAt;
      commandOver();
    },
  });
  const forced = () => {
    wasKilled = true;
  };
  const given = Promise.withResolvers<Watched>();
  const gaveUp = () => {
    durationMs = performance.now() - startedAt;
    commandOver();
    given.resolve({ lost: "unknown" });
  };
  const stop = () => void stopContainer(calls, { graceMs: plan.limits.killGraceMs, over: watched, forced, gaveUp });
  if (signal.aborted) stop();
  signal.addEventListener("abort", stop, { once: true });
  const end = await Promise.race([watched, given.promise]).finally(() => signal.removeEventListener("abort", stop));
  const { kind, warnings } =
    "lost" in end ? lost(end.lost) : endingOf({ waited: end.code, state: end.state, wasKilled });
  const kept = context.settings.auto_remove ? [] : [keptWarning(plan)];
  const said = created.warnings.map((message): Warning => ({ code: "daemon_warning", message }));
  return { ...kind, durationMs, warnings: [...said, ...unforeseen, ...warnings, ...kept] };
}

function keptWarning({ id }: ExecutionPlan): Warning {
  const name = containerName(id);
  return { code: "container_kept", message: `Container ${name} is kept: docker rm --volumes ${name} removes it` };
}
