/** From a plan to a container whose command runs: made, filled, attached, waited for, begun; or nothing left of it. */

import type { Duplex, Readable } from "node:stream";
import { RuntimeError } from "../../src/errors.ts";
import type { ProgressFeed } from "../../src/progress-feed.ts";
import type { ExecutionPlan, Leftover, StartIo, Warning } from "../../src/types.ts";
import { parseMount } from "../docker.fragment.ts";
import type { DockerArtifact, LowerContext } from "./artifact.ts";
import type { ContainerCalls } from "./containers.ts";
import type { DaemonClient, OpenAnswer } from "./daemon.ts";
import { namesOf } from "./facts.ts";
import { cancelledBeforeStart, daemonFailure, startFailure } from "./failures.ts";
import { imageWarnings } from "./lower.ts";
import { type Made, type Making, makeContainer } from "./make.ts";
import type { FindCached } from "./program-cache.ts";
import type { createPuller } from "./pull.ts";
import type { KnownMounts } from "./same-directory.ts";
import { type PlacedWorkspace, placeWorkspace } from "./workspace.ts";

/** What all executions of one adapter share. */
export interface DockerParts {
  /** Told which variables an image was seen to bring. */
  readonly learnEnv: (image: string, names: readonly string[]) => void;
  /** Keeps an eye on what goes on after an execution has been answered. */
  readonly goesOn: (removal: Promise<Leftover | null>) => void;
  readonly client: DaemonClient;
  readonly context: LowerContext;
  readonly pull: ReturnType<typeof createPuller>;
  readonly findProgram: FindCached;
  readonly knownMounts: KnownMounts;
}

export interface Beginning extends DockerParts {
  readonly plan: ExecutionPlan;
  readonly io: StartIo;
  readonly signal: AbortSignal;
  readonly progress: ProgressFeed;
  /** Told as soon as there may be a container, which is then somebody's to remove. */
  readonly made: (calls: ContainerCalls) => void;
  readonly entered: Making["entered"];
  /** Told before the daemon is asked to start it: from then on the command may run. */
  readonly starting: () => void;
  /** Ends the connections below. */
  readonly over: AbortSignal;
}

/** A container with its streams, and its command running. */
export interface BegunContainer extends Made {
  readonly placed: PlacedWorkspace;
  readonly output: Readable;
  readonly input: Duplex | null;
  /** The daemon's answer to whoever waits for the end. */
  readonly waiting: Promise<OpenAnswer>;
}

/** A wait that a proxy holds back opens with the command's end: it is not to hold the start up. */
const waitPatienceMs = 3000;

/** @throws RuntimeError with `started` "no" unless the daemon was lost at the very start. */
export async function beginContainer(beginning: Beginning): Promise<BegunContainer> {
  const { plan, io, signal, progress, over } = beginning;
  const check = () => {
    if (signal.aborted) throw cancelledBeforeStart();
  };
  check();
  const made = await makeContainer(beginning);
  const { artifact, calls } = made;
  check();
  const placed = await placeWorkspace({ plan, io, signal, artifact, calls });
  check();
  const waiting = calls.wait("next-exit", over);
  waiting.catch(() => {});
  const [output, input, brought] = await connect(beginning, { calls, artifact, waiting });
  check();
  progress.tell({ phase: "start", message: "Starting the container" });
  beginning.starting();
  try {
    await calls.start();
  } catch (error) {
    throw startFailure(error, plan.argv[0]);
  }
  return { ...made, warnings: [...made.warnings, ...brought], placed, output, input, waiting };
}

interface Connecting {
  readonly calls: ContainerCalls;
  readonly artifact: DockerArtifact;
  readonly waiting: Promise<OpenAnswer>;
}

/** All at once: each of them only has to be there before the start. */
async function connect(
  { plan, context, findProgram, learnEnv, over }: Beginning,
  { calls, artifact, waiting }: Connecting,
): Promise<readonly [Readable, Duplex | null, readonly Warning[]]> {
  const { workspace_mount_path, readonly_mounts } = context.settings;
  const lookup = {
    command: plan.argv[0],
    workingDir: artifact.body.WorkingDir,
    user: artifact.user,
    mounted: [
      workspace_mount_path,
      ...readonly_mounts.map((mount) => parseMount(mount).to),
      ...Object.keys(artifact.body.HostConfig.Tmpfs),
    ],
  };
  const look = async () => {
    const inspected = await calls.inspect();
    const given = new Set(namesOf(artifact.body.Env));
    const found = namesOf(inspected.Config?.Env).filter((name) => !given.has(name));
    const known = context.facts.imageEnv.get(artifact.body.Image) ?? [];
    learnEnv(artifact.body.Image, found);
    await findProgram(calls, inspected, lookup);
    return imageWarnings(plan, artifact, { known, found });
  };
  let patience: ReturnType<typeof setTimeout> | undefined;
  const opened = Promise.race([
    waiting,
    new Promise<void>((resolve) => {
      patience = setTimeout(resolve, waitPatienceMs);
    }),
  ]).finally(() => clearTimeout(patience));
  try {
    const [output, input, , brought] = await Promise.all([
      calls.attachOutput(over),
      plan.stdin === "none" ? null : calls.attachInput(over).then(asDuplex),
      opened,
      look(),
    ]);
    return [output, input, brought];
  } catch (error) {
    throw daemonFailure(error, "The container could not be attached to");
  }
}

/** Without an upgrade there is an answer to read, and no way to write. */
function asDuplex(connection: Duplex | Readable): Duplex {
  if ("write" in connection && typeof connection.write === "function") return connection as Duplex;
  connection.destroy();
  const message =
    "What stands between here and the daemon does not upgrade connections, so a command can have no stdin: reach the daemon directly";
  throw new RuntimeError("start_failed", message, { backend: "docker" });
}
