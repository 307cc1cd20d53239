/** Where the rig's wasmtime and its guest programs are: outside the checkout, and found by what they were made from. */

import { createHash } from "node:crypto";
import { existsSync, globSync, readFileSync, statSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

/** Something that this machine lacks and that is not to be had. */
export class Unavailable extends Error {}

/** The rig's own directory: wasmtime, guests, and lists of what is where. */
export const rigHome =
  process.env["PRX_RIG_WASM_HOME"] ||
  join(process.env["XDG_CACHE_HOME"] || join(homedir(), ".cache"), "prx-runtime", "wasm");

const rigSources = fileURLToPath(new URL(".", import.meta.url));
export const guestSources = fileURLToPath(new URL("../../fixtures/guests/", import.meta.url));

/** What `up` made from one state of the sources. */
export interface Inventory {
  readonly wasmtime: string;
  /** Absolute paths, by the guest's name. */
  readonly guests: Readonly<Record<string, string>>;
}

/** Two checkouts whose sources differ have one each. */
export const inventoryFile = () => join(rigHome, "inventories", `${digestOfFiles(rigSources, guestSources)}.json`);

/** `null` where nothing was made from the sources as they are, or where some of it is gone. */
export function inventory(): Inventory | null {
  try {
    const found: Inventory = JSON.parse(readFileSync(inventoryFile(), "utf8"));
    return [found.wasmtime, ...Object.values(found.guests)].every((path) => existsSync(path)) ? found : null;
  } catch {
    return null;
  }
}

/** A wasmtime of one's own that is named on purpose, or else the rig's; `null` where there is none. */
export function wasmtimeProgram(): string | null {
  const own = process.env["PRX_TEST_WASMTIME"];
  return own ? (existsSync(own) ? own : null) : (inventory()?.wasmtime ?? null);
}

/**
 * The path of a guest's module: `contract/wasip1`, `contract/wasip2`, `escape/wasip1`, `escape/wasip2`, `go`, and `wat/NAME` for
 * each text in test/fixtures/guests/wat and for `wat/slow-to-compile`.
 */
export function guest(name: string): string {
  const path = inventory()?.guests[name];
  if (path === undefined) throw new Error(wasmObstacle() ?? `There is no guest ${JSON.stringify(name)}`);
  return path;
}

/** Why no test can run a guest here, or `null`. */
export function wasmObstacle(): string | null {
  const remedy = "npm run rig:wasm -- up";
  if (inventory() === null) return `the WASM rig is not up, or its sources have changed: ${remedy}`;
  if (wasmtimeProgram() !== null) return null;
  const own = process.env["PRX_TEST_WASMTIME"];
  return `PRX_TEST_WASMTIME names ${own}, which is not there; the rig has one, once the variable is removed: ${remedy}`;
}

export function digest(...parts: readonly (string | Uint8Array)[]): string {
  const hash = createHash("sha256");
  // The length before each: two lists of parts never run into the same text.
  for (const part of parts) hash.update(`${part.length} `).update(part);
  return hash.digest("hex").slice(0, 24);
}

/** By their names below the directory and their bytes. */
export function digestOfFiles(...directories: readonly string[]): string {
  const files = directories.flatMap((directory) =>
    globSync("**/*", { cwd: directory })
      .sort()
      .filter((path) => statSync(join(directory, path)).isFile())
      .flatMap((path) => [path, readFileSync(join(directory, path))]),
  );
  return digest(...files);
}
