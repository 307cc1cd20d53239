/** The parts of a plan and of a runtime, each with a plain default, for tests of the core. */

import type { Backend, BackendEntry, BackendPolicy } from "../../src/backend.ts";
import { type Config, validateConfig } from "../../src/config.ts";
import type { Host, PathKind } from "../../src/host.ts";
import { buildPlan, type Planned } from "../../src/plan.ts";
import { checkRequest } from "../../src/request.ts";
import type { ExecuteOptions } from "../../src/runtime-types.ts";
import { findTool, type Tool } from "../../src/tools.ts";
import type { Availability, Capabilities, RuntimeAdapter } from "../../src/types.ts";
import { definition } from "./config-sample.ts";

/** A configuration of the given keys, all others by default. */
export function configOf(input: unknown = {}): Config {
  return validateConfig(definition, input);
}

/** Directories by path; a string is a link's target, `"file"` and `"other"` stand for themselves. */
export type FakePaths = Readonly<Record<string, PathKind | { readonly linkTo: string }>>;

/** A machine of the given parts. Its paths are links or what they are; one that is not given is missing. */
export function hostOf(given: Partial<Host> & { readonly paths?: FakePaths } = {}): Host {
  const { paths = { "/project": "directory" }, ...rest } = given;
  const inspect = async (path: string): ReturnType<Host["inspect"]> => {
    const found = Object.hasOwn(paths, path) ? paths[path] : undefined;
    if (typeof found === "object") return inspect(found.linkTo);
    return { kind: found ?? "missing", realPath: path };
  };
  return { owner: "owner-1", workingDir: "/project", env: {}, now: () => performance.now(), inspect, ...rest };
}

/** The policy of a backend that isolates nothing and limits nothing. */
export function policyOf(given: Partial<BackendPolicy> = {}): BackendPolicy {
  return {
    ...{ network: "all", filesystem: "host", privilege: "host", workspaceMode: "host", written: [], env: {} },
    limits: { memoryBytes: null, cpus: null, cpuTimeMs: null, pids: null, openFiles: null },
    ...{ foreignEnv: [], shell: ["/bin/bash", "-c"], image: () => null },
    ...given,
  };
}

const allCapabilities: Capabilities = {
  ...{ separateStderr: true, reportsSignal: true, stdin: true, files: true },
  ...{ runsPrograms: true, resumable: false, anyEnvName: true },
};

/** What a plan is asked for. */
export interface Asked {
  readonly command?: string;
  readonly args?: readonly string[];
  readonly options?: ExecuteOptions;
  readonly config?: unknown;
  readonly policy?: Partial<BackendPolicy>;
  readonly host?: Host;
  /** In place of the one that the configuration has. */
  readonly tool?: Partial<Tool>;
  /** @default everything */
  readonly capabilities?: Partial<Capabilities>;
}

/** The plan of a request, by the way that the runtime takes. */
export async function planOf(asked: Asked = {}): Promise<Planned> {
  const config = configOf(asked.config);
  const request = checkRequest(asked.command ?? "true", asked.args ?? [], asked.options ?? {});
  const tool = { ...findTool(config, request), ...asked.tool };
  const policy = policyOf(asked.policy);
  const capabilities = { ...allCapabilities, ...asked.capabilities };
  return buildPlan({ request, tool, policy, config, host: asked.host ?? hostOf(), backend: "native", capabilities });
}

/** The codes of warnings, in their order. */
export function codesOf(warnings: readonly { readonly code: string }[]): readonly string[] {
  return warnings.map(({ code }) => code);
}

/** A backend for the registry, of an adapter that cannot run anything unless it is given `start`. */
export function entryOf(
  name: string,
  given: Partial<RuntimeAdapter> & { readonly policy?: Partial<BackendPolicy>; readonly found?: Availability } = {},
): BackendEntry {
  const { policy, found = { available: true, details: "Scripted" }, ...rest } = given;
  const adapter: RuntimeAdapter = {
    name,
    capabilities: allCapabilities,
    isAvailable: async () => found,
    lower: (plan) => ({ artifact: plan, text: name, verdicts: allEnforced, addedEnv: [], warnings: [] }),
    start: () => Promise.reject(new Error("This adapter starts nothing")),
    ...rest,
  };
  const backend: Backend = { adapter, policy: policyOf(policy) };
  return { name, load: async () => () => backend };
}

const enforced = { grade: "enforced", because: "Scripted" } as const;

/** Every clause, kept. */
export const allEnforced = {
  ...{ network: enforced, filesystem: enforced, privilege: enforced, environment: enforced },
  ...{ cpu: enforced, cpu_time: enforced, memory: enforced, pids: enforced, files: enforced },
};
