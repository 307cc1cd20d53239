/** The program that transpiles one module: `module.wasm` of its working directory into the directory `module.bin`. */

import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import process from "node:process";
import { messageOf } from "../../../src/errors.ts";
import { transpile } from "./transpile.ts";

const target = "module.bin";

try {
  const kind = process.argv[2] === "component" ? "component" : "module";
  const { files } = await transpile(new Uint8Array(readFileSync("module.wasm")), { kind });
  mkdirSync(target, { mode: 0o700 });
  for (const [name, bytes] of Object.entries(files)) writeFileSync(join(target, name), bytes, { mode: 0o600 });
} catch (error) {
  process.stderr.write(`${messageOf(error)}\n`);
  process.exitCode = 1;
}
