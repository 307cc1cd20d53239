/** `npm run gate`: everything that must hold before a change goes in. Runs every step, then says which failed. */

import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";

const root = fileURLToPath(new URL("..", import.meta.url));
const tool = (name: string) => join(root, "node_modules", ".bin", name);
const script = (name: string, ...args: readonly string[]) => [process.execPath, join("scripts", name), ...args];

/** In order of how fast they answer. */
const steps: Readonly<Record<string, readonly string[]>> = {
  imports: script("check-imports.ts"),
  exports: script("check-exports.ts"),
  format: [tool("biome"), "check", "--error-on-warnings", "."],
  types: [tool("tsc"), "-p", "tsconfig.json"],
  "core types": [tool("tsc"), "-p", "tsconfig.core.json"],
  "edge bundle": script("bundle-core.ts"),
  unit: script("test.ts", "--runtime", "node", "--suite", "unit"),
};

const { values } = parseArgs({ options: { skip: { type: "string", multiple: true, default: [] } } });
const unknown = values.skip.find((name) => !(name in steps));
if (unknown) throw new Error(`The gate has no step ${JSON.stringify(unknown)}: ${Object.keys(steps).join(", ")}`);

const verdicts = Object.entries(steps).flatMap(([name, [program = "", ...args]]) => {
  if (values.skip.includes(name)) return [];
  console.log(`\n── ${name}`);
  const began = performance.now();
  const { status, error } = spawnSync(program, args, { cwd: root, stdio: ["ignore", "inherit", "inherit"] });
  if (error) console.error(error.message);
  return [{ name, passed: status === 0, seconds: (performance.now() - began) / 1000 }];
});

console.log("");
for (const { name, passed, seconds } of verdicts) {
  console.log(`${passed ? "passed" : "FAILED"}  ${name} (${seconds.toFixed(1)} s)`);
}
const failed = verdicts.filter(({ passed }) => !passed).length;
console.log(`${verdicts.length - failed} passed, ${failed} failed`);
process.exitCode = failed > 0 || verdicts.length === 0 ? 1 : 0;
