/** Whether a program that was found on the host is seen in the sandbox too. */

import { dirname } from "node:path";
import { RuntimeError } from "../../../src/errors.ts";
import { realPathOf } from "../real-path.ts";
import type { Sight } from "../resolve-command.ts";
import { followInside } from "./inside-path.ts";
import type { SandboxView } from "./view.ts";

/**
 * Programs and interpreters as the sandbox shows them. For one that it hides there is an error with the line of configuration
 * that shows it, unless a link led there that a command may have made: of what that leads to nothing is told.
 */
export function sightIn(view: SandboxView): Sight {
  return (file, script) => {
    const found = followInside(file, view);
    if (found.kind === "seen") return found.file;
    const what = script === undefined ? `Command ${file}` : `${file}, the interpreter of ${script},`;
    if (found.isGuided)
      return notFound(`${what} leads, by a link that a command may have made, to nothing that is seen in the sandbox`);
    if (found.kind === "missing") return null;
    const line = `readonly_paths = [${JSON.stringify(dirname(found.path))}]`;
    return notFound(`${what} is not seen in the sandbox: if it is there, add ${line} to [security.sandbox]`);
  };
}

function notFound(message: string): RuntimeError {
  return new RuntimeError("command_not_found", message, { backend: "native" });
}

/**
 * Whoever may write a directory can put a link in the place of what is mounted from inside of it, and have another part of
 * the host shown by the next sandbox: at any time, by a command of this host or of another.
 *
 * @throws RuntimeError `policy_unenforceable` where that has happened.
 */
export function refuseReplaced({ mounts }: SandboxView): void {
  for (const mount of mounts) {
    if ((mount.kind !== "readonly" && mount.kind !== "writable") || mount.isSystem === true) continue;
    if ((realPathOf(mount.source) ?? mount.source) === mount.source) continue;
    const message = `${mount.source} leads elsewhere since it was listed: a link was put in its place, or on the way to it`;
    throw new RuntimeError("policy_unenforceable", message, { backend: "native" });
  }
}
