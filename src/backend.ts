/** What a backend brings besides its adapter: the operator's policy in the plan's units, and a way to make the adapter. */

import type { Config } from "./config.ts";
import type { WrittenGrants } from "./grants.ts";
import type { Host } from "./host.ts";
import type {
  FilesystemMode,
  GrantedDirectory,
  NetworkMode,
  PrivilegeMode,
  ResourceClause,
  ResourceLimits,
  RuntimeAdapter,
  Warning,
} from "./types.ts";

/** What the operator's configuration means on one backend, before tool and request narrow it. */
export interface BackendPolicy {
  readonly network: NetworkMode;
  readonly filesystem: FilesystemMode;
  readonly privilege: PrivilegeMode;
  /** How the working directory reaches the command; see `Workspace.mode`. `"none"`: no directory of the host does. */
  readonly workspaceMode: string;
  /** Where a workspace must be, besides `security.allowed_workspace_roots`. @default anywhere */
  readonly allowedWorkspaceRoots?: readonly string[];
  /** The key that says so. @default "runtime.<backend>.allowed_workspace_roots" */
  readonly allowedWorkspaceRootsKey?: string;
  /** What no workspace may hold or be: whoever could write there would be more than a command. @default nothing */
  readonly keptFromWorkspaces?: readonly string[];
  /** Names in the working directory that stay as they are, or stay missing: a request's files may not touch them. @default none */
  readonly protectedPaths?: readonly string[];
  /** `null`: no limit unless tool or request ask for one. */
  readonly limits: ResourceLimits;
  /** Which of the limits somebody wrote, as opposed to defaults: those are demanded. */
  readonly written: readonly ResourceClause[];
  /** A time limit that takes the place of `runtime.default_timeout_secs` here. */
  readonly defaultTimeoutMs?: number;
  /** Directories of the host that a command is granted, given what its tool is granted of them. @default none */
  readonly grants?: (tool: WrittenGrants | undefined) => readonly GrantedDirectory[];
  /** Added to the whitelisted variables of the host. */
  readonly env: Readonly<Record<string, string>>;
  /** Whitelisted names whose values on the host mean nothing here (`PATH`, `HOME`, `USER` in another root file system). */
  readonly foreignEnv: readonly string[];
  /** The argv of a shell-form command, up to and without the command line itself; `null` where there is no shell. */
  readonly shell: readonly [string, ...string[]] | null;
  /** The image for a tool, or for none; `null` where there are no images. */
  readonly image: ((tool: string | null) => string | null) | null;
}

/** A backend as the registry loads it. */
export interface Backend {
  readonly policy: BackendPolicy;
  readonly adapter: RuntimeAdapter;
}

/** How a backend is made: from the frozen configuration and the machine. Must be quick and begin nothing. */
export type BackendFactory = (context: BackendContext) => Backend | Promise<Backend>;

export interface BackendContext {
  readonly config: Config;
  readonly host: Host;
  /** Told of what the operator should know and no single execution can carry. */
  readonly log: (message: Warning) => void;
}

/** One line of the registry: loads nothing until it is asked to. */
export interface BackendEntry {
  readonly name: string;
  /** `null` where this build does not hold the backend, with the reason in its place. */
  readonly load: (() => Promise<BackendFactory>) | null;
  readonly absent?: string;
}
