/** Every key of the configuration: defaults, spellings, what was written, and what nobody can do to it. */

import fc from "fast-check";
import { describe, expect, expectTypeOf, test } from "vitest";
import { dockerFragment } from "../../adapters/docker.fragment.ts";
import { nativeFragment } from "../../adapters/native.fragment.ts";
import { wasmFragment } from "../../adapters/wasm.fragment.ts";
import { fragment, key, table, text } from "../../src/config/fragment.ts";
import { type Shape, shapeOf } from "../../src/config/shape.ts";
import {
  type Config,
  defaultConfig,
  defineConfig,
  sectionOf,
  toolNames,
  validateConfig,
  writtenKeys,
} from "../../src/config.ts";
import { at, definition, keys, parse, refusal, toml } from "./config-sample.ts";

const defaults = defaultConfig(definition);

describe("every key", () => {
  test.each(keys)("%s", (path, fallback, written, value) => {
    expect(at(defaults, path)).toEqual(fallback);
    const config = parse(toml(path, written));
    expect(at(config, path)).toEqual(value);
    expect(writtenKeys(config)).toContain(path);
  });

  test("none is missing from this list", () => {
    const listed = new Set(keys.map(([path]) => path));
    const found: string[] = [];
    const visit = (shape: Shape, path: string): void => {
      if (shape.kind === "named" && path !== "tools.custom") found.push(path);
      if (shape.kind === "value" || shape.kind === "list") found.push(path);
      if (shape.kind !== "table") return;
      for (const [name, entry] of shape.entries) visit(shapeOf(entry), path === "" ? name : `${path}.${name}`);
    };
    visit(shapeOf(definition.schema), "");
    expect(found.length).toBeGreaterThan(60);
    expect(
      found.filter((path) => ![...listed].some((known) => known === path || known.startsWith(`${path}.`))),
    ).toEqual([]);
  });
});

describe("other spellings", () => {
  test.each([
    ["runtime.kind", '"wasm"', "runtime.backend", "wasm"],
    ["runtime.docker.memory_limit_mb", "512", "runtime.docker.memory_limit", 536_870_912],
    ["runtime.kubernetes.memory_limit_mb", "512", "runtime.kubernetes.memory_limit", 536_870_912],
    ["runtime.wasm.capabilities.timeout_secs", "7", "runtime.wasm.timeout_secs", 7],
    ["runtime.wasm.capabilities.max_memory_mb", "64", "runtime.wasm.max_memory_mb", 64],
    ["security.sandbox.bubblewrap.allow_network", "true", "security.sandbox.allow_network", true],
    ["security.sandbox.bubblewrap.writable_paths", '["/tmp"]', "security.sandbox.writable_paths", ["/tmp"]],
    ["security.sandbox.bubblewrap.readonly_paths", '["/usr"]', "security.sandbox.readonly_paths", ["/usr"]],
  ])("%s", (path, written, canonical, value) => {
    const config = parse(toml(path, written));
    expect(at(config, canonical)).toEqual(value);
    expect(at(config, path)).toBeUndefined();
    expect([...writtenKeys(config)]).toEqual([canonical]);
    const both = `${canonical} = ${written}\n${path} = ${written}\n`;
    expect(refusal(() => parse(both))).toContain(
      `${path.split(".").at(-1)}: It is another spelling of ${canonical}: give only one`,
    );
  });

  test("the original samples are understood as they are", () => {
    const config = parse(`
      [runtime]
      backend = "wasm"
      [runtime.wasm]
      engine = "wasmtime"
      module_path = "~/.local/share/openprx/wasm/"
      [runtime.wasm.capabilities]
      filesystem_read = ["/workspace"]
      filesystem_write = ["/tmp"]
      network = false
      env_vars = ["HOME", "USER"]
      timeout_secs = 30
      max_memory_mb = 128
      [security.sandbox]
      backend = "bubblewrap"
      [security.sandbox.bubblewrap]
      allow_network = false
      writable_paths = ["/tmp"]
      readonly_paths = ["/usr", "/lib"]
    `);
    expect(config.runtime.wasm.timeout_secs).toBe(30);
    expect(config.security.sandbox.readonly_paths).toEqual(["/usr", "/lib"]);
  });
});

describe("what is validated", () => {
  test("is frozen to its depth", () => {
    const isFrozen = (value: unknown): boolean =>
      typeof value !== "object" || value === null || (Object.isFrozen(value) && Object.values(value).every(isFrozen));
    expect(isFrozen(defaults)).toBe(true);
    expect(isFrozen(parse('[runtime.kubernetes]\ntolerations = [{ operator = "Exists" }]'))).toBe(true);
  });

  test("is answered as it is when it is validated again", () => {
    const config = parse('runtime.backend = "native"');
    expect(validateConfig(definition, config)).toBe(config);
  });

  test("keeps what was written under another definition, and takes no default for a wish", () => {
    const small = defineConfig([nativeFragment]);
    const config = validateConfig(definition, validateConfig(small, { runtime: { native: { shell: "/bin/sh" } } }));
    expect(config.runtime.native.shell).toBe("/bin/sh");
    expect([...writtenKeys(config)]).toEqual(["runtime.native.shell"]);
  });

  test("is not what a caller can change afterwards", () => {
    const whitelist = ["PATH"];
    const config = validateConfig(definition, { runtime: { env_whitelist: whitelist } });
    whitelist.push("SECRET");
    expect(config.runtime.env_whitelist).toEqual(["PATH"]);
  });

  test("means the same as an object as it does as TOML", () => {
    const config = validateConfig(definition, {
      runtime: { kind: "docker", docker: { memory_limit_mb: 16, image: undefined } },
    });
    expect(config.runtime.backend).toBe("docker");
    expect(config.runtime.docker).toMatchObject({ memory_limit: 16 * 2 ** 20, image: "debian:bookworm-slim" });
    expect([...writtenKeys(config)].toSorted()).toEqual(["runtime.backend", "runtime.docker.memory_limit"]);
  });

  test("is validated the same once more, from its values alone", () => {
    const copy = validateConfig(definition, JSON.parse(JSON.stringify(defaults)));
    expect(JSON.stringify(copy)).toBe(JSON.stringify(defaults));
  });

  test("has the types it says", () => {
    expectTypeOf(defaults.runtime.docker.memory_limit).toEqualTypeOf<number>();
    expectTypeOf(defaults.runtime.wasm.engine).toEqualTypeOf<"auto" | "jco" | "wasmtime" | "wasmer">();
    expectTypeOf(defaults).toExtend<Config>();
  });
});

describe("written keys", () => {
  test("of nobody are none", () => {
    expect(writtenKeys(defaults).size).toBe(0);
    expect(writtenKeys(parse("[runtime]\n[runtime.docker]\n")).size).toBe(0);
  });

  test("are leaves, and quoted where TOML quotes", () => {
    const config = parse(
      '[runtime.kubernetes.labels]\n"prx.example/team" = "a"\n[tools.custom.ls]\ntype = "command"\ncommand = "ls"',
    );
    expect([...writtenKeys(config)].toSorted()).toEqual([
      'runtime.kubernetes.labels."prx.example/team"',
      "tools.custom.ls.command",
      "tools.custom.ls.type",
    ]);
  });

  test("of an object that was never validated are an error", () => {
    expect(() => writtenKeys({ ...defaults })).toThrow("was not validated");
  });
});

describe("fragments", () => {
  const audit = fragment({ name: "audit", place: "top", schema: table({ file: key(text, "Where the log goes") }) });

  test("stand at the top or under runtime", () => {
    const config = validateConfig(defineConfig([nativeFragment, audit]), { audit: { file: "/var/log/prx" } });
    expect(config.audit.file).toBe("/var/log/prx");
    expect(sectionOf(config, audit)).toBe(config.audit);
  });

  test("that are not there have no table and no backend", () => {
    const core = defineConfig([nativeFragment]);
    expect(core.backends).toEqual(["auto", "native"]);
    expect(core.tables).toEqual(["runtime", "tools", "security"]);
    const message = refusal(() => validateConfig(core, { runtime: { backend: "docker", docker: {} } }));
    expect(message).toContain('[runtime] backend = "docker": Choose one of "auto", "native"');
    expect(message).toContain("[runtime.docker]: Unknown table");
    expect(() => sectionOf(defaultConfig(core), dockerFragment)).toThrow("without the table docker");
  });

  test("cannot take each other's names", () => {
    expect(() => defineConfig([wasmFragment, wasmFragment])).toThrow("called wasm");
    expect(() => defineConfig([fragment({ name: "backend", place: "runtime", schema: table({}) })])).toThrow(
      "called backend",
    );
  });

  test("are typed wherever a configuration is", () => {
    expect(sectionOf(defaults, dockerFragment).pids_limit).toBe(100);
  });
});

describe("names that mean something to objects", () => {
  test.each(["__proto__", "constructor", "prototype"])("%s is refused by name and changes nothing", (name) => {
    for (const where of [
      "runtime",
      "runtime.native.env",
      "runtime.docker.tool_images",
      "tools.custom",
      "security.sandbox.bubblewrap",
    ]) {
      expect(refusal(() => parse(`[${where}]\n${name} = "polluted"`))).toContain(`[${where}] ${name}`);
      expect(refusal(() => parse(`[${where}.${name}]\npolluted = "yes"`))).toContain(name);
    }
    expect(refusal(() => validateConfig(definition, JSON.parse(`{"${name}": {"polluted": 1}}`)))).toContain(name);
    expect(({} as Record<string, unknown>)["polluted"]).toBeUndefined();
  });

  test("names that nobody wrote are not found", () => {
    expect(at(defaults.runtime.docker.tool_images, "constructor")).toBeUndefined();
    expect(at(defaults.tools.custom, "toString")).toBeUndefined();
    expect(toolNames(defaults).size).toBe(0);
  });
});

test("whatever is validated, nothing but a RuntimeError comes of it", () => {
  const path = fc.constantFrom(...keys.map(([name]) => name.split(".")));
  fc.assert(
    fc.property(
      path,
      fc.anything({ withBigInt: true, withDate: true, withNullPrototype: true, withMap: true }),
      (steps, value) => {
        const input = steps.reduceRight<unknown>((inner, name) => ({ [name]: inner }), value);
        try {
          validateConfig(definition, input);
        } catch (thrown) {
          expect(thrown).toMatchObject({ name: "RuntimeError", code: "config_invalid" });
        }
      },
    ),
  );
});
