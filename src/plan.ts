/** Request and policies in, plan out: everything that will happen, decided in one place and frozen. */

import type { BackendPolicy } from "./backend.ts";
import type { Config } from "./config.ts";
import { composeEnv } from "./env.ts";
import { RuntimeError } from "./errors.ts";
import type { Host } from "./host.ts";
import { narrowCap, narrowed, narrowLimits, narrowMode, narrowTimeout, warnOfCutLimits } from "./narrow.ts";
import type { CheckedRequest } from "./request.ts";
import type { Tool } from "./tools.ts";
import type {
  Capabilities,
  Clause,
  ExecutionPlan,
  FilesystemMode,
  IsolationClause,
  NetworkMode,
  Warning,
  Workspace,
} from "./types.ts";
import { secondsToMs } from "./units.ts";
import { holdsAny, isInside, resolveWorkingDir } from "./working-dir.ts";

/** What a plan is made of. */
export interface PlanSources {
  readonly request: CheckedRequest;
  readonly tool: Tool;
  readonly policy: BackendPolicy;
  readonly config: Config;
  readonly host: Host;
  readonly backend: string;
  readonly capabilities: Capabilities;
}

/** A plan, and what was narrowed on the way. */
export interface Planned {
  readonly plan: ExecutionPlan;
  readonly warnings: readonly Warning[];
}

const networkModes: readonly NetworkMode[] = ["none", "cluster", "all"];
/** Isolation is always demanded, whether somebody wrote it or it is the default. */
const isolation: readonly IsolationClause[] = ["network", "filesystem", "privilege", "environment"];
/** A platform's own deadline comes this long after ours: it is for the case that we died. */
const backstopMarginMs = 30_000;

/** @throws RuntimeError for an environment or a working directory that is wrong or not allowed. */
export async function buildPlan(sources: PlanSources): Promise<Planned> {
  const { request, tool, policy, config, host, backend } = sources;
  const { options } = request;
  const warnings: Warning[] = [];
  const { limits, written } = narrowLimits(policy.limits, policy.written, [tool.limits, options.limits]);
  warnOfCutLimits(options.limits, limits, warnings);
  const killGraceMs = secondsToMs(config.runtime.kill_grace_secs);
  const timeoutMs = narrowTimeout(
    {
      request: options.timeoutMs,
      tool: tool.timeoutMs,
      fallback: policy.defaultTimeoutMs ?? secondsToMs(config.runtime.default_timeout_secs),
      max: secondsToMs(config.runtime.max_timeout_secs),
    },
    warnings,
  );
  const maxOutputBytes = narrowCap(
    { request: options.maxOutputBytes, tool: tool.maxOutputBytes, operator: config.runtime.max_output_bytes },
    warnings,
  );
  const network = narrowMode(networkModes, policy.network, tool.network, options.network);
  if (options.network !== undefined && options.network !== network)
    warnings.push(narrowed("Network", options.network, network));
  checkSearchPath(sources);
  checkCapabilities(sources);
  checkProtected(sources);
  const workspace = await planWorkspace(sources);
  const env = composeEnv({
    host: host.env,
    whitelist: config.runtime.env_whitelist,
    foreign: foreignNames(sources),
    operator: policy.env,
    tool: tool.env,
    request: options.env ?? {},
  });
  if (!sources.capabilities.anyEnvName) checkNames(env, backend);
  const plan: ExecutionPlan = {
    id: host.newId?.() ?? crypto.randomUUID(),
    owner: host.owner,
    backend,
    tool: tool.name,
    argv: planArgv(sources),
    env,
    workingDir: workspace.root,
    stdin: request.stdin,
    files: request.files,
    outputs: [...(options.outputs ?? [])],
    limits: {
      timeoutMs,
      backstopMs: timeoutMs === 0 ? 0 : timeoutMs + killGraceMs + backstopMarginMs,
      killGraceMs,
      maxOutputBytes,
      ...limits,
    },
    network,
    filesystem: policy.filesystem,
    privilege: policy.privilege,
    workspace,
    image: planImage(sources),
    module: tool.module,
    grants: policy.grants?.(tool.grants) ?? [],
    demands: [...isolation, ...written] satisfies Clause[],
    acceptWeaker: config.security.accept_weaker,
  };
  return { plan: freezePlan(plan), warnings };
}

/** To its depth. What it shares with the configuration is frozen already; each part is named, because this is done for each execution. */
function freezePlan(plan: ExecutionPlan): ExecutionPlan {
  for (const file of plan.files) Object.freeze(file);
  for (const part of [
    plan.argv,
    plan.env,
    plan.files,
    plan.outputs,
    plan.grants,
    plan.limits,
    plan.workspace,
    plan.demands,
  ])
    Object.freeze(part);
  return Object.freeze(plan);
}

/** Whoever gives a tool an image means it to run there, and nowhere else. */
function planImage({ tool, policy, backend }: PlanSources): string | null {
  if (policy.image !== null) return tool.image ?? policy.image(tool.name);
  if (tool.image === null) return null;
  throw new RuntimeError(
    "policy_unenforceable",
    `Tool ${tool.name} has the image ${tool.image}, and backend ${backend} runs no images: give the tool a backend that does`,
    { backend },
  );
}

/** Another PATH would put another program in the place of the one that the operator named. */
function checkSearchPath({ request, tool, backend }: PlanSources): void {
  if (!tool.isLookedUp || !Object.keys(request.options.env ?? {}).some((name) => name.toUpperCase() === "PATH")) return;
  throw new RuntimeError(
    "invalid_request",
    `Tool ${tool.name} is looked up in the operator's PATH: leave PATH out of the request's variables`,
    { backend },
  );
}

/** What the backend's place cannot do is refused before anything runs, and in one wording. */
function checkCapabilities({ request, capabilities, backend }: PlanSources): void {
  const { files, outputs } = request.options;
  const refuse = (what: string): never => {
    throw new RuntimeError("invalid_request", `Backend ${backend} ${what}`, { backend });
  };
  if (request.stdin !== "none" && !capabilities.stdin) refuse("gives a command no stdin: leave it out");
  if ((files !== undefined || outputs !== undefined) && !capabilities.files)
    refuse("takes and gives no files: leave files and outputs out");
}

/** By the names as they are written; the backend knows where links among them lead. */
function checkProtected({ request, policy, backend }: PlanSources): void {
  const kept = (policy.protectedPaths ?? []).map((path) =>
    path
      .split("/")
      .filter((part) => part !== "")
      .join("/"),
  );
  for (const { path } of request.files) {
    const held = kept.find((name) => isAtOrBelow(path, name) || isAtOrBelow(name, path));
    if (held === undefined) continue;
    const message = `File ${path} would change ${held}, which security.sandbox.protected_paths keeps as it is: leave it out of the request's files`;
    throw new RuntimeError("policy_unenforceable", message, { backend });
  }
}

function isAtOrBelow(path: string, directory: string): boolean {
  return path === directory || path.startsWith(`${directory}/`);
}

function checkNames(env: Readonly<Record<string, string>>, backend: string): void {
  const odd = Object.keys(env).find((name) => !/^[A-Za-z_][A-Za-z0-9_]*$/.test(name));
  if (odd === undefined) return;
  throw new RuntimeError(
    "invalid_request",
    `Environment variable ${JSON.stringify(odd)} cannot exist on backend ${backend}: use letters, digits and "_" only`,
    { backend },
  );
}

/** The host's variables that mean nothing on the backend, and those that the tool is not granted. */
function foreignNames({ config, policy, tool: { hostEnv } }: PlanSources): readonly string[] {
  if (hostEnv === undefined) return policy.foreignEnv;
  return [...policy.foreignEnv, ...config.runtime.env_whitelist.filter((name) => !hostEnv.includes(name))];
}

function planArgv({ request, tool, policy, backend }: PlanSources): readonly [string, ...string[]] {
  if (request.options.shell !== true) return tool.argv;
  if (policy.shell === null) {
    const message = `Backend ${backend} has no shell: name the command and its arguments one by one`;
    throw new RuntimeError("invalid_request", message, { backend });
  }
  // As in `sh -c LINE NAME ARGS…`: $0 is the shell's own name, the arguments are $1 and on.
  return [...policy.shell, request.command, policy.shell[0], ...request.args];
}

async function planWorkspace(sources: PlanSources): Promise<Workspace> {
  const { request, policy, config, host, backend } = sources;
  const allowedRoots = config.security.allowed_workspace_roots;
  const { workingDir, files, outputs } = request.options;
  if (workingDir !== undefined) {
    if (policy.workspaceMode === "none")
      throw notAllowed(workingDir, backend, "no directory of the host is given to it");
    const root = await resolveWorkingDir(workingDir, { host, allowedRoots, backend });
    return { root, mode: policy.workspaceMode, ...(await checkWorkspace(sources, root, workingDir)) };
  }
  // Without a directory of the caller's, files go in and out of one that is nobody else's.
  const isPrivate =
    policy.filesystem !== ("host" satisfies FilesystemMode) || files !== undefined || outputs !== undefined;
  const isAllowed = async () =>
    allowedRoots.length === 0 || isInside((await host.inspect(host.workingDir)).realPath, allowedRoots, host);
  const usesHost = !isPrivate && (await isAllowed());
  return usesHost ? { root: host.workingDir, mode: policy.workspaceMode } : { root: null, mode: "private" };
}

/** The backend's own rules for a directory that it makes visible elsewhere, and whose the directory is. */
async function checkWorkspace(
  { policy, host, backend }: PlanSources,
  root: string,
  given: string,
): Promise<Pick<Workspace, "owner">> {
  const { allowedWorkspaceRoots = [], keptFromWorkspaces = [], workspaceMode } = policy;
  const { allowedWorkspaceRootsKey = `runtime.${backend}.allowed_workspace_roots` } = policy;
  if (allowedWorkspaceRoots.length > 0 && !(await isInside(root, allowedWorkspaceRoots, host)))
    throw notAllowed(given, backend, `it is outside of ${allowedWorkspaceRootsKey}`);
  if (await holdsAny(root, keptFromWorkspaces, host))
    throw notAllowed(given, backend, "it holds what would make a command master of this machine");
  if (workspaceMode === "host") return {};
  const { owner } = await host.inspect(root);
  return owner === undefined ? {} : { owner };
}

function notAllowed(given: string, backend: string, reason: string): RuntimeError {
  const message = `Working directory ${given} cannot be used on backend ${backend}: ${reason}. Choose another one`;
  return new RuntimeError("working_dir_not_allowed", message, { backend });
}
