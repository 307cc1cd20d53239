/**
 * `npm run build`: JavaScript and declarations for the npm package, from the doors inward, into dist/. The JavaScript is
 * bundled door by door, sharing what they have in common: a runtime spends more time on finding ninety small files than on
 * running them.
 */

import { spawnSync } from "node:child_process";
import { chmodSync, copyFileSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { type BuildOptions, build, type Plugin } from "esbuild";

/**
 * Packages of which what is used goes into the bundle: every start needs them, and finding one in node_modules takes as long as
 * a command. They stay dependencies, valibot for its types, and their licences travel along.
 */
const inlined = ["valibot", "fastest-levenshtein"];

/** Run as processes of their own. */
const programs = ["adapters/_wasm/jco/host.ts", "adapters/_wasm/jco/transpile-program.ts"];

const root = fileURLToPath(new URL("..", import.meta.url));
const tsc = join(root, "node_modules", ".bin", "tsc");

/**
 * Lets every door, and every part that is loaded on demand, import all of the core, so that the core is one file. esbuild gives
 * a file of its own to whatever some of them use and others do not, and each has to be found by every start.
 */
const wholeCore: Plugin = {
  name: "whole-core",
  setup: ({ onResolve, onLoad, resolve }) => {
    const core = join(root, "src", "core.ts");
    const asked = Symbol("asked");
    onResolve({ filter: /\.ts$/ }, async ({ path, kind, importer, resolveDir, pluginData }) => {
      if (pluginData === asked || (kind !== "entry-point" && kind !== "dynamic-import")) return undefined;
      const found = await resolve(path, { kind, importer, resolveDir, pluginData: asked });
      return { path: found.path, pluginData: { isDoor: found.path !== core } };
    });
    onLoad({ filter: /\.ts$/ }, ({ path, pluginData }) => {
      if (pluginData?.isDoor !== true) return undefined;
      return { contents: `${readFileSync(path, "utf8")}\nimport ${JSON.stringify(core)};`, loader: "ts" };
    });
  },
};

rmSync(join(root, "dist"), { recursive: true, force: true });
const { status } = spawnSync(tsc, ["-p", "tsconfig.build.json"], { cwd: root, stdio: "inherit" });
if (status === 0) {
  const { files }: { files: string[] } = JSON.parse(readFileSync(join(root, "tsconfig.build.json"), "utf8"));
  const manifest: Record<"dependencies" | "optionalDependencies", Record<string, string>> = JSON.parse(
    readFileSync(join(root, "package.json"), "utf8"),
  );
  const packages = Object.keys({ ...manifest.dependencies, ...manifest.optionalDependencies });
  const external = packages.filter((name) => !inlined.includes(name));
  // Names stay, for whoever reads a stack trace.
  const common = {
    absWorkingDir: root,
    outbase: ".",
    outdir: "dist",
    bundle: true,
    format: "esm",
    platform: "node",
    target: "es2024",
    external,
    minifyWhitespace: true,
    minifySyntax: true,
    logLevel: "warning",
  } satisfies BuildOptions;
  await build({
    ...common,
    entryPoints: files,
    splitting: true,
    chunkNames: "chunks/[name]-[hash]",
    plugins: [wholeCore],
  });
  // Programs that are started for each command: a file for each, with nothing in it that it does not use.
  await build({ ...common, entryPoints: programs });
  chmodSync(join(root, "dist", "cli.js"), 0o755);
  for (const name of inlined)
    copyFileSync(join(root, "node_modules", name, "LICENSE.md"), join(root, "dist", `LICENSE-${name}.md`));
}
process.exitCode = status ?? 1;
