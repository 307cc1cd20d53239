/**
 * Refuses names that would become code. jco writes the names of what core modules import and export into the JavaScript that
 * it generates, between quotes and as they are: a name with a quote in it ends the string, and the rest of it would run
 * outside of the sandbox.
 */

import { isComponent, Reader, type Section, sectionsOf } from "./binary.ts";
import { importSection, readImports } from "./core-imports.ts";

const unsafe = /['"`\\\u2028\u2029]|[\u0000-\u001f\u007f]/;

/** Whether a name stays a name between any quotes. */
export function isSafeName(name: string): boolean {
  return !unsafe.test(name);
}

/**
 * @param bytes a core module or a component
 * @throws Error which tells the first name that jco would turn into code.
 */
export function checkCoreNames(bytes: Uint8Array): void {
  for (const name of coreNames(bytes)) {
    if (isSafeName(name)) continue;
    throw new Error(
      `It imports or exports ${JSON.stringify(name)}: names with quotes, backslashes or control characters are refused`,
    );
  }
}

/** Sections of a component in which core names stand, themselves or in what is inside of them. */
const coreModule = 1;
const coreInstances = 2;
const component = 4;

function* coreNames(bytes: Uint8Array): Generator<string> {
  const inComponent = isComponent(bytes);
  for (const section of sectionsOf(bytes)) {
    if (!inComponent) yield* namesOfModule(section);
    else if (section.id === coreModule || section.id === component) yield* coreNames(section.bytes);
    else if (section.id === coreInstances) yield* namesOfInstances(new Reader(section.bytes));
  }
}

const exportSection = 7;

function* namesOfModule({ id, bytes }: Section): Generator<string> {
  const reader = new Reader(bytes);
  if (id === importSection) {
    for (const { module, name } of readImports(reader)) yield* [module, name];
  } else if (id === exportSection) {
    for (let left = reader.number(); left > 0; left -= 1) {
      yield reader.name();
      reader.byte();
      reader.big();
    }
  }
}

function* namesOfInstances(reader: Reader): Generator<string> {
  for (let left = reader.number(); left > 0; left -= 1) {
    const isMade = reader.byte() === 0x00;
    if (isMade) reader.big();
    for (let names = reader.number(); names > 0; names -= 1) {
      yield reader.name();
      reader.byte();
      reader.big();
    }
  }
}
