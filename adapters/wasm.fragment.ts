/** `[runtime.wasm]`: tools shipped as WASI modules and components. */

import * as v from "valibot";
import {
  alias,
  type FragmentCheck,
  flag,
  fragment,
  grants,
  homePath,
  key,
  oneOf,
  readGrant,
  type Section,
  seconds,
  table,
  variableNames,
  whole,
} from "../src/config/fragment.ts";

const capabilities = table({
  filesystem_read: key(
    v.optional(grants, []),
    "Directories that guests may read; `HOST::GUEST` shows one at another path",
  ),
  filesystem_write: key(
    v.optional(grants, []),
    "Directories that guests may read and write; `HOST::GUEST` shows one at another path",
  ),
  network: key(v.optional(flag, false), "Whether guests may use the network"),
  env_vars: key(
    v.optional(variableNames, []),
    "Host variables that guests get, where `runtime.env_whitelist` names them too",
  ),
});

const schema = table({
  engine: key(
    v.optional(oneOf(["auto", "jco", "wasmtime", "wasmer"]), "auto"),
    "`jco` is embedded, `wasmtime` and `wasmer` are their command-line programs; `auto` is the first that keeps every clause",
  ),
  wasmtime_program: key(
    v.exactOptional(homePath),
    "The wasmtime program. Without it the first `wasmtime` on the PATH. A leading `~` is the host user's home",
  ),
  module_path: key(
    v.optional(homePath, "~/.local/share/openprx/wasm/"),
    "The directory in which a module is looked up by its name. A leading `~` is the host user's home",
  ),
  timeout_secs: key(
    v.optional(seconds("0 means no limit"), 30),
    "Time limit of a guest in seconds, in place of `runtime.default_timeout_secs`",
    { aliases: [alias("capabilities.timeout_secs")] },
  ),
  // More than 4096 would be a promise that no module with 32-bit memory can use.
  max_memory_mb: key(v.optional(whole("mebibytes", 1, 4096), 128), "Memory of a guest in MiB, at the most", {
    aliases: [alias("capabilities.max_memory_mb")],
  }),
  capabilities: key(v.optional(capabilities, {}), "What guests are granted; nothing else of the host exists for them"),
});

type Check = FragmentCheck<Section<typeof schema>>;

/** What is above the operator's maximum would be cut down in silence. */
function checkTimeout({ values, isChanged, maxTimeoutSecs, report }: Check): void {
  if (maxTimeoutSecs > 0 && values.timeout_secs > maxTimeoutSecs && isChanged("timeout_secs")) {
    report(
      ["timeout_secs"],
      `It is more than runtime.max_timeout_secs, which is ${maxTimeoutSecs}: lower it, or raise the maximum`,
    );
  }
}

/** A tool's grants narrow the backend's: one that names more would be dropped in silence. */
function checkTools({ values, tools, reportTool }: Check): void {
  const { filesystem_read, filesystem_write, network, env_vars } = values.capabilities;
  for (const [name, tool] of Object.entries(tools)) {
    if (tool.type !== "wasm") continue;
    const own = tool.capabilities;
    const report = (key: string, what: string) =>
      reportTool(
        name,
        ["capabilities", key],
        `${what} more than runtime.wasm.capabilities grants: a tool can only have less`,
      );
    const outside = (wanted: readonly string[] | undefined, granted: readonly string[]) =>
      wanted?.find((path) => !granted.some((root) => isBelow(readGrant(path).host, readGrant(root).host)));
    const read = outside(own.filesystem_read, [...filesystem_read, ...filesystem_write]);
    const written = outside(own.filesystem_write, filesystem_write);
    const variable = own.env_vars?.find((wanted) => !env_vars.includes(wanted));
    if (read !== undefined) report("filesystem_read", `${JSON.stringify(read)} is`);
    if (written !== undefined) report("filesystem_write", `${JSON.stringify(written)} is`);
    if (variable !== undefined) report("env_vars", `${variable} is`);
    if (own.network === true && !network) report("network", "It is");
  }
}

function isBelow(path: string, root: string): boolean {
  const ends = (directory: string) => `${directory.replace(/[\\/]+$/, "")}/`;
  return ends(path).startsWith(ends(root));
}

export const wasmFragment = fragment({
  name: "wasm",
  place: "runtime",
  schema: key(schema, "Tools as WASI modules and components"),
  check(check) {
    checkTimeout(check);
    checkTools(check);
  },
});

/** `[runtime.wasm]`. */
export type WasmSettings = Section<typeof schema>;
