/** Holds package.json, deno.json and package-lock.json against each other: the same doors, one version, exact pins. */

import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

/** Bundlers for edge runtimes ask with these, and must get the core: they follow even unused imports of backends. */
const edgeConditions = ["workerd", "edge-light", "worker", "browser"];

type Target = string | { readonly [condition: string]: Target };

interface PackageJson {
  readonly name: string;
  readonly version: string;
  readonly exports: Readonly<Record<string, { readonly [condition: string]: Target }>>;
  readonly bin: Readonly<Record<string, string>>;
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly devDependencies?: Readonly<Record<string, string>>;
  readonly optionalDependencies?: Readonly<Record<string, string>>;
  readonly allowScripts?: Readonly<Record<string, boolean>>;
}

interface DenoJson {
  readonly version: string;
  readonly exports: Readonly<Record<string, string>>;
}

interface LockFile {
  readonly version: string;
  readonly packages: Readonly<Record<string, { readonly resolved?: string; readonly hasInstallScript?: boolean }>>;
}

/** What does not fit together in the checkout at `root`, one sentence each. */
export function checkExports(root: string): readonly string[] {
  // The three files are ours: their shapes are what the checks below are about.
  const read = <T>(name: string): T => JSON.parse(readFileSync(join(root, name), "utf8"));
  const npm = read<PackageJson>("package.json");
  const deno = read<DenoJson>("deno.json");
  const lock = read<LockFile>("package-lock.json");
  return [...checkDoors(root, npm, deno), ...checkVersions(npm, deno, lock), ...checkLock(npm, lock)];
}

function checkDoors(root: string, npm: PackageJson, deno: DenoJson): readonly string[] {
  const problems: string[] = [];
  for (const door of new Set([...Object.keys(npm.exports), ...Object.keys(deno.exports)])) {
    const built = npm.exports[door];
    const source = deno.exports[door];
    if (!built || !source) {
      problems.push(`${door} is exported by ${built ? "package.json" : "deno.json"} alone`);
      continue;
    }
    if (!existsSync(join(root, source))) problems.push(`${door} leads to ${source}, which does not exist`);
    if (!leadsTo(built, source)) problems.push(`${door} must lead to ${distOf(source)}, its types before its default`);
  }
  const core = deno.exports["./core"] ?? "";
  const main = npm.exports["."] ?? {};
  for (const condition of edgeConditions) {
    const target = main[condition];
    const first = Object.keys(main).indexOf(condition) < Object.keys(main).indexOf("types");
    if (!target || !first || !leadsTo(target, core)) {
      problems.push(
        `. must lead to ${distOf(core)} under the condition ${condition}, before its own types and default`,
      );
    }
  }
  for (const [name, path] of Object.entries(npm.bin)) {
    const source = path.replace(/^\.\/dist\//, "").replace(/\.js$/, ".ts");
    if (!existsSync(join(root, source)))
      problems.push(`The program ${name} is built from ${source}, which does not exist`);
  }
  return problems;
}

const distOf = (source: string) => source.replace(/^\.\//, "./dist/").replace(/\.ts$/, ".js");

function leadsTo(target: Target, source: string): boolean {
  if (typeof target === "string") return false;
  const own = Object.keys(target).filter((condition) => !edgeConditions.includes(condition));
  const types = distOf(source).replace(/\.js$/, ".d.ts");
  return own.join() === "types,default" && target["types"] === types && target["default"] === distOf(source);
}

function checkVersions(npm: PackageJson, deno: DenoJson, lock: LockFile): readonly string[] {
  const problems: string[] = [];
  if (deno.version !== npm.version) problems.push(`deno.json is at ${deno.version}, package.json at ${npm.version}`);
  if (lock.version !== npm.version)
    problems.push(`package-lock.json is at ${lock.version}, package.json at ${npm.version}`);
  const pins = { ...npm.dependencies, ...npm.devDependencies, ...npm.optionalDependencies };
  for (const [name, version] of Object.entries(pins)) {
    if (!/^\d+\.\d+\.\d+(-[\w.]+)?$/.test(version)) problems.push(`${name} is not pinned: ${version}`);
  }
  return problems;
}

function checkLock(npm: PackageJson, lock: LockFile): readonly string[] {
  const problems: string[] = [];
  for (const [path, entry] of Object.entries(lock.packages)) {
    if (entry.resolved) problems.push(`package-lock.json names a registry for ${path}`);
    const name = path.replace(/^.*node_modules\//, "");
    if (entry.hasInstallScript && npm.allowScripts?.[name] === undefined) {
      problems.push(`${name} has an install script that allowScripts in package.json does not decide on`);
    }
  }
  return problems;
}

if (import.meta.main) {
  const problems = checkExports(fileURLToPath(new URL("..", import.meta.url)));
  for (const problem of problems) console.error(problem);
  console.log(problems.length === 0 ? "Exports: every door fits" : `Exports: ${problems.length} problems`);
  process.exitCode = problems.length === 0 ? 0 : 1;
}
