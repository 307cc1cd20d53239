/** The checker of the house rules, seen catching a breach of each. */

import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, describe, expect, test } from "vitest";
import { checkImports } from "../../scripts/check-imports.ts";

const roots: string[] = [];

afterEach(() => {
  for (const root of roots.splice(0)) rmSync(root, { recursive: true, force: true });
});

/** Writes a small checkout and answers what is wrong with it, as `path:line: message`. */
function judge(tree: Readonly<Record<string, string>>): readonly string[] {
  const root = mkdtempSync(join(tmpdir(), "prx-house-"));
  roots.push(root);
  for (const [path, content] of Object.entries(tree)) {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), content);
  }
  return checkImports(root).map(({ path, line, message }) => `${path}:${line}: ${message}`);
}

const empty = "export {};\n";
const sound = {
  "src/core.ts": 'import * as v from "valibot";\nimport { a } from "./a.ts";\nexport { a, v };\n',
  "src/a.ts": "export const a = 1;\n",
  "src/http/app.ts": 'import { Hono } from "hono";\nimport "../core.ts";\nexport { Hono };\n',
  "adapters/registry.ts":
    'import "../src/core.ts";\nimport "./docker.fragment.ts";\nexport const load = () => import("./docker.ts");\n',
  "adapters/docker.fragment.ts": 'import "../src/core.ts";\nimport "valibot";\n',
  "adapters/docker.ts":
    'import "node:fs";\nimport "./docker.fragment.ts";\nimport "./_docker/body.ts";\nimport "dockerode";\n',
  "adapters/_docker/body.ts": 'import "../../src/core.ts";\n',
  "adapters/kubernetes.ts": 'import "../k8s/job.ts";\n',
  "k8s/job.ts": 'import "../src/core.ts";\n',
  "host/disk.ts": 'import "node:fs";\nimport "../src/core.ts";\n',
  "mod.ts": 'import "./adapters/registry.ts";\nimport "./host/disk.ts";\nexport * from "./src/core.ts";\n',
  "cli.ts": 'import "./cli/run.ts";\n',
  "cli/run.ts": 'import "../mod.ts";\nimport "../src/http/app.ts";\n',
};

describe("rooms", () => {
  test("a sound checkout breaks no rule", () => {
    expect(judge(sound)).toEqual([]);
  });

  const breaches: readonly (readonly [string, string, Readonly<Record<string, string>>, string])[] = [
    ["the core reaches outside src", "src/a.ts", { "src/a.ts": '\nimport "../mod.ts";\n', "mod.ts": empty }, ":2: "],
    ["the core names a runtime", "src/a.ts", { "src/a.ts": 'import { x } from "node:fs";\n' }, "node:fs"],
    ["the core names Bun", "src/a.ts", { "src/a.ts": 'import "bun";\n' }, "Imports bun"],
    ["the core takes a package", "src/a.ts", { "src/a.ts": 'import "hono";\n' }, "Imports hono"],
    [
      "the core computes an import",
      "src/a.ts",
      { "src/a.ts": "export const l = (x: string) => import(x);\n" },
      "computed",
    ],
    [
      "the core reaches into the control endpoint",
      "src/a.ts",
      { "src/a.ts": 'export type * from "./http/app.ts";\n', "src/http/app.ts": empty },
      "src/http/app.ts",
    ],
    [
      "the control endpoint names a runtime",
      "src/http/app.ts",
      { "src/http/app.ts": 'import "node:http";\n' },
      "node:http",
    ],
    [
      "the control endpoint imports the registry",
      "src/http/app.ts",
      { "src/http/app.ts": 'import "../../adapters/registry.ts";\n', "adapters/registry.ts": empty },
      "registry",
    ],
    [
      "adapters import each other",
      "adapters/wasm.ts",
      { "adapters/wasm.ts": 'import type { D } from "./docker.ts";\n', "adapters/docker.ts": empty },
      "adapters/docker.ts",
    ],
    [
      "an adapter opens another's private folder",
      "adapters/wasm.ts",
      { "adapters/wasm.ts": 'export type D = import("./_docker/body.ts").D;\n', "adapters/_docker/body.ts": empty },
      "_docker",
    ],
    [
      "an adapter imports another's fragment",
      "adapters/wasm.ts",
      { "adapters/wasm.ts": 'import "./docker.fragment.ts";\n', "adapters/docker.fragment.ts": empty },
      "fragment",
    ],
    [
      "an adapter imports the registry",
      "adapters/wasm.ts",
      { "adapters/wasm.ts": 'import "./registry.ts";\n', "adapters/registry.ts": empty },
      "registry",
    ],
    [
      "docker imports k8s",
      "adapters/docker.ts",
      { "adapters/docker.ts": 'import "../k8s/job.ts";\n', "k8s/job.ts": empty },
      "k8s/job.ts",
    ],
    [
      "k8s imports its adapter",
      "k8s/job.ts",
      { "k8s/job.ts": 'import "../adapters/kubernetes.ts";\n', "adapters/kubernetes.ts": empty },
      "adapters/kubernetes.ts",
    ],
    [
      "a fragment loads a client library",
      "adapters/docker.fragment.ts",
      { "adapters/docker.fragment.ts": 'import "dockerode";\n' },
      "dockerode",
    ],
    [
      "a fragment imports its adapter",
      "adapters/docker.fragment.ts",
      { "adapters/docker.fragment.ts": 'import "./docker.ts";\n', "adapters/docker.ts": empty },
      "adapters/docker.ts",
    ],
    [
      "the registry imports an adapter at once",
      "adapters/registry.ts",
      { "adapters/registry.ts": 'export * from "./docker.ts";\n', "adapters/docker.ts": empty },
      "only by import()",
    ],
    ["the host takes a package", "host/a.ts", { "host/a.ts": 'import "valibot";\n' }, "Imports valibot"],
    [
      "mod.ts imports the control endpoint",
      "mod.ts",
      { "mod.ts": 'export * from "./src/http/app.ts";\n', "src/http/app.ts": empty },
      "src/http/app.ts",
    ],
    [
      "the program imports an adapter",
      "cli/run.ts",
      { "cli/run.ts": 'await import("../adapters/docker.ts");\n', "adapters/docker.ts": empty },
      "adapters/docker.ts",
    ],
    [
      "a script imports a test",
      "scripts/a.ts",
      { "scripts/a.ts": 'import "../test/unit/b.ts";\n', "test/unit/b.ts": empty },
      "test/unit/b.ts",
    ],
    [
      "the published suite imports an adapter",
      "test/contract/suite.ts",
      { "test/contract/suite.ts": 'import "../../adapters/docker.ts";\n', "adapters/docker.ts": empty },
      "published",
    ],
    [
      "an example looks behind a door",
      "examples/a.ts",
      { "examples/a.ts": 'import "../adapters/docker.ts";\n', "adapters/docker.ts": empty },
      "doors",
    ],
    ["an import leads nowhere", "src/a.ts", { "src/a.ts": 'export * from "./gone.ts";\n' }, "that exists"],
    ["a file stands in no room", "odd.ts", { "odd.ts": empty }, "no room"],
  ];
  test.each(breaches)("%s", (_name, path, tree, said) => {
    const findings = judge(tree).filter((finding) => finding.startsWith(`${path}:`));
    expect(findings.join("\n")).toContain(said);
  });
});

describe("the whole graph", () => {
  test("a cycle is shown from end to end, types and dynamic imports included", () => {
    const findings = judge({
      "src/a.ts": 'import type { b } from "./b.ts";\nexport const a = 1;\n',
      "src/b.ts": 'export const b = () => import("./c.ts");\n',
      "src/c.ts": 'export { a } from "./a.ts";\n',
    });
    expect(findings).toEqual([expect.stringContaining("src/a.ts → src/b.ts → src/c.ts → src/a.ts")]);
  });

  test("a file that imports itself is a cycle", () => {
    expect(judge({ "src/a.ts": 'import "./a.ts";\n' }).join()).toContain("src/a.ts → src/a.ts");
  });

  test("loading mod.ts loads no backend, however long the way there", () => {
    const findings = judge({
      ...sound,
      "adapters/registry.ts": 'import { load } from "./docker.fragment.ts";\nexport { load };\n',
      "adapters/docker.fragment.ts": 'import "./docker.ts";\nexport const load = 1;\n',
    });
    const chain = "mod.ts → adapters/registry.ts → adapters/docker.fragment.ts → adapters/docker.ts";
    expect(findings.join("\n")).toContain(chain);
  });

  test("a type costs nothing at load time, an inline type keeps its module", () => {
    const tree = (statement: string) => ({
      "mod.ts": `${statement}\n`,
      "adapters/registry.ts": empty,
      "adapters/docker.ts": empty,
    });
    const lazy = (statement: string) =>
      judge(tree(statement)).filter((finding) => finding.includes("loads no backend"));
    expect(lazy('import type { D } from "./adapters/docker.ts";')).toEqual([]);
    expect(lazy('import { type D } from "./adapters/docker.ts";')).toHaveLength(1);
  });
});

describe("files", () => {
  test("what is published holds no any, no open ends and no silenced compiler", () => {
    const findings = judge({
      "src/a.ts":
        '// TODO later\nexport let a: any;\n\n// @ts-ignore\n/* a\n FIXME */\nexport const any = "TODO any";\n',
    });
    expect(findings.map((finding) => finding.slice(0, "src/a.ts:1: Holds `TODO".length))).toEqual([
      "src/a.ts:1: Holds `TODO",
      "src/a.ts:2: Holds `any`",
      "src/a.ts:4: Holds `@ts-",
      "src/a.ts:6: Holds `FIXM",
    ]);
  });

  test("250 lines are enough for a published file", () => {
    const lines = (count: number) => "\n".repeat(count - 1).concat("export {};\n");
    expect(judge({ "src/a.ts": lines(250), "k8s/a.ts": lines(250), "test/unit/a.ts": lines(900) })).toEqual([]);
    expect(judge({ "cli/a.ts": lines(251) })).toEqual([expect.stringContaining("cli/a.ts:251: Has 251 lines")]);
  });
});
