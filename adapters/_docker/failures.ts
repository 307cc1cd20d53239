/** Why a container could not be made or begun, in the closed list of codes. Pure. */

import { messageOf, RuntimeError, type Started } from "../../src/errors.ts";
import { DaemonError, statusOf } from "./daemon.ts";

const backend = "docker";

/** The daemon does not have the image. */
export function isImageMissing(error: unknown): boolean {
  // Or has it for another platform only.
  const said = /no such image|image not known|does not match the specified platform/i;
  return statusOf(error) === 404 && said.test(messageOf(error));
}

/** The daemon's machine has no such directory: a mount cannot reach it. */
export function isSourceMissing(error: unknown): boolean {
  const status = statusOf(error);
  return (
    status !== null &&
    status >= 400 &&
    /bind source path does not exist|no such file or directory|statfs/i.test(messageOf(error))
  );
}

export function imageMissing(image: string): RuntimeError {
  const message = `Image ${image} is not on the daemon, and runtime.docker.auto_pull is off: docker pull ${image}`;
  return new RuntimeError("image_not_found", message, { backend });
}

export function cancelledBeforeStart(cause?: unknown): RuntimeError {
  return new RuntimeError("cancelled_before_start", "The command was cancelled before it began", { backend, cause });
}

/** What the low-level runtime says when it cannot execute a command. */
const startCodes = [
  [
    /argument list too long|message larger than max/i,
    "argument_list_too_long",
    "Arguments and environment together are longer than the system takes: pass them by stdin or as a file",
  ],
  [/executable file not found|no such file or directory/i, "command_not_found", "Command not found in the container"],
  [/permission denied|exec format error/i, "not_executable", "Command cannot be executed"],
] as const;

/** @param what was being done, as in "The container could not be made" */
export function daemonFailure(error: unknown, what: string, started: Started = "no"): RuntimeError {
  if (error instanceof RuntimeError) return error;
  const said = messageOf(error);
  return new RuntimeError("start_failed", `${what}: ${said}. ${remedyFor(error)}`, { backend, started, cause: error });
}

/** The low-level runtime refused the command: nothing has begun. */
export function startFailure(error: unknown, command: string): RuntimeError {
  const said = messageOf(error);
  const status = statusOf(error);
  if (status === null) return daemonFailure(error, "The container may not have been started", "maybe");
  const known = /runc|OCI runtime|exec|larger than max/i.test(said)
    ? startCodes.find(([pattern]) => pattern.test(said))
    : undefined;
  if (known === undefined) return daemonFailure(error, "The container could not be started");
  const [, code, message] = known;
  return new RuntimeError(code, `${message}: ${command}: ${said}`, { backend, cause: error });
}

function remedyFor(error: unknown): string {
  if (error instanceof DaemonError && error.status === null) return "Look whether the daemon runs: docker info";
  if (/no space left/i.test(messageOf(error))) return "Make room on the daemon's disk: docker system df";
  return "The daemon's log says more";
}
