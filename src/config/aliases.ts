/** Other spellings of keys: found, checked against the key itself, and turned into it. */

import * as v from "valibot";
import { nearest } from "../nearest.ts";
import { dotted, type Path, type Problem, show } from "./problems.ts";
import { factsOf, isTable } from "./shape.ts";
import type { Alias, Schema } from "./values.ts";

type Table = Readonly<Record<string, unknown>>;

/** Where the other spellings of a table's keys are: by their first name, the names below it, or `undefined` for itself. */
export function aliasesOf(entries: Iterable<Schema>): ReadonlyMap<string, readonly (string | undefined)[]> {
  const found = new Map<string, (string | undefined)[]>();
  for (const entry of entries) {
    for (const { path } of factsOf(entry).aliases ?? []) {
      const [first, second] = path;
      found.set(first, [...(found.get(first) ?? []), second]);
    }
  }
  return found;
}

/** The one value of a key among its spellings; `undefined` where there is none, or where what there is was refused. */
export function findKey(
  name: string,
  { entry, input, path }: { entry: Schema; input: Table; path: Path },
  { problems, spellings }: { problems: Problem[]; spellings: Map<string, Path> },
): unknown {
  const own = Object.hasOwn(input, name) ? input[name] : undefined;
  const others = (factsOf(entry).aliases ?? []).filter((alias) => valueAt(input, alias) !== undefined);
  const [other] = others;
  if (other === undefined) return own;
  const canonical = dotted([...path, name]);
  const spelling = [...path, ...other.path];
  if (own !== undefined || others.length > 1) {
    problems.push({ path: spelling, message: `It is another spelling of ${canonical}: give only one of them` });
    return undefined;
  }
  spellings.set(canonical, spelling);
  const value = valueAt(input, other);
  if (other.schema === undefined) return value;
  const read = v.safeParse(other.schema, value);
  if (read.success) return read.output;
  problems.push(...read.issues.map(({ message }) => ({ path: spelling, message, shown: show(value) })));
  return undefined;
}

/** Refuses what is in a table that exists only for the sake of other spellings and is none of them. */
export function refuseOthers(
  value: unknown,
  { path, others }: { path: Path; others: readonly (string | undefined)[] },
  { problems }: { problems: Problem[] },
): void {
  if (others.includes(undefined)) return;
  const names = others.filter((name) => name !== undefined);
  if (!isTable(value)) {
    problems.push({ path, message: "Give a table", shown: show(value) });
    return;
  }
  for (const name of Object.keys(value)) {
    if (value[name] === undefined || names.includes(name)) continue;
    const near = nearest(name, names);
    const advice =
      near === undefined ? `choose one of ${names.join(", ")}, or leave it out` : `the nearest right name is ${near}`;
    problems.push({ path: [...path, name], message: `Unknown key: ${advice}` });
  }
}

function valueAt(input: Table, { path: [first, second] }: Alias): unknown {
  const value = Object.hasOwn(input, first) ? input[first] : undefined;
  if (second === undefined) return value;
  return isTable(value) && Object.hasOwn(value, second) ? value[second] : undefined;
}
