/** All fixture programs, and how to invoke them. */

import type { MemoryProgram } from "../../adapters/memory.ts";
import { endingFixtures } from "./programs/ending.ts";
import type { Fixture } from "./programs/fixture.ts";
import { inputFixtures } from "./programs/input.ts";
import { outputFixtures } from "./programs/output.ts";

export type { Fixture } from "./programs/fixture.ts";

const all = [...outputFixtures, ...endingFixtures, ...inputFixtures] as const;

/** A fixture's name. */
export type FixtureName = (typeof all)[number]["name"];

/** Every fixture by its name. */
export const fixtures = Object.fromEntries(all.map((fixture) => [fixture.name, fixture])) as Readonly<
  Record<FixtureName, Fixture>
>;

/** What is run to have a fixture's behaviour. */
export interface Invocation {
  readonly command: string;
  readonly args: readonly string[];
}

/**
 * A fixture as a script of a POSIX shell.
 *
 * @example
 * ```ts
 * import { asScript } from "prx-runtime/testing";
 *
 * const { command, args } = asScript("exit-with", ["3"]);
 * console.log(command, args);
 * // → sh [ '-c', 'exit "$1"', 'exit-with', '3' ]
 * ```
 */
export function asScript(name: FixtureName, args: readonly string[] = []): Invocation {
  return { command: "sh", args: ["-c", fixtures[name].script, name, ...args] };
}

/** A fixture as a program of the memory backend. */
export function asTwin(name: FixtureName, args: readonly string[] = []): Invocation {
  return { command: name, args };
}

/** Every twin, as {@link memory} takes them. */
export const twins: Readonly<Record<FixtureName, MemoryProgram>> = Object.fromEntries(
  all.map(({ name, twin }) => [name, twin]),
) as Record<FixtureName, MemoryProgram>;
