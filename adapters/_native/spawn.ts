/** Which JavaScript runtime this is, as far as starting a process is concerned. */

import type { Spawn } from "./child.ts";
import type { PipePool } from "./pipes.ts";

/**
 * The spawn of the runtime at hand. Three files instead of one on `node:child_process`: on Deno that module throws where
 * nobody can catch it when a child dies of a real-time signal, so a command could end its host; and on Bun and Deno the
 * runtime's own spawn is the faster.
 */
export async function loadSpawn(pipes: () => Promise<PipePool | null>, sandboxed = false): Promise<Spawn> {
  if ("Deno" in globalThis) {
    // A sandbox is handed open files, which Deno's own spawn cannot do; and its monitor dies of no signal of the command's.
    if (sandboxed) return (await import("./spawn-node.ts")).createNodeSpawn(null);
    return (await import("./spawn-deno.ts")).denoSpawn;
  }
  const pool = pipes();
  if ("Bun" in globalThis) return (await import("./spawn-bun.ts")).createBunSpawn(await pool);
  return (await import("./spawn-node.ts")).createNodeSpawn(await pool);
}
