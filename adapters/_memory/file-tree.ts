/** A file system in memory: absolute paths, directories, files and symbolic links, enough for working directories. */

import type { PathKind } from "../../src/host.ts";

type Node =
  | { readonly kind: "file"; readonly bytes: Uint8Array; readonly executable: boolean }
  | { readonly kind: "directory" }
  | { readonly kind: "link"; readonly target: string };

export interface MemoryFilesOptions {
  /** Content by absolute path; `null` makes a directory. Without it every directory exists. */
  readonly initial?: Readonly<Record<string, string | Uint8Array | null>>;
}

/** Paths are absolute, `/` between their parts. A fault throws an `Error` whose message names the path. */
export interface MemoryFiles {
  /** Whether a path that was never written counts as a directory. */
  readonly open: boolean;
  /** The path without links, and what is there. Never throws. */
  inspect(path: string): { readonly kind: PathKind; readonly realPath: string; readonly executable: boolean };
  read(path: string): Uint8Array;
  /** Makes the directories on the way. */
  write(path: string, content: string | Uint8Array, options?: { readonly executable?: boolean }): void;
  append(path: string, content: string | Uint8Array): void;
  makeDirectory(path: string): void;
  link(path: string, target: string): void;
  /** Removes the path and all below it. */
  remove(path: string): void;
  /** Absolute paths at and below `path`, directories included, sorted. */
  list(path: string): readonly string[];
}

const encoder = new TextEncoder();

/** Without `.`, `..` and double slashes; a relative path starts at `base`. */
export function joinPath(base: string, path: string): string {
  const parts: string[] = [];
  for (const part of (path.startsWith("/") ? path : `${base}/${path}`).split("/")) {
    if (part === "..") parts.pop();
    else if (part !== "" && part !== ".") parts.push(part);
  }
  return `/${parts.join("/")}`;
}

function parentOf(path: string): string {
  return path.slice(0, path.lastIndexOf("/")) || "/";
}

export function createFiles(options: MemoryFilesOptions = {}): MemoryFiles {
  const nodes = new Map<string, Node>([["/", { kind: "directory" }]]);
  const open = options.initial === undefined;

  /** Follows links part by part, as a kernel does: `..` behind a link is the link's target's parent. */
  function realPath(path: string): string {
    let pending = path.split("/").filter((part) => part !== "" && part !== ".");
    let real = "";
    for (let hops = 0; pending.length > 0; ) {
      const [part, ...rest] = pending as [string, ...string[]];
      pending = rest;
      if (part === "..") {
        real = real.slice(0, Math.max(0, real.lastIndexOf("/")));
        continue;
      }
      const node = nodes.get(`${real}/${part}`);
      if (node?.kind !== "link") {
        real = `${real}/${part}`;
        continue;
      }
      hops += 1;
      if (hops > 40) throw new Error(`Too many symbolic links: ${path}`);
      if (node.target.startsWith("/")) real = "";
      pending = [...node.target.split("/").filter((piece) => piece !== "" && piece !== "."), ...pending];
    }
    return real === "" ? "/" : real;
  }

  function makeDirectory(path: string): void {
    const real = realPath(path);
    const node = nodes.get(real);
    if (node?.kind === "directory") return;
    if (node !== undefined) throw new Error(`Not a directory: ${path}`);
    makeDirectory(parentOf(real));
    nodes.set(real, { kind: "directory" });
  }

  function inspect(path: string): { kind: PathKind; realPath: string; executable: boolean } {
    try {
      const real = realPath(path);
      const node = nodes.get(real);
      if (node === undefined) return { kind: open ? "directory" : "missing", realPath: real, executable: false };
      const kind = node.kind === "link" ? "other" : node.kind;
      return { kind, realPath: real, executable: node.kind === "file" && node.executable };
    } catch {
      return { kind: "missing", realPath: path, executable: false };
    }
  }

  function read(path: string): Uint8Array {
    const node = nodes.get(realPath(path));
    if (node === undefined) throw new Error(`No such file: ${path}`);
    if (node.kind !== "file") throw new Error(`Not a regular file: ${path}`);
    return node.bytes.slice();
  }

  function write(path: string, content: string | Uint8Array, how: { readonly executable?: boolean } = {}): void {
    const real = realPath(path);
    if (nodes.get(real)?.kind === "directory") throw new Error(`Is a directory: ${path}`);
    makeDirectory(parentOf(real));
    const bytes = typeof content === "string" ? encoder.encode(content) : content.slice();
    nodes.set(real, { kind: "file", bytes, executable: how.executable ?? false });
  }

  function append(path: string, content: string | Uint8Array): void {
    const before = nodes.has(realPath(path)) ? read(path) : new Uint8Array();
    const more = typeof content === "string" ? encoder.encode(content) : content;
    const both = new Uint8Array(before.length + more.length);
    both.set(before);
    both.set(more, before.length);
    write(path, both);
  }

  function link(path: string, target: string): void {
    const parent = realPath(parentOf(path));
    makeDirectory(parent);
    nodes.set(joinPath(parent, path.slice(path.lastIndexOf("/") + 1)), { kind: "link", target });
  }

  const within = (path: string, root: string): boolean => path === root || path.startsWith(`${root}/`);

  for (const [path, content] of Object.entries(options.initial ?? {})) {
    if (content === null) makeDirectory(path);
    else write(path, content);
  }

  return {
    open,
    inspect,
    read,
    write,
    append,
    makeDirectory,
    link,
    remove(path) {
      for (const known of [...nodes.keys()]) if (known !== "/" && within(known, path)) nodes.delete(known);
    },
    list: (path) => [...nodes.keys()].filter((known) => within(known, path === "/" ? "" : path)).sort(),
  };
}
