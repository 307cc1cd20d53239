/** What programs on the PATH need besides the directory they are in: found from the shapes in which toolchains are installed. */

import { readdirSync, readlinkSync, statSync } from "node:fs";
import { basename, dirname, join, resolve } from "node:path";
import { realPathOf } from "../real-path.ts";
import { coveredBy, isBelow, type Mount } from "./view.ts";

/** What the search starts from: the operator's own, never a request's. */
export interface ToolchainSearch {
  readonly path: string;
  readonly home: string | null;
  /** What is seen in any case. */
  readonly system: readonly Mount[];
  /** Where a language's manager says that it keeps things, by variable. */
  readonly env: Readonly<Record<string, string | undefined>>;
}

/**
 * Managers by the directory that names them: what belongs to the programs in it. The manager's own directory is not always
 * the answer, because some keep their credentials there (`~/.cargo/credentials.toml`, `~/.bun/install/cache`).
 */
const managers: readonly (readonly [pattern: RegExp, parts: (match: string) => readonly string[]])[] = [
  [/^.*\/node_modules(?=\/\.bin$)/, (root) => [root]],
  [/^.*\/\.cargo(?=\/bin$)/, (root) => [join(root, "bin"), join(root, "env"), join(dirname(root), ".rustup")]],
  [/^.*\/\.(?:pyenv|rbenv|nodenv|goenv|jenv|asdf|volta|nodebrew|phpenv)(?=\/)/, (root) => [root]],
  [/^.*\/mise(?=\/shims$)/, (root) => [root]],
  [/^.*\/\.local(?=\/bin$)/, (root) => [join(root, "bin"), join(root, "lib")]],
  [/^.*\/(?:go|\.bun|\.deno)(?=\/bin$)/, (root) => (hasGoTree(root) ? [root] : [join(root, "bin")])],
];

/** Everything that is to be seen read-only, as real paths. Nothing is found twice, and nothing that the system shows already. */
export function findToolchains({ path, home, system, env }: ToolchainSearch): readonly Mount[] {
  const found = new Map<string, Mount>();
  const isSeen = (place: string) => coveredBy(place, system)?.kind === "readonly" || found.has(place);
  const add = (place: string, isTrusted: boolean) => {
    // Looked at once: what is compared is what will be shown.
    const source = realPathOf(place);
    if (source === null || isTooWide(source, home)) return;
    if (!isTrusted && !mayLead(place, source, home)) return;
    // By both of its names: programs are asked for by the one and find their parts by the other.
    for (const at of new Set([source, place])) if (!isSeen(at)) found.set(at, { kind: "readonly", at, source });
  };
  for (const entry of path.split(":")) {
    if (!entry.startsWith("/")) continue;
    const directory = resolve(entry);
    const real = realPathOf(directory);
    if (real === null || isTooWide(real, home) || !mayLead(directory, real, home)) continue;
    // No command works in a home as a whole.
    for (const part of partsOf(directory, home, env)) add(part, dirname(part) === home);
    if (!keptByOthers(home).includes(directory)) continue;
    for (const target of linkTargets(directory)) {
      if (isSeen(target) || [...found.values()].some(({ at }) => isBelow(target, at))) continue;
      // A lone directory that a link leads to may be any.
      for (const part of partsOf(dirname(target), home, env)) if (part !== dirname(target)) add(part, true);
    }
  }
  return [...found.values()];
}

/**
 * The directories whose links are followed. A project's own (`node_modules/.bin`, `.venv/bin`) are not among them: a command
 * that once worked there may have made a link to anything, for the next one to be shown.
 */
function keptByOthers(home: string | null): readonly string[] {
  return ["/usr/local/bin", "/usr/local/sbin", ...(home === null ? [] : [join(home, ".local", "bin")])];
}

/** Where only an administrator installs. */
const installed = ["/usr", "/opt", "/nix", "/gnu", "/snap", "/home/linuxbrew"];

/** Likewise for a directory that is a link, or behind one: within one manager's own (`~/.sdkman/…/current`), or to what is installed. */
function mayLead(named: string, real: string, home: string | null): boolean {
  if (named === real || installed.some((place) => isBelow(real, place))) return true;
  const realHome = home === null ? null : realPathOf(home);
  const managerOf = (path: string) =>
    [home, realHome].flatMap((own) =>
      own === null ? [] : (path.startsWith(`${own}/.`) && path.slice(own.length + 1).split("/")[0]) || [],
    )[0];
  return managerOf(named) !== undefined && managerOf(named) === managerOf(real);
}

function partsOf(directory: string, home: string | null, env: ToolchainSearch["env"]): readonly string[] {
  for (const [pattern, parts] of managers) {
    const [root] = pattern.exec(directory) ?? [];
    if (root === undefined) continue;
    const rustup = env["RUSTUP_HOME"];
    return root.endsWith("/.cargo") && rustup !== undefined ? [...parts(root), rustup] : parts(root);
  }
  const above = dirname(directory);
  const isPrefix =
    /^s?bin$|^condabin$/.test(basename(directory)) && hasAny(above, ["lib", "lib64", "libexec", "share"]);
  return isPrefix && !isTooWide(realPathOf(above) ?? above, home) ? [above] : [directory];
}

/** A tree of Go's own, as opposed to the workspace of that name in a home. */
function hasGoTree(root: string): boolean {
  return hasAny(root, ["VERSION"]);
}

function hasAny(directory: string, names: readonly string[]): boolean {
  return names.some((name) => realPathOf(join(directory, name)) !== null);
}

/** Which programs the links of a directory lead to. `/usr/bin` and its like hold hundreds, which lead to the system itself. */
function linkTargets(directory: string): readonly string[] {
  if (["/usr/bin", "/usr/sbin", "/bin", "/sbin"].includes(directory)) return [];
  try {
    return readdirSync(directory, { withFileTypes: true })
      .filter((entry) => entry.isSymbolicLink())
      .flatMap(({ name }) => {
        const first = resolve(directory, readlinkSync(join(directory, name)));
        const last = realPathOf(first);
        return last === null || !statSync(last).isFile() ? [] : [first, last];
      });
  } catch {
    return [];
  }
}

/** A home, or anything above it, holds far more than tools. */
function isTooWide(real: string, home: string | null): boolean {
  const realHome = home === null ? null : realPathOf(home);
  if (real === "/" || /^\/(?:home|root|etc|proc|sys|dev|run|tmp|var|opt|srv|mnt|media|boot)$/.test(real)) return true;
  return [home, realHome].some((own) => own !== null && own !== undefined && isBelow(own, real));
}
