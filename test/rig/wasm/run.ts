/**
 * `npm run rig:wasm -- up | status | purge`: a real wasmtime, and the guest programs of test/fixtures/guests. Saying it twice
 * changes nothing. With `PRX_TEST_WASMTIME=/path` a wasmtime of one's own runs the guests.
 */

import { rmSync } from "node:fs";
import { buildGuests } from "./guests.ts";
import { replaceFile, tool } from "./make.ts";
import {
  type Inventory,
  inventory,
  inventoryFile,
  rigHome,
  Unavailable,
  wasmObstacle,
  wasmtimeProgram,
} from "./place.ts";
import { installWasmtime } from "./wasmtime.ts";

function up(): number {
  const made: Inventory = { wasmtime: installWasmtime(), guests: buildGuests() };
  replaceFile(inventoryFile(), JSON.stringify(made, null, 2));
  return status();
}

function status(): number {
  const obstacle = wasmObstacle();
  const program = wasmtimeProgram();
  if (obstacle !== null || program === null) {
    console.log(`rig: ${obstacle}`);
    return 1;
  }
  console.log(`rig: ${String(tool("", [program, "--version"])).trim()} at ${program}`);
  console.log(`rig: ${Object.keys(inventory()?.guests ?? {}).length} guests, everything is below ${rigHome}`);
  return 0;
}

/** Everything the rig ever made, for any checkout. */
function purge(): number {
  rmSync(rigHome, { recursive: true, force: true });
  return 0;
}

const commands: Readonly<Record<string, () => number>> = { up, status, purge };
const command = commands[process.argv[2] ?? ""];
if (command === undefined) {
  console.error(`usage: npm run rig:wasm -- ${Object.keys(commands).join(" | ")}`);
  process.exitCode = 64;
} else {
  try {
    process.exitCode = command();
  } catch (error) {
    if (!(error instanceof Unavailable)) throw error;
    console.error(`rig: ${error.message}`);
    process.exitCode = 1;
  }
}
