/** Tool look-up: what a name in a request means to the operator's configuration. */

import { type Config, type ToolConfig, toolNames, type WasmTool } from "./config.ts";
import { RuntimeError } from "./errors.ts";
import type { WrittenGrants } from "./grants.ts";
import type { CheckedRequest } from "./request.ts";
import type { RequestedLimits } from "./runtime-types.ts";
import type { BackendName, NetworkMode } from "./types.ts";
import { secondsToMs } from "./units.ts";

/** A tool's own policy, in the plan's units. Everything in it narrows. */
export interface Tool {
  /** `null`: no tool was named and none is called so. */
  readonly name: string | null;
  readonly argv: readonly [string, ...string[]];
  readonly env: Readonly<Record<string, string>>;
  /** The program is the operator's, by a name that is looked up: where it is found is not the request's to say. */
  readonly isLookedUp: boolean;
  readonly backend: BackendName | null;
  readonly image: string | null;
  readonly module: string | null;
  /** What it is granted of the directories that the backend grants; what is left out is granted as there. @default all */
  readonly grants?: WrittenGrants;
  /** Variables of the host that it gets, where it has fewer than the backend gives. */
  readonly hostEnv?: readonly string[];
  readonly timeoutMs?: number;
  readonly maxOutputBytes?: number;
  readonly network?: NetworkMode;
  readonly limits: RequestedLimits;
}

/**
 * Finds the tool that `options.tool` names, or else the one that the command names. A custom tool of type `command` called
 * by its own name becomes its configured program, its configured arguments and then the request's.
 *
 * @throws RuntimeError `tool_not_found` where `options.tool` names nothing that the configuration knows: its limits would
 *   be dropped in silence.
 */
export function findTool(config: Config, request: CheckedRequest): Tool {
  const { command, args, options } = request;
  const named = options.tool ?? (Object.hasOwn(config.tools.custom, command) ? command : null);
  const tool =
    named === null || !Object.hasOwn(config.tools.custom, named) ? null : (config.tools.custom[named] ?? null);
  if (named !== null && tool === null && !toolNames(config).has(named)) {
    throw new RuntimeError(
      "tool_not_found",
      `Tool ${JSON.stringify(named)} is not configured: add [tools.custom.${named}] or leave out the option tool`,
    );
  }
  if (tool === null) return { ...plainTool, name: named, argv: [command, ...args] };
  const wasm = tool.type === "wasm";
  const own: readonly [string, ...string[]] =
    command !== named ? [command] : [wasm ? command : tool.command, ...tool.args];
  const timeoutMs = tool.timeout_secs === undefined ? {} : { timeoutMs: secondsToMs(tool.timeout_secs) };
  const maxOutputBytes = tool.max_output_bytes === undefined ? {} : { maxOutputBytes: tool.max_output_bytes };
  return {
    name: named,
    argv: [...own, ...args],
    env: tool.env,
    isLookedUp: !wasm && command === named && !tool.command.includes("/"),
    // A WASM tool runs on WASM whatever the default backend is.
    backend: tool.backend ?? (wasm ? "wasm" : null),
    image: tool.image ?? null,
    module: wasm ? tool.module : null,
    ...timeoutMs,
    ...maxOutputBytes,
    ...(tool.network === undefined ? {} : { network: tool.network }),
    limits: toolLimits(tool),
    ...(tool.type === "wasm" ? capabilitiesOf(tool) : {}),
  };
}

/** A module has nothing but what it is granted, so a tool that is one can be granted less. */
function capabilitiesOf({ capabilities }: WasmTool): Pick<Tool, "network" | "grants" | "hostEnv"> {
  return {
    ...(capabilities.network === false ? { network: "none" } : {}),
    grants: capabilities,
    ...(capabilities.env_vars === undefined ? {} : { hostEnv: capabilities.env_vars }),
  };
}

/** Of a command that no tool is configured for. */
const plainTool = { env: {}, isLookedUp: false, backend: null, image: null, module: null, limits: {} } as const;

function toolLimits(tool: ToolConfig): RequestedLimits {
  const limits: { -readonly [Name in keyof RequestedLimits]: RequestedLimits[Name] } = {};
  if (tool.memory_limit !== undefined) limits.memoryBytes = tool.memory_limit;
  if (tool.cpu_limit !== undefined) limits.cpus = tool.cpu_limit;
  if (tool.pids_limit !== undefined) limits.pids = tool.pids_limit;
  if (tool.max_open_files !== undefined) limits.openFiles = tool.max_open_files;
  if (tool.max_cpu_time_seconds !== undefined) limits.cpuTimeMs = secondsToMs(tool.max_cpu_time_seconds);
  return limits;
}
