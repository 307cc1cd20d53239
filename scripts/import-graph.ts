/** The import graph of the whole checkout: its files, its edges, and the two questions asked of it. */

import { existsSync, readdirSync } from "node:fs";
import { join, posix } from "node:path";
import { readSourceFile, type SourceFile, type SourceImport } from "./source-file.ts";

export interface Edge {
  readonly from: string;
  /** A path of the checkout, or the specifier as written for packages and built-ins. */
  readonly to: string;
  readonly target: "file" | "package" | "builtin" | "computed";
  readonly kind: SourceImport["kind"];
  readonly line: number;
}

export interface ImportGraph {
  readonly files: ReadonlyMap<string, SourceFile>;
  readonly edges: readonly Edge[];
}

const folders = ["src", "host", "adapters", "k8s", "cli", "test", "bench", "examples", "scripts"];
const isSource = (name: string) => /\.[cm]?tsx?$/.test(name) && !name.endsWith(".d.ts");

/** Reads every TypeScript file of the checkout; built and installed code is not ours to judge. */
export function readImportGraph(root: string): ImportGraph {
  const paths = readdirSync(root, { withFileTypes: true })
    .filter((entry) => entry.isFile() && isSource(entry.name))
    .map((entry) => entry.name);
  for (const folder of folders) {
    if (!existsSync(join(root, folder))) continue;
    for (const entry of readdirSync(join(root, folder), { withFileTypes: true, recursive: true })) {
      const path = posix.join(entry.parentPath.slice(root.length + 1).replaceAll("\\", "/"), entry.name);
      if (entry.isFile() && isSource(entry.name) && !path.includes("/node_modules/")) paths.push(path);
    }
  }
  const files = new Map(paths.sort().map((path) => [path, readSourceFile(root, path)]));
  const edges = [...files.values()].flatMap((file) => file.imports.map((entry) => toEdge(file.path, entry)));
  return { files, edges };
}

function toEdge(from: string, { specifier, kind, line }: SourceImport): Edge {
  const edge = { from, kind, line };
  if (specifier === null) return { ...edge, to: "a computed module", target: "computed" };
  if (/^(node|bun|deno):/.test(specifier) || specifier === "bun") return { ...edge, to: specifier, target: "builtin" };
  if (/^\.\.?(\/|$)/.test(specifier)) {
    return { ...edge, to: posix.join(posix.dirname(from), specifier), target: "file" };
  }
  return { ...edge, to: specifier, target: "package" };
}

/** The package that a specifier belongs to: `hono/body-limit` → `hono`. */
export function packageOf(specifier: string): string {
  const [, name] = /^(?:npm:)?((?:@[^/]+\/)?[^/@]+)/.exec(specifier) ?? [];
  return name ?? specifier;
}

/** One cycle for each import that closes one, as the edges it is made of; none exactly when there is none. */
export function findCycles({ files, edges }: ImportGraph): readonly (readonly Edge[])[] {
  const out = Map.groupBy(
    edges.filter((edge) => edge.target === "file" && files.has(edge.to)),
    (edge) => edge.from,
  );
  const cycles: Edge[][] = [];
  const settled = new Set<string>();
  const trail: Edge[] = [];
  const visit = (path: string, above: ReadonlySet<string>): void => {
    for (const edge of out.get(path) ?? []) {
      if (above.has(edge.to)) {
        const start = edge.to === path ? trail.length : trail.findIndex((step) => step.from === edge.to);
        cycles.push([...trail.slice(start), edge]);
      } else if (!settled.has(edge.to)) {
        trail.push(edge);
        visit(edge.to, new Set([...above, edge.to]));
        trail.pop();
      }
    }
    settled.add(path);
  };
  for (const path of files.keys()) if (!settled.has(path)) visit(path, new Set([path]));
  return cycles;
}

/** Every edge that is followed when `entry` is loaded, each with the chain of files that leads to it. */
export function loadedBy(graph: ImportGraph, entry: string): readonly { edge: Edge; chain: readonly string[] }[] {
  const out = Map.groupBy(
    graph.edges.filter((edge) => edge.kind === "static"),
    (edge) => edge.from,
  );
  const chains = new Map<string, readonly string[]>([[entry, [entry]]]);
  const found: { edge: Edge; chain: readonly string[] }[] = [];
  for (const [path, chain] of chains) {
    for (const edge of out.get(path) ?? []) {
      found.push({ edge, chain: [...chain, edge.to] });
      if (edge.target === "file" && !chains.has(edge.to)) chains.set(edge.to, [...chain, edge.to]);
    }
  }
  return found;
}
