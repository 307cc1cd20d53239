/** Where a command is looked for, in order. Pure, for both families of systems. */

import { posix, win32 } from "node:path";

/** Searched when the command's environment has no PATH: the same on every runtime, unlike what each would search by itself. */
export const defaultPath = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";

/** What decides about the search. */
export interface CommandSearch {
  readonly platform: string;
  readonly workingDir: string;
  /** The command's own variables. */
  readonly env: Readonly<Record<string, string>>;
}

/** Whether a command says by itself where it is. */
export function namesPath(command: string, platform: string): boolean {
  return command.includes("/") || (platform === "win32" && (command.includes("\\") || /^[A-Za-z]:/.test(command)));
}

/** The PATH that is searched. */
export function searchPath({ platform, env }: CommandSearch): string {
  if (platform !== "win32") return env["PATH"] ?? defaultPath;
  return variable(env, "PATH") ?? `${variable(env, "SYSTEMROOT") ?? "C:\\Windows"}\\System32`;
}

/**
 * The absolute paths a command may be at. A name with a slash is taken from the working directory; any other is searched
 * in the command's own PATH, whose relative (and, as POSIX has it, empty) entries start at the working directory too. On
 * Windows each is tried with the extensions of PATHEXT as well.
 */
export function commandCandidates(command: string, search: CommandSearch): readonly string[] {
  const { platform, workingDir, env } = search;
  if (platform !== "win32") {
    if (namesPath(command, platform)) return [posix.resolve(workingDir, command)];
    return searchPath(search)
      .split(":")
      .map((entry) => posix.join(posix.resolve(workingDir, entry), command));
  }
  const bases = namesPath(command, platform)
    ? [win32.resolve(workingDir, command)]
    : searchPath(search)
        .split(";")
        .filter((entry) => entry !== "")
        .map((entry) => win32.join(win32.resolve(workingDir, entry), command));
  const extensions = (variable(env, "PATHEXT") ?? ".COM;.EXE").split(";").filter((extension) => extension !== "");
  const hasExtension = extensions.some((extension) => command.toLowerCase().endsWith(extension.toLowerCase()));
  return bases.flatMap((base) => (hasExtension ? [base] : extensions.map((extension) => `${base}${extension}`)));
}

/** Windows does not tell the case of variables apart. */
function variable(env: Readonly<Record<string, string>>, name: string): string | undefined {
  const found = Object.keys(env).find((key) => key.toUpperCase() === name);
  return found === undefined ? undefined : env[found];
}
