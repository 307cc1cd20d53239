/** Whether a program that was found on the host is seen in the sandbox too. */

import { existsSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { RuntimeError } from "../../../src/errors.ts";
import { realPathOf } from "../real-path.ts";
import { interpreterOf } from "../resolve-command.ts";
import { coveredBy, hostPath, isBelow, type SandboxView } from "./view.ts";

/**
 * For a program, or an interpreter, that the sandbox hides: the error, with the line of configuration that shows it.
 *
 * @param file absolute
 */
export function whyHidden(file: string, view: SandboxView): RuntimeError | null {
  const mount = coveredBy(file, view.mounts);
  // Nothing is looked up on the host for it: whether it is there is not told.
  if (mount === null || mount.kind === "private") return hiddenError(`Command ${file}`, file);
  if (!existsSync(file)) return null;
  const interpreter = interpreterOf(file);
  for (const program of interpreter?.startsWith("/") ? [file, interpreter] : [file]) {
    const hidden = hiddenPart(program, view);
    if (hidden === null) continue;
    return hiddenError(program === file ? `Command ${file}` : `${program}, the interpreter of ${file},`, hidden);
  }
  return null;
}

function hiddenError(what: string, path: string): RuntimeError {
  const line = `readonly_paths = [${JSON.stringify(dirname(path))}]`;
  const message = `${what} is not seen in the sandbox: if it is there, add ${line} to [security.sandbox]`;
  return new RuntimeError("command_not_found", message, { backend: "native" });
}

/**
 * Whoever may write a directory can put a link in the place of what is mounted from inside of it, and have another part of
 * the host shown by the next sandbox.
 *
 * @throws RuntimeError `policy_unenforceable` where that has happened.
 */
export function refuseReplaced({ mounts }: SandboxView): void {
  const writable = mounts.flatMap((mount) => (mount.kind === "writable" ? [mount] : []));
  for (const mount of mounts) {
    if (mount.kind !== "readonly" && mount.kind !== "writable") continue;
    const isInside = writable.some(({ source }) => source !== mount.source && isBelow(mount.source, source));
    if (!isInside || (realPathOf(mount.source) ?? mount.source) === mount.source) continue;
    const message = `${mount.source} leads elsewhere since it was listed: a link was put in its place, or on the way to it`;
    throw new RuntimeError("policy_unenforceable", message, { backend: "native" });
  }
}

/** The path that would have to be shown, or `null`. */
function hiddenPart(file: string, view: SandboxView): string | null {
  const real = realPathOf(file) ?? file;
  const shown = hostPath(view, real);
  if (shown === null || !existsSync(shown)) return real;
  // A link is followed inside: the directory that holds it has to be there too.
  const named = join(realPathOf(dirname(file)) ?? dirname(file), basename(file));
  return hostPath(view, named) === null && !view.mounts.some(({ at }) => isBelow(named, at)) ? named : null;
}
