/** What the pure parts of the docker backend rest on, each with a plain default. */

import type { LowerContext } from "../../adapters/_docker/artifact.ts";
import type { DaemonFacts } from "../../adapters/_docker/facts.ts";
import type { HostMark } from "../../adapters/_docker/labels.ts";
import { type DockerSettings, dockerFragment } from "../../adapters/docker.fragment.ts";
import { sectionOf } from "../../src/config.ts";
import type { ExecutionPlan } from "../../src/types.ts";
import { configOf } from "./core-parts.ts";
import { planFor } from "./memory-plan.ts";

export const mark: HostMark = {
  ...{ host: "name", machine: "machine", boot: "boot-1" },
  ...{ namespace: "pid:[1]", pid: "42", started: "1000" },
};

export function settingsOf(docker: Readonly<Record<string, unknown>> = {}): DockerSettings {
  return sectionOf(configOf({ runtime: { docker } }), dockerFragment);
}

export function factsWith(given: Partial<DaemonFacts> = {}): DaemonFacts {
  return {
    ...{
      version: "20.10.24",
      apiVersion: "1.41",
      isLocal: true,
      sameUsers: true,
      filtersCalls: true,
      isRootless: false,
      isPodman: false,
    },
    ...{ can: { memory: true, swap: true, cpus: true, pids: true }, runtimes: ["runc"], imageEnv: new Map() },
    ...given,
  };
}

export function contextWith({
  docker = {},
  facts = {},
}: {
  docker?: object;
  facts?: Partial<DaemonFacts>;
} = {}): LowerContext {
  return { settings: settingsOf({ ...docker }), facts: factsWith(facts), mark };
}

/** A plan as the planner would make it for this backend. */
export function dockerPlan(rest: Partial<ExecutionPlan> = {}): ExecutionPlan {
  const limits = { memoryBytes: 2 ** 28, cpus: 1, pids: 100, openFiles: 4096, ...rest.limits };
  return planFor(rest.argv ?? ["echo", "hi"], {
    backend: "docker",
    image: "busybox",
    ...rest,
    limits: limits as ExecutionPlan["limits"],
  });
}

export const ownedBy = (uid: number, gid = uid) => ({
  workingDir: "/w",
  workspace: { root: "/w", mode: "mount", owner: { uid, gid } },
});
