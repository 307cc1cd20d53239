/** What `[runtime.docker]` means in the plan's units. */

import type { BackendPolicy } from "../../src/backend.ts";
import { type Config, writtenKeys } from "../../src/config.ts";
import { narrowLimit } from "../../src/narrow.ts";
import type { ResourceClause } from "../../src/types.ts";
import type { DockerSettings } from "../docker.fragment.ts";

const keysOf: Readonly<Partial<Record<ResourceClause, readonly string[]>>> = {
  memory: ["runtime.docker.memory_limit", "security.resources.max_memory_mb"],
  cpu: ["runtime.docker.cpu_limit"],
  cpu_time: ["security.resources.max_cpu_time_seconds"],
  pids: ["runtime.docker.pids_limit", "security.resources.max_subprocesses"],
  files: ["runtime.docker.open_files_limit", "security.resources.max_open_files"],
};

/** Pure. `keptOut` is what no workspace may hold: the daemon's socket. */
export function dockerPolicy(config: Config, settings: DockerSettings, keptOut: readonly string[]): BackendPolicy {
  const { resources } = config.security;
  const written = writtenKeys(config);
  const memory = resources.max_memory_mb === undefined ? undefined : resources.max_memory_mb * 1024 * 1024;
  return {
    network: settings.network === "none" ? "none" : "all",
    filesystem: settings.mount_workspace ? "workspace" : "none",
    privilege: "none",
    workspaceMode: settings.mount_workspace ? "mount" : "none",
    allowedWorkspaceRoots: settings.allowed_workspace_roots,
    keptFromWorkspaces: keptOut,
    limits: {
      memoryBytes: narrowLimit(settings.memory_limit, memory),
      cpus: settings.cpu_limit,
      cpuTimeMs: resources.max_cpu_time_seconds === undefined ? null : resources.max_cpu_time_seconds * 1000,
      pids: narrowLimit(settings.pids_limit, resources.max_subprocesses),
      openFiles: narrowLimit(settings.open_files_limit, resources.max_open_files),
    },
    written: (Object.keys(keysOf) as ResourceClause[]).filter((clause) =>
      keysOf[clause]?.some((key) => written.has(key)),
    ),
    env: {},
    foreignEnv: ["PATH", "HOME", "USER"],
    shell: ["/bin/sh", "-c"],
    image: (tool) => (tool === null ? undefined : settings.tool_images[tool]) ?? settings.image,
  };
}
