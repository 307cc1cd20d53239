/** Reads one TypeScript file into the facts that the house rules are about: what it imports, and what it may not hold. */

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { parseSync, Visitor } from "oxc-parser";

/** One edge of the import graph, as written. */
export interface SourceImport {
  /** `null` where it is computed at run time. */
  readonly specifier: string | null;
  /** `static` runs when the file is loaded, `dynamic` on demand, `type` never. */
  readonly kind: "static" | "dynamic" | "type";
  readonly line: number;
}

export interface SourceFile {
  /** Relative to the root, `/` between its parts. */
  readonly path: string;
  readonly lines: number;
  readonly imports: readonly SourceImport[];
  /** What the rules forbid, each with the line it stands on. */
  readonly forbidden: readonly { readonly line: number; readonly what: string }[];
}

interface Literal {
  readonly type: string;
  readonly value?: unknown;
  readonly start: number;
}

const forbiddenComment = /\b(TODO|FIXME|XXX)\b|@ts-(ignore|nocheck)\b/;

/** Parses a file below `root`. Throws when it is no valid TypeScript. */
export function readSourceFile(root: string, path: string): SourceFile {
  const source = readFileSync(join(root, path), "utf8");
  const { program, comments, errors } = parseSync(path, source);
  const broken = errors[0];
  if (broken) throw new Error(`${path} does not parse: ${broken.message}`);
  const lineAt = lineFinder(source);
  const imports: SourceImport[] = [];
  const forbidden: { line: number; what: string }[] = [];

  const add = (from: Literal, kind: SourceImport["kind"]): void => {
    imports.push({ specifier: textOf(from), kind, line: lineAt(from.start) });
  };
  // `import { type A }` keeps its module: only `import type` is erased.
  const kindOf = (written: string | undefined) => (written === "type" ? "type" : "static");

  new Visitor({
    ImportDeclaration: (node) => add(node.source, kindOf(node.importKind)),
    ExportAllDeclaration: (node) => add(node.source, kindOf(node.exportKind)),
    ExportNamedDeclaration: (node) => {
      if (node.source) add(node.source, kindOf(node.exportKind));
    },
    ImportExpression: (node) => add(node.source, "dynamic"),
    TSImportType: (node) => add(node.source, "type"),
    CallExpression: (node) => {
      const first = node.arguments[0];
      if (node.callee.type === "Identifier" && node.callee.name === "require" && first) add(first, "dynamic");
    },
    TSAnyKeyword: (node) => {
      forbidden.push({ line: lineAt(node.start), what: "`any`" });
    },
  }).visit(program);

  for (const comment of comments) {
    const found = forbiddenComment.exec(comment.value);
    if (found) forbidden.push({ line: lineAt(comment.start + 2 + found.index), what: `\`${found[0]}\`` });
  }
  const lines = source.split("\n").length - (source.endsWith("\n") ? 1 : 0);
  return { path, lines, imports, forbidden };
}

function textOf(node: Literal): string | null {
  return node.type === "Literal" && typeof node.value === "string" ? node.value : null;
}

function lineFinder(source: string): (offset: number) => number {
  const starts = [0];
  for (let at = source.indexOf("\n"); at !== -1; at = source.indexOf("\n", at + 1)) starts.push(at + 1);
  return (offset) => {
    const after = starts.findIndex((start) => start > offset);
    return after === -1 ? starts.length : after;
  };
}
