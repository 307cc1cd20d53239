/** The sandbox programs as tests of a runtime use them. */

import { createRuntime, type Runtime } from "../../mod.ts";
import { missing } from "../fixtures/needed.ts";

/** `"none"`: the host itself. */
type Sandbox = "none" | "bubblewrap" | "firejail";

export type SandboxKeys = Readonly<Record<string, unknown>>;

const programs: Readonly<Record<Sandbox, string | null>> = { none: null, bubblewrap: "bwrap", firejail: "firejail" };

/** A runtime of native commands in a sandbox. */
export function sandboxedRuntime(backend: Sandbox | "auto", keys: SandboxKeys = {}, rest = {}): Promise<Runtime> {
  return createRuntime({ runtime: { backend: "native" }, security: { sandbox: { backend, ...keys } }, ...rest });
}

/** Why a sandbox cannot be had here, or `null`. */
export async function obstacleTo(backend: Sandbox): Promise<string | null> {
  const program = programs[backend];
  const lost = program === null ? null : missing(program);
  if (lost !== null) return lost;
  try {
    await (await sandboxedRuntime(backend)).close();
    return null;
  } catch (error) {
    return `${backend} does not work here: ${error instanceof Error ? error.message : error}`;
  }
}

/** A PATH with `directory` before everything else. */
export function pathWith(directory: string): string {
  return `${directory}:${process.env["PATH"] ?? "/usr/bin:/bin"}`;
}
