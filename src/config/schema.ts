/** The core's own tables: `[runtime]`, `[tools]` and `[security]`, and the places where fragments join them. */

import * as v from "valibot";
import type { DeepReadonly } from "../deep-freeze.ts";
import { RuntimeError } from "../errors.ts";
import { clauses } from "../types.ts";
import { type AnyFragment, type ToolConfig, table } from "./fragment.ts";
import { homePath, nameBelow, variableNames } from "./names.ts";
import { toolsSchema } from "./tools.ts";
import { alias, flag, key, list, oneOf, seconds, whole } from "./values.ts";

/** The most of a stream that fits into one JavaScript string with room to spare. */
const maxOutputBytes = 256 * 2 ** 20;

export const defaultTimeoutSecs = 60;

function runtimeEntries(backends: readonly string[]) {
  return {
    backend: key(
      v.optional(oneOf(backends), "auto"),
      "Where commands run. `auto` takes the strongest place that can be used and says which",
      { aliases: [alias("kind")] },
    ),
    default_timeout_secs: key(
      v.optional(seconds("0 means no limit"), defaultTimeoutSecs),
      "Time limit of one execution in seconds, where neither tool nor request gives one. 0 means no limit, up to `max_timeout_secs`",
    ),
    max_timeout_secs: key(
      v.optional(seconds("0 means no limit"), 0),
      "The most seconds a request or a tool may have; one that asks for no limit gets this. 0 means no maximum",
    ),
    max_output_bytes: key(
      v.optional(whole("bytes", 1, maxOutputBytes), 1_048_576),
      "Bytes kept of each stream; the rest is drained, counted and flagged, and the command goes on",
    ),
    env_whitelist: key(
      v.optional(variableNames, ["PATH", "HOME", "TERM", "LANG", "USER"]),
      "The host's variables that reach a command, on every backend. Where the root file system is not the host's, `PATH`, `HOME` and `USER` are the image's or ours",
    ),
    kill_grace_secs: key(
      v.optional(seconds("0 means at once"), 2),
      "Seconds between the polite and the forced stop of a command",
    ),
  };
}

const sandbox = table({
  backend: key(
    v.optional(oneOf(["none", "bubblewrap", "firejail", "auto"]), "none"),
    "The sandbox of the operating system around the native backend",
  ),
  allow_network: key(v.optional(flag, false), "Whether a sandboxed command may use the network", {
    aliases: [alias("bubblewrap.allow_network")],
  }),
  writable_paths: key(
    v.optional(list(homePath), []),
    "Host paths that a sandboxed command may write, besides its working directory. A leading `~` is the host user's home",
    { aliases: [alias("bubblewrap.writable_paths")] },
  ),
  readonly_paths: key(
    v.optional(list(homePath), []),
    "Host paths that a sandboxed command may read, besides the system's programs and libraries. A leading `~` is the host user's home",
    { aliases: [alias("bubblewrap.readonly_paths")] },
  ),
  protected_paths: key(
    v.optional(list(nameBelow), []),
    "Names in the working directory that a sandboxed command can neither change nor make, such as `.git/hooks/` and `.bashrc`. One that is missing stays so: an empty file, or with a `/` at the end an empty directory, stands for it meanwhile. In a linked working tree or a submodule, names below `.git` are those that git takes for them",
    { aliases: [alias("bubblewrap.protected_paths")] },
  ),
  bubblewrap_program: key(
    v.exactOptional(homePath),
    "bwrap, where it is not in a directory of the system that is on the `PATH`. It runs on the host itself: it has to be root's own, and where no command can write. A leading `~` is the host user's home",
  ),
  firejail_program: key(v.exactOptional(homePath), "firejail, likewise"),
});

const resources = table({
  max_memory_mb: key(v.exactOptional(whole("mebibytes", 1, 2 ** 33)), "Memory of one execution in MiB, at the most"),
  max_cpu_time_seconds: key(
    v.exactOptional(whole("seconds", 1)),
    "Processor time of one execution in seconds, at the most",
  ),
  max_subprocesses: key(v.exactOptional(whole("processes", 1)), "Processes of one execution at one time, at the most"),
  max_open_files: key(v.exactOptional(whole("files", 1)), "Open files of one process, at the most"),
});

const security = table({
  accept_weaker: key(
    v.optional(list(oneOf(clauses)), []),
    "Clauses that may be kept less well than asked. Without it such a command is refused; with it the result carries a warning",
  ),
  allowed_workspace_roots: key(
    v.optional(list(homePath), []),
    "Directories in which a working directory may be. Empty: anywhere. A leading `~` is the host user's home",
  ),
  sandbox: key(v.optional(sandbox, {}), "Restrictions around commands of the native backend"),
  resources: key(
    v.optional(resources, {}),
    "Limits of every execution, whatever its backend. A limit that is written is enforced, or the command is refused",
  ),
});

/** The values of `backend`: every fragment that is a backend, and `auto`. */
export function backendNames(fragments: readonly AnyFragment[]): readonly string[] {
  return ["auto", ...fragments.filter(({ place }) => place === "runtime").map(({ name }) => name)];
}

/** The schema of the whole file. */
export function configSchema(fragments: readonly AnyFragment[]) {
  const backends = backendNames(fragments);
  const runtime = table(join(runtimeEntries(backends), fragments, "runtime"));
  const core = {
    runtime: key(v.optional(runtime, {}), "Where and how commands run"),
    tools: v.optional(toolsSchema(backends.filter((name) => name !== "auto")), {}),
    security: key(v.optional(security, {}), "What holds for every command"),
  };
  return table(join(core, fragments, "top"));
}

function join(core: v.ObjectEntries, fragments: readonly AnyFragment[], place: AnyFragment["place"]): v.ObjectEntries {
  const entries = { ...core };
  for (const { name, schema } of fragments.filter((part) => part.place === place)) {
    if (Object.hasOwn(entries, name))
      throw new RuntimeError("internal", `Two parts of the configuration are called ${name}: rename one`);
    entries[name] = v.optional(schema, {});
  }
  return entries;
}

type Values<Entries extends v.ObjectEntries> = DeepReadonly<v.InferOutput<v.StrictObjectSchema<Entries, undefined>>>;

/** The core's own keys of `[runtime]`. */
export type RuntimeConfig = Values<ReturnType<typeof runtimeEntries>>;

/** `[security]`. */
export type SecurityConfig = DeepReadonly<v.InferOutput<typeof security>>;

type Input<S extends v.GenericSchema> = DeepReadonly<v.InferInput<S>>;

/** What a caller may write of the core's own keys. */
export interface CoreInput {
  readonly runtime?: Input<v.StrictObjectSchema<ReturnType<typeof runtimeEntries>, undefined>>;
  readonly tools?: Input<ReturnType<typeof toolsSchema>>;
  readonly security?: Input<typeof security>;
}

/**
 * The core's view of a configuration: keys as in config.toml, aliases resolved, defaults filled in, deeply frozen. Sizes
 * are in bytes and shares of processors in cores, however they were written; times stay in seconds, as their keys say.
 */
export interface Config {
  readonly runtime: RuntimeConfig;
  readonly tools: { readonly custom: Readonly<Record<string, ToolConfig>> };
  readonly security: SecurityConfig;
}
