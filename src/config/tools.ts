/** `[tools.custom.<name>]`: what an operator says of one tool. Everything in it narrows what the backend allows. */

import * as v from "valibot";
import type { DeepReadonly } from "../deep-freeze.ts";
import { grants, image, toolName, variableNames, variables } from "./names.ts";
import { alias, cores, flag, key, list, mebibytes, named, oneOf, seconds, size, text, whole } from "./values.ts";

const limitEntries = {
  memory_limit: key(v.exactOptional(size("1m")), "Memory, at the most", {
    unit: "size",
    aliases: [alias("memory_limit_mb", mebibytes)],
  }),
  cpu_limit: key(v.exactOptional(cores("0.01")), "Processors, in cores, at the most"),
  pids_limit: key(v.exactOptional(whole("processes", 1)), "Processes and threads at one time, at the most"),
  max_open_files: key(v.exactOptional(whole("files", 1)), "Open files of one process, at the most"),
  max_cpu_time_seconds: key(v.exactOptional(whole("seconds", 1)), "Processor time in seconds, at the most"),
};

const sharedEntries = {
  env: key(v.optional(variables, {}), "Variables that this tool gets besides the whitelisted ones", { secret: true }),
  timeout_secs: key(
    v.exactOptional(seconds("0 means no limit")),
    "Time limit in seconds, in place of the default; a request may ask for less. 0 means no limit, up to `runtime.max_timeout_secs`",
  ),
  max_output_bytes: key(
    v.exactOptional(whole("bytes", 1)),
    "Bytes kept of each stream, where less than `runtime.max_output_bytes`",
  ),
  ...limitEntries,
};

/** A tool's own part of what the WASM backend grants. */
const narrowerCapabilities = v.strictObject(
  {
    filesystem_read: key(
      v.exactOptional(grants),
      "Directories it may read, among those of `runtime.wasm.capabilities`",
    ),
    filesystem_write: key(
      v.exactOptional(grants),
      "Directories it may write, among those of `runtime.wasm.capabilities`",
    ),
    network: key(v.exactOptional(flag), "Whether it may use the network, where `runtime.wasm.capabilities` allows it"),
    env_vars: key(v.exactOptional(variableNames), "Host variables it gets, among those of `runtime.wasm.capabilities`"),
  },
  "Give a table",
);

/** The table of tools, given the names that a tool's `backend` may have. */
export function toolsSchema(backends: readonly string[]) {
  const commandTool = v.strictObject({
    type: key(v.literal("command"), "A program with fixed first arguments"),
    command: key(text, "The program: a name to look up, or a path"),
    args: key(v.optional(list(v.string("Give a string in quotes")), []), "Arguments that come before the request's"),
    backend: key(v.exactOptional(oneOf(backends)), "Where this tool runs, in place of `runtime.backend`"),
    image: key(v.exactOptional(image), "Image of this tool on the backends that have images"),
    network: key(
      v.exactOptional(oneOf(["none", "cluster", "all"])),
      "Reach of the network, where narrower than the backend's: `none`, `cluster` or `all`",
    ),
    ...sharedEntries,
  });
  const wasmTool = v.strictObject({
    type: key(v.literal("wasm"), "A WASI module or component; it runs on the WASM backend whatever the default is"),
    module: key(
      text,
      "The `.wasm` file: an absolute path, or one below `runtime.wasm.module_path`. `@sha256:…` after it, or alone in its place, pins its content",
    ),
    args: key(v.optional(list(v.string("Give a string in quotes")), []), "Arguments that come before the request's"),
    backend: key(v.exactOptional(oneOf(["wasm"])), "Only `wasm`: a WASM tool runs nowhere else"),
    capabilities: key(
      v.optional(narrowerCapabilities, {}),
      "What this tool is granted of `runtime.wasm.capabilities`; a key left out grants all of it",
    ),
    ...sharedEntries,
  });
  const tool = v.variant("type", [commandTool, wasmTool], "Give a table");
  const custom = key(v.optional(named(toolName, tool), {}), "Tools by name", { namesTools: true });
  return key(v.strictObject({ custom }, "Give a table"), "Tools with a policy of their own");
}

type Tools = DeepReadonly<v.InferOutput<ReturnType<typeof toolsSchema>>>["custom"];
type AnyTool = Tools[string];

/** A tool that is a program. */
export type CommandTool = Extract<AnyTool, { readonly type: "command" }>;

/** A tool that is a WASI module. What only programs have is not there. */
export type WasmTool = Extract<AnyTool, { readonly type: "wasm" }> & {
  readonly image?: never;
  readonly network?: never;
};

/** One `[tools.custom.<name>]`. */
export type ToolConfig = CommandTool | WasmTool;
