/** The kinds of value a key of the configuration can have, each with a message that says what is right. */

import * as v from "valibot";
import { nearest } from "../nearest.ts";
import { parseCores, parseSize, secondsToMs } from "../units.ts";

/** Any schema of a key or table. */
export type Schema = v.GenericSchema;

/** What there is to say of a key besides its type. Declared once, at the key, and read by everything that shows or checks it. */
export interface KeyFacts {
  /** The value, or each value of the table, is replaced by `"<redacted>"` wherever the configuration is shown. */
  readonly secret?: true;
  /** A wrong value is not repeated in errors, because it may hold a secret in its midst. */
  readonly unquoted?: true;
  /** How a person writes the number: only for showing. */
  readonly unit?: "size";
  /** The names in the table are names of tools. */
  readonly namesTools?: true;
  readonly aliases?: readonly Alias[];
}

/** Another spelling of a key. Giving both is an error. */
export interface Alias {
  /** Where it is written, from the table of the key it stands for. */
  readonly path: readonly [table: string, key: string] | readonly [key: string];
  /** Reads a value that is written another way there, and answers one in the key's own way. */
  readonly schema?: Schema;
}

/** A key with what the reference says of it. */
export function key<S extends Schema>(schema: S, description: string, facts: KeyFacts = {}): S {
  // The pipe only adds notes: input and output stay those of the schema, and so does its type.
  return v.pipe(schema as Schema, v.description(description), v.metadata({ ...facts })) as unknown as S;
}

/** Another spelling: a key of the same table, or `table.key` one below it. */
export function alias(path: string, schema?: Schema): Alias {
  const [first = path, second] = path.split(".");
  const steps = second === undefined ? ([first] as const) : ([first, second] as const);
  return schema === undefined ? { path: steps } : { path: steps, schema };
}

/** What stands for a secret wherever a configuration is shown. */
export const redacted = "<redacted>";

/** For values that can be secret: a shown configuration that is read again must not set its secrets to the mark. */
export const notRedacted = v.check<string, string>(
  (value) => value !== redacted,
  `Give the value itself in place of the mark ${redacted}`,
);

export const flag = v.boolean("Give true or false");

/** Text of at least one character, without a NUL byte. */
export const text = v.pipe(
  v.string("Give a string in quotes"),
  v.minLength(1, "Give at least one character"),
  v.check((value) => !value.includes("\0"), "Leave out the NUL byte"),
);

/** Text that has the shape of `pattern`. */
export function textLike(pattern: RegExp, message: string) {
  return v.pipe(v.string(message), v.regex(pattern, message));
}

/** One of several words; a wrong one is answered with the nearest right one. */
export function oneOf<const Options extends readonly string[]>(options: Options) {
  const choice = `Choose one of ${options.map((option) => `"${option}"`).join(", ")}`;
  return v.picklist(options, ({ input }) => {
    const near = typeof input === "string" ? nearest(input, options) : undefined;
    return near === undefined ? choice : `${choice}; the nearest is "${near}"`;
  });
}

/** A whole number that is counted in `what`. */
export function whole(what: string, min: number, max = Number.MAX_SAFE_INTEGER) {
  const message = `Give a whole number of ${what}, ${max === Number.MAX_SAFE_INTEGER ? `${min} or more` : `${min} to ${max}`}`;
  return v.pipe(v.number(message), v.safeInteger(message), v.minValue(min, message), v.maxValue(max, message));
}

/** Seconds, fractions included. */
export function seconds(zero: "0 means no limit" | "0 means at once") {
  const message = `Give a number of seconds, 0 or more; ${zero}`;
  return v.pipe(v.number(message), v.minValue(0, message), v.check(succeeds(secondsToMs), message));
}

/** Seconds, fractions included, where nothing is no time. */
export const someSeconds = v.pipe(
  seconds("0 means no limit"),
  v.check((value) => value > 0, "Give more than 0 seconds"),
);

/** A size in the one unit system; bytes once it is read. */
export function size(least: string) {
  const message = `Give a size such as "256m" or "1g", or a number of bytes, at least ${least}`;
  return v.pipe(
    v.union([v.string(), v.number()], message),
    v.check(succeeds(parseSize), message),
    v.transform(parseSize),
    v.minValue(parseSize(least), message),
  );
}

/** Mebibytes written as a number, for the aliases that end in `_mb`; bytes once they are read. */
export const mebibytes = v.pipe(
  whole("mebibytes", 1, 2 ** 33),
  v.transform((count) => count * 2 ** 20),
);

/** A share of the processors; cores once it is read. */
export function cores(least: string) {
  const message = `Give a number of cores such as "1.5", 1.5 or "500m", at least ${least} and in steps of 0.001`;
  return v.pipe(
    v.union([v.string(), v.number()], message),
    v.check(succeeds(parseCores), message),
    v.transform(parseCores),
    v.minValue(parseCores(least), message),
  );
}

/** A table whose names are the operator's own. What comes back has no prototype, so that no name finds what nobody wrote. */
export function named<const S extends Schema>(names: v.GenericSchema<string, string>, values: S) {
  return v.pipe(
    v.record(names, values, "Give a table"),
    v.transform((table): Record<string, v.InferOutput<S>> => Object.assign(Object.create(null), table)),
  );
}

export function list<S extends Schema>(item: S) {
  return v.array(item, "Give a list in square brackets");
}

function succeeds<Input>(read: (input: Input) => unknown): (input: Input) => boolean {
  return (input) => {
    try {
      read(input);
      return true;
    } catch {
      return false;
    }
  };
}
