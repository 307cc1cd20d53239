/** What the operator's configuration means for WASM guests. */

import type { BackendPolicy } from "../../src/backend.ts";
import { type Config, writtenKeys } from "../../src/config.ts";
import { grantedDirectories } from "../../src/grants.ts";
import { secondsToMs } from "../../src/units.ts";
import type { WasmSettings } from "../wasm.fragment.ts";

/** Pure: `runtime.wasm` in the plan's units. Nothing of the host is there but what is granted. */
export function wasmPolicy(config: Config, settings: WasmSettings): BackendPolicy {
  const { capabilities, max_memory_mb, timeout_secs } = settings;
  const granted = grantedDirectories(capabilities);
  return {
    network: capabilities.network ? "all" : "none",
    filesystem: "workspace",
    privilege: "none",
    workspaceMode: granted.length === 0 ? "none" : "granted",
    allowedWorkspaceRoots: granted.map(({ host }) => host),
    allowedWorkspaceRootsKey: "runtime.wasm.capabilities",
    limits: { memoryBytes: max_memory_mb * 1024 * 1024, cpus: null, cpuTimeMs: null, pids: null, openFiles: null },
    written: writtenKeys(config).has("runtime.wasm.max_memory_mb") ? ["memory"] : [],
    defaultTimeoutMs: secondsToMs(timeout_secs),
    grants: (tool) => grantedDirectories(capabilities, tool),
    env: {},
    foreignEnv: config.runtime.env_whitelist.filter((name) => !capabilities.env_vars.includes(name)),
    shell: null,
    image: null,
  };
}
