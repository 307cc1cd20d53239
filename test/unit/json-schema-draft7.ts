/** As much of JSON Schema's draft 7 as ours uses; a keyword it does not know is an error. */

type Json = Readonly<Record<string, unknown>>;
type Rule = (argument: never, value: unknown, schema: Json) => boolean;

const isObject = (value: unknown): value is Json =>
  typeof value === "object" && value !== null && !Array.isArray(value);
const forNumbers = (holds: (value: number, bound: number) => boolean) => (bound: number, value: unknown) =>
  typeof value !== "number" || holds(value, bound);

const rules: Readonly<Record<string, Rule>> = {
  type: (type: string, value) => {
    if (type === "object") return isObject(value);
    if (type === "array") return Array.isArray(value);
    return type === "integer" ? Number.isInteger(value) : typeof value === type;
  },
  enum: (values: readonly unknown[], value) => values.includes(value),
  const: (constant: unknown, value) => constant === value,
  minimum: forNumbers((value, bound) => value >= bound),
  maximum: forNumbers((value, bound) => value <= bound),
  minLength: (length: number, value) => typeof value !== "string" || value.length >= length,
  pattern: (pattern: string, value) => typeof value !== "string" || new RegExp(pattern, "u").test(value),
  items: (items: Json, value) => !Array.isArray(value) || value.every((item) => accepts(items, item)),
  properties: (properties: Readonly<Record<string, Json>>, value) =>
    !isObject(value) ||
    Object.entries(properties).every(([name, schema]) => !Object.hasOwn(value, name) || accepts(schema, value[name])),
  propertyNames: (names: Json, value) => !isObject(value) || Object.keys(value).every((name) => accepts(names, name)),
  additionalProperties: (rest: Json | false, value, { properties = {} }) =>
    !isObject(value) ||
    Object.entries(value).every(
      ([name, part]) => Object.hasOwn(properties as Json, name) || (rest !== false && accepts(rest, part)),
    ),
  required: (names: readonly string[], value) => !isObject(value) || names.every((name) => Object.hasOwn(value, name)),
  allOf: (schemas: readonly Json[], value) => schemas.every((schema) => accepts(schema, value)),
  anyOf: (schemas: readonly Json[], value) => schemas.some((schema) => accepts(schema, value)),
  oneOf: (schemas: readonly Json[], value) => schemas.filter((schema) => accepts(schema, value)).length === 1,
  not: (schema: Json, value) => !accepts(schema, value),
  $schema: () => true,
  title: () => true,
  description: () => true,
  default: () => true,
};

/** Whether a value is right by a schema. */
export function accepts(schema: Json, value: unknown): boolean {
  return Object.entries(schema).every(([keyword, argument]) => {
    const rule = rules[keyword];
    if (rule === undefined) throw new Error(`Unknown keyword ${keyword}`);
    return rule(argument as never, value, schema);
  });
}
