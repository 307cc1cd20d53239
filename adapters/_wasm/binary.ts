/**
 * Pure: what a WASM binary is and asks for, read from its sections, without compiling it.
 *
 * Sources: WebAssembly core specification, "Binary Format"; component model, "Binary.md".
 */

import { Malformed, Reader } from "./reader.ts";

/** A linear memory that a module defines or imports. Sizes in bytes. */
export interface DeclaredMemory {
  readonly minimum: number;
  /** Shared between threads. */
  readonly shared: boolean;
  readonly imported: boolean;
}

/** One import or export; `module` is empty where a component names it in one part. */
export interface Named {
  readonly module: string;
  readonly name: string;
}

/** A binary as its sections tell of it. */
export interface Binary {
  readonly kind: "module" | "component";
  readonly imports: readonly Named[];
  readonly exports: readonly string[];
  /** Of a component: those of all modules in it. */
  readonly memories: readonly DeclaredMemory[];
  /** How many tables there are, counted likewise. */
  readonly tables: number;
}

export { Malformed } from "./reader.ts";

const magic = "\0asm";
const headerBytes = 8;
const pageBytes = 64 * 1024;
const mostDepth = 20;

/**
 * @throws Malformed with what is wrong with it, as the end of a sentence that begins with its name.
 * @example
 * ```ts
 * const smallest = new Uint8Array([0x00, 0x61, 0x73, 0x6d, 0x01, 0x00, 0x00, 0x00]);
 * readBinary(smallest).kind; // → "module"
 * ```
 */
export function readBinary(bytes: Uint8Array, depth = 0): Binary {
  if (depth > mostDepth) throw new Malformed(`components are nested in it more than ${mostDepth} deep`);
  if (bytes.length === 0) throw new Malformed("it is empty");
  const begins = String.fromCharCode(...bytes.subarray(0, magic.length));
  if (begins !== magic.slice(0, bytes.length))
    throw new Malformed("it is no WASM binary: it does not begin with \\0asm");
  if (bytes.length < headerBytes) throw new Malformed("it is cut off in its header");
  const [version, , layer] = bytes.subarray(4, headerBytes);
  const sections = new Reader(bytes, headerBytes);
  if (layer === 0) {
    if (version !== 1) throw new Malformed(`it is a module of version ${version}: version 1 is known`);
    return { kind: "module", ...readModule(sections) };
  }
  if (layer === 1) {
    if (version !== 0x0d) throw new Malformed(`it is a component of version ${version}: version 13 is known`);
    return { kind: "component", ...readComponent(sections, depth) };
  }
  throw new Malformed(`its layer ${layer} is neither a module's nor a component's`);
}

type Content = Omit<Binary, "kind">;

/** Hands each section's content to `read`, by its number. */
function eachSection(sections: Reader, read: (id: number, content: Reader) => void): void {
  while (!sections.isAtEnd) {
    const id = sections.byte();
    read(id, sections.part(sections.number()));
  }
}

function readModule(sections: Reader): Content {
  const imports: Named[] = [];
  const exports: string[] = [];
  const memories: DeclaredMemory[] = [];
  let tables = 0;
  eachSection(sections, (id, content) => {
    if (id === 2)
      content.each(() => {
        imports.push({ module: content.name(), name: content.name() });
        const imported = readImportedType(content);
        if (imported === "table") tables += 1;
        else if (imported !== null) memories.push(imported);
      });
    if (id === 4) tables += content.number();
    if (id === 5) content.each(() => memories.push(readMemory(content, false)));
    if (id === 7)
      content.each(() => {
        exports.push(content.name());
        content.byte();
        content.number();
      });
  });
  return { imports, exports, memories, tables };
}

/** What takes memory of the host; `null` for the rest. */
function readImportedType(content: Reader): DeclaredMemory | "table" | null {
  const kind = content.byte();
  switch (kind) {
    case 0x00:
      content.number();
      return null;
    case 0x01:
      skipReferenceType(content);
      readLimits(content);
      return "table";
    case 0x02:
      return readMemory(content, true);
    case 0x03:
      skipReferenceType(content);
      content.byte();
      return null;
    case 0x04:
      content.byte();
      content.number();
      return null;
    default:
      throw new Malformed(`it imports something of the unknown kind ${kind}`);
  }
}

/** A value's type is one byte, but for references to a type, which say which. */
function skipReferenceType(content: Reader): void {
  const type = content.byte();
  if (type === 0x63 || type === 0x64) content.number();
}

function readMemory(content: Reader, imported: boolean): DeclaredMemory {
  const { minimum, shared, pageLog2 } = readLimits(content);
  return { minimum: minimum * (pageLog2 === null ? pageBytes : 2 ** pageLog2), shared, imported };
}

function readLimits(content: Reader) {
  const flags = content.byte();
  const minimum = content.number();
  if ((flags & 0x01) !== 0) content.number();
  const pageLog2 = (flags & 0x08) === 0 ? null : content.number();
  return { minimum, shared: (flags & 0x02) !== 0, pageLog2 };
}

function readComponent(sections: Reader, depth: number): Content {
  const imports: Named[] = [];
  const exports: string[] = [];
  const memories: DeclaredMemory[] = [];
  let tables = 0;
  eachSection(sections, (id, content) => {
    if (id === 1 || id === 4) {
      const inner = readBinary(content.rest(), depth + 1);
      for (const memory of inner.memories) memories.push(memory);
      tables += inner.tables;
    }
    if (id === 10)
      content.each(() => {
        imports.push({ module: "", name: readExternName(content) });
        skipExternType(content);
      });
    if (id === 11)
      content.each(() => {
        exports.push(readExternName(content));
        if (content.byte() === 0x00) content.byte();
        content.number();
        if (content.byte() === 0x01) skipExternType(content);
      });
  });
  return { imports, exports, memories, tables };
}

function readExternName(content: Reader): string {
  const form = content.byte();
  const name = content.name();
  if (form === 0x01 || form === 0x00) return name;
  if (form !== 0x02) throw new Malformed(`a name in it has the unknown form ${form}`);
  // Options of the name: each is a kind and a text.
  content.each(() => {
    content.byte();
    content.name();
  });
  return name;
}

function skipExternType(content: Reader): void {
  const sort = content.byte();
  switch (sort) {
    case 0x00:
      content.byte();
      content.number();
      return;
    case 0x02:
    case 0x03:
      // A bound: equal to a type, or in the case of a type any resource.
      if (content.byte() === 0x00 || sort === 0x02) content.number();
      return;
    case 0x01:
    case 0x04:
    case 0x05:
      content.number();
      return;
    default:
      throw new Malformed(`it imports or exports something of the unknown kind ${sort}`);
  }
}
