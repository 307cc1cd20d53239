/** Holds the checkout to its import rules: rooms, no cycle, lazy adapters, short files, nothing forbidden in them. */

import { fileURLToPath } from "node:url";
import { type Edge, findCycles, type ImportGraph, loadedBy, packageOf, readImportGraph } from "./import-graph.ts";
import { corePackages, fragmentRule, type Room, roomOf, roomRules } from "./rooms.ts";

export interface Finding {
  readonly path: string;
  readonly line: number;
  readonly message: string;
}

const maxLines = 250;
const published = /^(src|host|adapters|k8s|cli)\/|^(mod|cli|testing)\.ts$/;

/** Everything in the checkout at `root` that breaks a rule, in order of path and line. */
export function checkImports(root: string): readonly Finding[] {
  const graph = readImportGraph(root);
  return [
    ...graph.edges.flatMap((edge) => checkEdge(graph, edge)),
    ...checkCycles(graph),
    ...checkLaziness(graph),
    ...checkFiles(graph),
  ].sort((a, b) => a.path.localeCompare(b.path) || a.line - b.line);
}

function checkEdge(graph: ImportGraph, edge: Edge): readonly Finding[] {
  const from = roomOf(edge.from);
  if (!from) return [];
  const finding = (says: string): Finding[] => [
    { path: edge.from, line: edge.line, message: `Imports ${edge.to}. Rule: ${says}` },
  ];
  if (edge.target === "file") {
    if (!graph.files.has(edge.to))
      return edge.to.endsWith(".json") ? [] : finding("A relative import names a file that exists");
    const to = roomOf(edge.to);
    const { to: allows, says } = roomRules[from.kind];
    return to && !allows(to, from, edge.kind === "dynamic") ? finding(says) : [];
  }
  return allowsOutside(from, edge) ? [] : finding((from.fragment ? fragmentRule : roomRules[from.kind]).says);
}

function allowsOutside(from: Room, edge: Edge): boolean {
  const { packages, builtins } = from.fragment ? fragmentRule : roomRules[from.kind];
  if (edge.target === "builtin") return builtins;
  // What is computed may be anything: only rooms that may load anything may compute.
  if (edge.target === "computed") return packages === "any" && builtins;
  return packages === "any" || packages.includes(packageOf(edge.to));
}

function checkCycles(graph: ImportGraph): readonly Finding[] {
  return findCycles(graph).flatMap((cycle) => {
    const [first] = cycle;
    if (!first) return [];
    const loop = [first.from, ...cycle.map((edge) => edge.to)].join(" → ");
    return [{ path: first.from, line: first.line, message: `Imports itself: ${loop}. Rule: Imports form no cycle` }];
  });
}

function checkLaziness(graph: ImportGraph): readonly Finding[] {
  return loadedBy(graph, "mod.ts").flatMap(({ edge, chain }) => {
    const room = edge.target === "file" ? roomOf(edge.to) : null;
    const heavy =
      edge.target === "package"
        ? !corePackages.some((name) => name === packageOf(edge.to))
        : room !== null && !room.fragment && (room.kind === "adapter" || room.kind === "k8s" || room.kind === "http");
    if (!heavy) return [];
    const message = `Is loaded with mod.ts: ${chain.join(" → ")}. Rule: Loading mod.ts loads no backend`;
    return [{ path: edge.from, line: edge.line, message }];
  });
}

function checkFiles(graph: ImportGraph): readonly Finding[] {
  return [...graph.files.values()].flatMap((file) => {
    const { path, lines, forbidden } = file;
    const homeless = roomOf(path) ? [] : [{ path, line: 1, message: "Stands in no room. Rule: scripts/rooms.ts" }];
    if (!published.test(path)) return homeless;
    const found: Finding[] = forbidden.map(({ line, what }) => ({
      path,
      line,
      message: `Holds ${what}. Rule: No any, no open ends and no silenced compiler in what is published`,
    }));
    if (lines > maxLines) {
      found.push({ path, line: maxLines + 1, message: `Has ${lines} lines. Rule: ${maxLines} lines at most` });
    }
    return [...homeless, ...found];
  });
}

if (import.meta.main) {
  const findings = checkImports(fileURLToPath(new URL("..", import.meta.url)).replace(/[/\\]$/, ""));
  for (const { path, line, message } of findings) console.error(`${path}:${line}: ${message}`);
  console.log(findings.length === 0 ? "Imports: every rule holds" : `Imports: ${findings.length} broken rules`);
  process.exitCode = findings.length === 0 ? 0 : 1;
}
