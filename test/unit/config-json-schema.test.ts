/** The JSON Schema takes what the validation takes, and refuses what a schema can. */

import { parse as parseToml } from "smol-toml";
import { describe, expect, test } from "vitest";
import { configJsonSchema, type JsonSchema } from "../../src/config/json-schema.ts";
import { defaultConfig } from "../../src/config.ts";
import { at, definition, keys, parse, refusal, toml } from "./config-sample.ts";
import { accepts } from "./json-schema-draft7.ts";

const schema = JSON.parse(JSON.stringify(configJsonSchema(definition))) as JsonSchema;
const takes = (text: string) => accepts(schema, JSON.parse(JSON.stringify(parseToml(text))));

describe("the JSON Schema", () => {
  test("takes nothing at all, and every default", () => {
    expect(accepts(schema, {})).toBe(true);
    expect(accepts(schema, JSON.parse(JSON.stringify(defaultConfig(definition))))).toBe(true);
  });

  test.each(keys)("takes %s", (path, _, written) => {
    expect(takes(toml(path, written))).toBe(true);
  });

  test.each(keys)("says what %s is for, and its default", (path, fallback) => {
    const steps = path.split(".");
    const inner = (found: JsonSchema, step: string) =>
      (at(found, `properties.${step}`) ?? at(found, "additionalProperties")) as JsonSchema;
    const found = steps.reduce(inner, schema);
    const described = found["description"] === undefined ? steps.slice(0, -1).reduce(inner, schema) : found;
    expect(described["description"]).toMatch(/^\S.{10,}[^.]$/);
    if (fallback !== undefined) expect(found).toHaveProperty("default");
  });

  test.each([
    "runtime.kind = 'docker'",
    "runtime.docker.memory_limit_mb = 256",
    "[runtime.wasm.capabilities]\ntimeout_secs = 3\nmax_memory_mb = 16",
    "[security.sandbox.bubblewrap]\nwritable_paths = ['/x']\nreadonly_paths = []\nallow_network = true",
    "[tools.custom.x]\ntype = 'command'\ncommand = 'x'\nmemory_limit_mb = 16",
    "[tools.custom.x]\ntype = 'wasm'\nmodule = 'x'\ncapabilities = { network = false }",
  ])("takes another spelling, and tools: %j", (text) => {
    expect(parse(text)).toBeDefined();
    expect(takes(text)).toBe(true);
  });

  test.each([
    "runtime.kind = 'docker'\nruntime.backend = 'docker'",
    "runtime.docker.memory_limit_mb = 256\nruntime.docker.memory_limit = '256m'",
    "runtime.wasm.timeout_secs = 3\nruntime.wasm.capabilities.timeout_secs = 3",
    "security.sandbox.allow_network = true\nsecurity.sandbox.bubblewrap.allow_network = true",
    "runtime.bakend = 'docker'",
    "runtime.backend = 'dokcer'",
    "bogus = 1",
    "security.sandbox.bubblewrap.backend = 'none'",
    "runtime.docker.pids_limit = -1",
    "runtime.docker.memory_limit = true",
    "runtime.env_whitelist = 'PATH'",
    "[tools.custom.x]\ntype = 'command'",
    "[tools.custom.x]\ntype = 'wasm'\nmodule = 'x'\nimage = 'i'",
    "[tools.custom.'bad name']\ntype = 'wasm'\nmodule = 'x'",
    "[[runtime.kubernetes.tolerations]]\nefect = 'NoSchedule'",
  ])("refuses what the validation refuses: %j", (text) => {
    expect(refusal(() => parse(text))).toBeDefined();
    expect(takes(text)).toBe(false);
  });

  test("closes every table", () => {
    const open: string[] = [];
    const visit = (part: unknown, path: string): void => {
      if (typeof part !== "object" || part === null) return;
      if ("properties" in part && "type" in part && !("additionalProperties" in part)) open.push(path);
      for (const [name, inner] of Object.entries(part)) visit(inner, `${path}/${name}`);
    };
    visit(schema, "");
    expect(open).toEqual([]);
  });
});
