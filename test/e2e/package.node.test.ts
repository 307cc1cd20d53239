/** The npm package as a user gets it: packed, installed elsewhere, imported on each runtime, its program run. */

import { type ExecFileSyncOptions, execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import manifest from "../../package.json" with { type: "json" };
import { bundleCore, maxGzipBytes } from "../../scripts/bundle-core.ts";

const ours = fileURLToPath(new URL("../..", import.meta.url));
const bin = join(ours, "node_modules", ".bin");
const tool = (name: string) => join(bin, name);
const work = realpathSync(mkdtempSync(join(tmpdir(), "prx-package-")));
const project = join(work, "project");

interface PackedFile {
  readonly path: string;
  readonly mode: number;
}

let files: readonly PackedFile[] = [];

/** With the checkout's Node first on the PATH, and nothing of the npm that may have started us. */
function run(program: string, args: readonly string[], options: ExecFileSyncOptions = {}): string {
  const inherited = Object.entries(process.env).filter(([name]) => !/^npm_/i.test(name));
  const env = { ...Object.fromEntries(inherited), PATH: [bin, process.env["PATH"]].join(delimiter) };
  return execFileSync(program, args, { cwd: project, env, encoding: "utf8", stdio: "pipe", ...options }).toString();
}

beforeAll(() => {
  mkdirSync(project);
  const packed = run("npm", ["pack", "--json", "--foreground-scripts=false", "--pack-destination", work], {
    cwd: ours,
  });
  const [{ filename, files: listed }]: [{ filename: string; files: PackedFile[] }] = JSON.parse(packed);
  files = listed;
  writeFileSync(join(project, "package.json"), '{ "type": "module", "private": true }\n');
  run("npm", ["install", "--no-audit", "--no-fund", "--loglevel=error", join(work, filename)]);
}, 300_000);

afterAll(() => rmSync(work, { recursive: true, force: true }));

describe("the tarball", () => {
  test("holds built code and its papers, and nothing else", () => {
    const odd = files
      .map(({ path }) => path)
      .filter((path) => !/^dist\/.*\.(js|d\.ts)$/.test(path))
      .sort();
    expect(odd).toEqual([
      "CHANGELOG.md",
      "LICENSE",
      "README.md",
      "dist/LICENSE-fastest-levenshtein.md",
      "dist/LICENSE-valibot.md",
      "package.json",
    ]);
    expect(files.filter(({ path }) => /\.test\.|^dist\/(scripts|bench|examples)\//.test(path))).toEqual([]);
  });

  test("holds every door with its types, the contract suite, and an executable program", () => {
    const doors = Object.values(manifest.exports).flatMap((door) => [door.types, door.default]);
    for (const door of [...doors, ...Object.values(manifest.bin)]) {
      expect(files.map(({ path }) => `./${path}`)).toContain(door);
    }
    expect(files.some(({ path }) => path.startsWith("dist/test/contract/"))).toBe(true);
    // Started as processes of their own.
    for (const name of ["host", "transpile-program"])
      expect(files.map(({ path }) => path)).toContain(`dist/adapters/_wasm/jco/${name}.js`);
    const program = files.find(({ path }) => path === "dist/cli.js");
    expect((program?.mode ?? 0) & 0o111).toBe(0o111);
  });
});

test("the sources are fit for publication to Deno's registry", () => {
  run(tool("deno"), ["publish", "--dry-run", "--allow-dirty", "--allow-slow-types", "--quiet"], { cwd: ours });
});

describe("installed in a project", () => {
  const script = `import { createRuntime, RuntimeError } from "prx-runtime";
import * as core from "prx-runtime/core";
const runtime = await createRuntime({ runtime: { backend: "native" } });
const out = await runtime.execute("sh", ["-c", "echo $0; exit 7", "hi"]);
await runtime.close();
console.log(JSON.stringify([out.stdout, out.exitCode, core.RuntimeError === RuntimeError]));
`;
  const starts: readonly (readonly [string, readonly string[]])[] = [
    ["node", []],
    ["bun", []],
    ["deno", ["run", "--allow-all"]],
  ];
  test.each(starts)("%s imports it and runs a command", (name, args) => {
    writeFileSync(join(project, "run.mjs"), script);
    expect(JSON.parse(run(tool(name), [...args, "run.mjs"]))).toEqual(["hi\n", 7, true]);
  });

  test("the program starts by its name", () => {
    expect(run(join(project, "node_modules/.bin/prx-runtime"), ["--version"])).toContain(manifest.version);
  });

  test.each(["workerd", "edge-light", "worker", "browser"])("under the condition %s it is the core", (condition) => {
    const script = 'console.log(import.meta.resolve("prx-runtime"))';
    const found = run(tool("node"), ["-C", condition, "--input-type=module", "-e", script]);
    expect(found.trim()).toMatch(/\/dist\/src\/core\.js$/);
  });

  test("a bundler for an edge runtime gets a core that loads there", async () => {
    writeFileSync(join(project, "worker.js"), 'export * from "prx-runtime";\n');
    const { gzipBytes } = await bundleCore({ entry: join(project, "worker.js"), format: "esm" });
    expect(gzipBytes).toBeLessThanOrEqual(maxGzipBytes);
  });

  test.each(["nodenext", "bundler"])("its declarations stand on their own (module resolution %s)", (resolution) => {
    const source = Object.keys(manifest.exports).map((door, index) => {
      return `export * as door${index} from ${JSON.stringify(door.replace(".", "prx-runtime"))};\n`;
    });
    writeFileSync(join(project, "doors.ts"), source.join(""));
    const compilerOptions = {
      module: resolution === "bundler" ? "esnext" : resolution,
      moduleResolution: resolution,
      target: "es2024",
      lib: ["es2024", "esnext.disposable", "dom", "dom.iterable", "dom.asynciterable"],
      types: [],
      strict: true,
      exactOptionalPropertyTypes: true,
      noEmit: true,
    };
    writeFileSync(join(project, "tsconfig.json"), JSON.stringify({ compilerOptions, files: ["doors.ts"] }));
    expect(run(tool("tsc"), ["-p", "tsconfig.json"])).toBe("");
  });
});
