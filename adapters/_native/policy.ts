/** What the operator's configuration means for local processes. */

import type { BackendPolicy } from "../../src/backend.ts";
import { type Config, sectionOf } from "../../src/config.ts";
import type { ResourceClause } from "../../src/types.ts";
import { nativeFragment } from "../native.fragment.ts";

/** Pure: `security.resources`, `runtime.native` and `security.sandbox` in the plan's units. */
export function nativePolicy(config: Config, platform: string): BackendPolicy {
  const { resources } = config.security;
  const { env, shell } = sectionOf(config, nativeFragment);
  const { backend, allow_network, protected_paths } = config.security.sandbox;
  const sandboxed = backend !== "none";
  const written: ResourceClause[] = [];
  const ask = (clause: ResourceClause, value: number | undefined, unit: number): number | null => {
    if (value === undefined) return null;
    written.push(clause);
    return value * unit;
  };
  return {
    // A local process reaches what its user reaches; the sandbox, where there is one, restricts it.
    network: sandboxed && !allow_network ? "none" : "all",
    filesystem: sandboxed ? "workspace" : "host",
    privilege: sandboxed ? "none" : "host",
    workspaceMode: sandboxed ? "mount" : "host",
    ...(sandboxed ? { protectedPaths: protected_paths } : {}),
    limits: {
      memoryBytes: ask("memory", resources.max_memory_mb, 1024 * 1024),
      cpus: null,
      cpuTimeMs: ask("cpu_time", resources.max_cpu_time_seconds, 1000),
      pids: ask("pids", resources.max_subprocesses, 1),
      openFiles: ask("files", resources.max_open_files, 1),
    },
    written,
    env,
    foreignEnv: [],
    shell: shellArgv(shell, platform),
    image: null,
  };
}

function shellArgv(shell: string, platform: string): readonly [string, ...string[]] {
  return platform === "win32" && /\bcmd(\.exe)?$/i.test(shell) ? [shell, "/d", "/s", "/c"] : [shell, "-c"];
}
