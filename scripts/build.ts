/**
 * `npm run build`: JavaScript and declarations for the npm package, from the doors inward, into dist/. The JavaScript is
 * bundled door by door, sharing what they have in common: a runtime spends more time on finding ninety small files than on
 * running them.
 */

import { spawnSync } from "node:child_process";
import { chmodSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";

const root = fileURLToPath(new URL("..", import.meta.url));
const tsc = join(root, "node_modules", ".bin", "tsc");

rmSync(join(root, "dist"), { recursive: true, force: true });
const { status } = spawnSync(tsc, ["-p", "tsconfig.build.json"], { cwd: root, stdio: "inherit" });
if (status === 0) {
  const { files }: { files: string[] } = JSON.parse(readFileSync(join(root, "tsconfig.build.json"), "utf8"));
  await build({
    absWorkingDir: root,
    entryPoints: files,
    outbase: ".",
    outdir: "dist",
    bundle: true,
    splitting: true,
    format: "esm",
    platform: "node",
    target: "es2024",
    packages: "external",
    chunkNames: "chunks/[name]-[hash]",
    logLevel: "warning",
  });
  chmodSync(join(root, "dist", "cli.js"), 0o755);
}
process.exitCode = status ?? 1;
