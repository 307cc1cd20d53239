/** Where a command works: checked by real paths, against the roots that the operator allows. */

import { RuntimeError } from "./errors.ts";
import type { Host } from "./host.ts";

/** What decides about a working directory. */
export interface WorkingDirRules {
  readonly host: Host;
  /** Absolute paths; empty means anywhere. */
  readonly allowedRoots: readonly string[];
  readonly backend: string;
}

/**
 * The real path of the working directory a request names.
 *
 * @throws RuntimeError `working_dir_not_found`, `working_dir_not_a_directory` or `working_dir_not_allowed`, naming the path as given.
 */
export async function resolveWorkingDir(
  given: string,
  { host, allowedRoots, backend }: WorkingDirRules,
): Promise<string> {
  const { kind, realPath } = await host.inspect(absolute(given, host.workingDir));
  // Checked before the path is said to exist or not: a caller outside its roots learns nothing of the host.
  if (allowedRoots.length > 0 && !(await isInside(realPath, allowedRoots, host))) {
    throw new RuntimeError(
      "working_dir_not_allowed",
      `Working directory ${given} is outside of security.allowed_workspace_roots: choose one inside`,
      { backend },
    );
  }
  if (kind === "missing") {
    throw new RuntimeError("working_dir_not_found", `Working directory not found: ${given}`, { backend });
  }
  if (kind !== "directory") {
    throw new RuntimeError("working_dir_not_a_directory", `Working directory is not a directory: ${given}`, {
      backend,
    });
  }
  return realPath;
}

/** Whether a real path lies in one of the roots, whose own links are followed too. */
export async function isInside(realPath: string, roots: readonly string[], host: Host): Promise<boolean> {
  for (const root of roots) {
    const path = withHome(root, host);
    if (path !== null && isBelow(realPath, (await host.inspect(path)).realPath)) return true;
  }
  return false;
}

/** Whether a directory is one of the paths or has one of them below it, by their real paths. */
export async function holdsAny(root: string, paths: readonly string[], host: Host): Promise<boolean> {
  for (const path of paths) {
    if (isBelow((await host.inspect(path)).realPath, root)) return true;
  }
  return false;
}

function isBelow(path: string, root: string): boolean {
  // A backslash is a letter like any other where paths do not begin with a drive or a share.
  const separator = windowsPath.test(root) ? "\\" : "/";
  return path === root || path.startsWith(root.endsWith(separator) ? root : `${root}${separator}`);
}

/** A leading `~` is the host user's home; `null` where there is none. */
function withHome(root: string, { env }: Host): string | null {
  if (!/^~(?:[\\/]|$)/.test(root)) return root;
  const home = env["HOME"] ?? env["USERPROFILE"] ?? "";
  return isAbsolute(home) ? home + root.slice(1) : null;
}

const windowsPath = /^([A-Za-z]:[\\/]|\\\\)/;

function isAbsolute(path: string): boolean {
  return path.startsWith("/") || windowsPath.test(path);
}

function absolute(path: string, from: string): string {
  return isAbsolute(path) ? path : `${from.replace(/[\\/]$/, "")}/${path}`;
}
