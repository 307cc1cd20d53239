/** Containers, one for each command, on a Docker daemon. */

import { readFileSync } from "node:fs";
import { homedir } from "node:os";
import { dirname, join } from "node:path";
import process from "node:process";
import { soonest } from "../host/pause.ts";
import type { BackendFactory } from "../src/backend.ts";
import { sectionOf, writtenKeys } from "../src/config.ts";
import { messageOf, RuntimeError } from "../src/errors.ts";
import type { Capabilities, Leftover, RuntimeAdapter } from "../src/types.ts";
import { secondsToMs } from "../src/units.ts";
import type { DockerParts } from "./_docker/begin.ts";
import type { DaemonClient } from "./_docker/daemon.ts";
import { dockerConfigDirectory, type Endpoint, findEndpoint } from "./_docker/endpoint.ts";
import { startDocker } from "./_docker/execution.ts";
import type { DaemonFacts } from "./_docker/facts.ts";
import { containerName, type HostMark, markOfThisHost } from "./_docker/labels.ts";
import { lowerDocker } from "./_docker/lower.ts";
import { dockerPolicy } from "./_docker/policy.ts";
import { probeDaemon } from "./_docker/probe.ts";
import { createProgramCache } from "./_docker/program-cache.ts";
import { createPuller } from "./_docker/pull.ts";
import { findSources, type MountSources } from "./_docker/readonly-mounts.ts";
import { registryAuth } from "./_docker/registry-auth.ts";
import { listMarked, sweepContainers } from "./_docker/sweep.ts";
import { type DockerSettings, dockerFragment } from "./docker.fragment.ts";

const capabilities: Capabilities = {
  separateStderr: true,
  // An init tells of a signal only by the number that a shell would give.
  reportsSignal: false,
  stdin: true,
  files: true,
  runsPrograms: true,
  resumable: false,
  anyEnvName: true,
};

const sweepEveryMs = 60_000;
/** How long the next of what is still to be removed is waited for; what a daemon that hangs leaves, the next start of any host removes. */
const closingMs = 20_000;

/**
 * The docker backend: a new, hardened container for each command, removed when it is over.
 *
 * @example
 * ```ts ignore: it takes a Docker daemon
 * import { createRuntime } from "prx-runtime";
 *
 * await using runtime = await createRuntime({ runtime: { backend: "docker" } });
 * console.log((await runtime.execute("echo", ["hello"])).stdout);
 * ```
 */
export const docker: BackendFactory = async ({ config, host, log }) => {
  const settings = sectionOf(config, dockerFragment);
  const dockerConfig = dockerConfigDirectory(host.env, homedir());
  const endpoint = findEndpoint({
    socket: writtenKeys(config).has("runtime.docker.socket") ? settings.socket : null,
    ...{ env: host.env, dockerConfig, readText, isWindows: process.platform === "win32" },
  });
  const keptOut = [
    "/",
    ...("kind" in endpoint && endpoint.kind === "socket" ? [endpoint.path, dirname(endpoint.path)] : []),
  ];
  const findMounts = async (code: "config_invalid" | "policy_unenforceable"): Promise<MountSources> => {
    // Elsewhere the paths are another machine's.
    if (!("kind" in endpoint) || endpoint.kind !== "socket") return new Map();
    return findSources({ written: settings.readonly_mounts, socket: endpoint.path, host }, code);
  };
  await findMounts("config_invalid");
  const daemon = createDaemon({
    ...{ settings, owner: host.owner, log },
    authFor: (registry) => registryAuth(registry, readText(join(dockerConfig, "config.json"))),
  });

  const adapter: RuntimeAdapter = {
    name: "docker",
    capabilities,
    async isAvailable(signal) {
      if (settings.target === "kubernetes") return targetsKubernetes;
      const images = [settings.image, ...Object.values(settings.tool_images)];
      const { availability, facts } = await probeDaemon({ endpoint, connect, images, signal });
      if (facts === null || !("kind" in endpoint)) return availability;
      const missing = settings.runtime !== undefined && !facts.runtimes.includes(settings.runtime);
      if (missing) return lacksRuntime(settings.runtime, facts);
      await daemon.use(endpoint, facts);
      return availability;
    },
    lower: (plan) => lowerDocker(plan, daemon.parts().context),
    async start(plan, io, signal) {
      if (signal.aborted)
        throw new RuntimeError("cancelled_before_start", "The command was cancelled before it began", {
          backend: "docker",
        });
      const sources = await findMounts("policy_unenforceable");
      const { context, ...parts } = daemon.parts();
      return daemon.start(() => startDocker({ ...parts, context: { ...context, sources }, plan, io, signal }), plan.id);
    },
    async *list(owner) {
      for (const { execution: id, owner: whose } of await listMarked(daemon.parts().client, owner))
        yield { backend: "docker", id, owner: whose, handle: containerName(id) };
    },
    sweep: (isAlive) => daemon.sweep(isAlive),
    close: daemon.close,
  };
  return { adapter, policy: dockerPolicy(config, settings, keptOut) };
};

interface DaemonOptions {
  readonly settings: DockerSettings;
  readonly owner: string;
  readonly log: Parameters<BackendFactory>[0]["log"];
  readonly authFor: (registry: string) => Promise<string | null>;
}

/** The daemon once it has answered, and what of ours runs on it. */
function createDaemon({ settings, owner, log, authFor }: DaemonOptions) {
  const mark: HostMark = markOfThisHost();
  const active = new Set<string>();
  const findProgram = createProgramCache();
  const knownMounts = new Set<string>();
  const going = new Set<Promise<unknown>>();
  let parts: DockerParts | null = null;
  let sweeper: ReturnType<typeof setInterval> | undefined;
  let sweeping: Promise<unknown> = Promise.resolve();

  const reached = (): DockerParts => {
    if (parts !== null) return parts;
    throw new RuntimeError("internal", "The daemon has not been asked yet: isAvailable comes first", {
      backend: "docker",
    });
  };
  const learnEnv = (image: string, names: readonly string[]) => {
    const { context, ...rest } = reached();
    const known = context.facts.imageEnv.get(image);
    if (known !== undefined && names.every((name) => known.includes(name))) return;
    const imageEnv = new Map(context.facts.imageEnv).set(image, [...new Set([...(known ?? []), ...names])]);
    parts = { ...rest, context: { ...context, facts: { ...context.facts, imageEnv } } };
  };
  const goesOn = (removal: Promise<Leftover | null>) => {
    going.add(removal);
    void removal.then((left) => {
      going.delete(removal);
      if (left !== null) log({ code: "left_behind", message: `Left behind: container ${left.name}: ${left.reason}` });
    });
  };
  const sweep = async (isAlive?: (owner: string) => Promise<boolean>) => {
    const isActive = (execution: string) => active.has(execution);
    return sweepContainers(reached().client, { mark, owner, isActive, isAlive, now: Date.now() });
  };
  const sweepAndTell = async (): Promise<void> => {
    try {
      const { found, removed } = await sweep();
      if (found > 0)
        log({ code: "leftovers_ended", message: `Removed ${removed} of ${found} containers of dead hosts` });
    } catch (error) {
      log({
        code: "sweep_failed",
        message: `The daemon's containers could not be looked through: ${messageOf(error)}`,
      });
    }
  };

  return {
    parts: reached,
    sweep,
    /** Facts are taken anew; everything else stays as it is from the first time on. */
    async use(endpoint: Endpoint, facts: DaemonFacts): Promise<void> {
      const context = { settings, facts, mark };
      if (parts !== null) {
        parts = { ...parts, context };
        return;
      }
      const client = await connect(endpoint, facts.apiVersion);
      const pull = createPuller({ client, limitMs: secondsToMs(settings.pull_timeout_secs), authFor });
      parts = { client, context, pull, findProgram, knownMounts, learnEnv, goesOn };
      sweeping = sweepAndTell();
      sweeper = setInterval(() => {
        sweeping = sweepAndTell();
      }, sweepEveryMs);
      // A script that has nothing else to do may end.
      sweeper.unref?.();
    },
    start(begin: () => ReturnType<typeof startDocker>, id: string) {
      active.add(id);
      const execution = begin();
      void execution.released.then(() => active.delete(id));
      return execution;
    },
    async close(): Promise<void> {
      clearInterval(sweeper);
      await sweeping;
      // As long as one after another goes, however slow a daemon under load is.
      while (going.size > 0 && (await soonest(Promise.race(going), closingMs)));
      parts?.client.close();
    },
  };
}

/** The client library is loaded by those who have a daemon to talk to. */
async function connect(endpoint: Endpoint, version: string | null): Promise<DaemonClient> {
  const { createClient } = await import("./_docker/client.ts");
  return createClient(endpoint, version);
}

const targetsKubernetes = {
  available: false,
  reason: 'runtime.docker.target is "kubernetes": its commands run on the Kubernetes backend',
  remedy: 'Choose runtime.backend = "kubernetes", or leave the target out',
} as const;

function lacksRuntime(runtime: string | undefined, { runtimes }: DaemonFacts) {
  return {
    available: false,
    reason: `The daemon has no runtime ${runtime}: it has ${runtimes.join(", ")}`,
    remedy: "Add it to the daemon's settings (daemon.json, runtimes), or choose another in runtime.docker.runtime",
  } as const;
}

function readText(path: string): string | null {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return null;
  }
}
