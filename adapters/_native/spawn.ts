/** Which JavaScript runtime this is, as far as starting a process is concerned. */

import type { Spawn } from "./child.ts";
import type { PipePool } from "./pipes.ts";
import { createBunPipePool } from "./pipes-bun.ts";
import { createBunSpawn } from "./spawn-bun.ts";
import { denoSpawn } from "./spawn-deno.ts";
import { createNodeSpawn } from "./spawn-node.ts";

/**
 * The spawn of the runtime at hand. Three files instead of one on `node:child_process`: on Deno that module throws where
 * nobody can catch it when a child dies of a real-time signal, so a command could end its host; and on Bun and Deno the
 * runtime's own spawn is the faster. Each file asks for what is its runtime's own when it is used, so all of them load anywhere.
 *
 * @param namedPipes makes pipes where the runtime brings none
 */
export async function chooseSpawn(namedPipes: () => Promise<PipePool | null>, sandboxed = false): Promise<Spawn> {
  // A sandbox is handed open files, which Deno's own spawn cannot do; and its monitor dies of no signal of the command's.
  if ("Deno" in globalThis) return sandboxed ? createNodeSpawn(null) : denoSpawn;
  if ("Bun" in globalThis) return createBunSpawn(createBunPipePool() ?? (await namedPipes()));
  return createNodeSpawn(await namedPipes());
}
