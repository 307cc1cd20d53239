/** A command's environment is exactly what whitelist, operator, tool and request say, for every name a process can have. */

import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { composeEnv, type EnvSources, isLoaderVariable } from "../../src/env.ts";
import { RuntimeError } from "../../src/errors.ts";
import { redacted, redactPlan } from "../../src/explain.ts";
import { planFor } from "./memory-plan.ts";

const nothing: EnvSources = { host: {}, whitelist: [], foreign: [], operator: {}, tool: {}, request: {} };
const compose = (sources: Partial<EnvSources>) => composeEnv({ ...nothing, ...sources });
/** As pairs: a comparison that leaves out nothing, `__proto__` included. */
const pairs = (env: Readonly<Record<string, string>>) => Object.entries(env).sort(([a], [b]) => (a < b ? -1 : 1));

function refusal(request: unknown, whitelist: readonly string[] = []): string {
  try {
    compose({ request: request as Record<string, string>, whitelist });
  } catch (error) {
    if (error instanceof RuntimeError && error.code === "invalid_request") return error.message;
    throw error;
  }
  throw new Error("It was accepted");
}

describe("what of the host's variables goes further", () => {
  const host = { PATH: "/bin", HOME: "/root", API_KEY: "s3cret", MY_ODDLY_NAMED_PW: "s3cret", TERM: "" };

  test("only the whitelisted ones, by their exact names, an empty value included", () => {
    const whitelist = ["PATH", "TERM", "api_key", "API_", "*", "MY_*", "ABSENT"];
    expect(pairs(compose({ host, whitelist }))).toEqual([
      ["PATH", "/bin"],
      ["TERM", ""],
    ]);
  });

  test("not those that mean nothing to the backend, but what others say of them", () => {
    const sources = { host, whitelist: ["PATH", "HOME", "TERM"], foreign: ["PATH", "HOME"] };
    expect(pairs(compose(sources))).toEqual([["TERM", ""]]);
    expect(compose({ ...sources, request: { PATH: "/opt/bin" } })["PATH"]).toBe("/opt/bin");
  });

  test("for any host and whitelist: exactly the names in both", () => {
    const name = fc.constantFrom("A", "B", "a", "__proto__", "constructor", "toString", "hasOwnProperty", "LD_PRELOAD");
    const variables = fc.uniqueArray(fc.tuple(name, fc.string()), { selector: ([one]) => one });
    fc.assert(
      fc.property(variables, fc.array(name), (given, whitelist) => {
        const expected = given.filter(([one]) => whitelist.includes(one)).sort(([a], [b]) => (a < b ? -1 : 1));
        expect(pairs(compose({ host: Object.fromEntries(given), whitelist }))).toEqual(expected);
      }),
    );
  });
});

test("the request's word stands above the tool's, the operator's and the host's", () => {
  const env = compose({
    host: { A: "host", B: "host", C: "host", D: "host" },
    whitelist: ["A", "B", "C", "D"],
    operator: { B: "operator", C: "operator", D: "operator" },
    tool: { C: "tool", D: "tool" },
    request: { D: "request" },
  });
  expect(env).toEqual({ A: "host", B: "operator", C: "tool", D: "request" });
});

describe("names of an object's own machinery", () => {
  const odd = ["__proto__", "constructor", "toString", "hasOwnProperty", "valueOf"];

  test("are variables like any other, from every source", () => {
    const valued = Object.fromEntries(odd.map((name) => [name, `${name}!`]));
    const expected = odd.map((name) => [name, `${name}!`]).sort();
    expect(pairs(compose({ request: valued }))).toEqual(expected);
    expect(pairs(compose({ operator: valued }))).toEqual(expected);
    expect(pairs(compose({ tool: valued }))).toEqual(expected);
    expect(pairs(compose({ host: valued, whitelist: odd }))).toEqual(expected);
    expect(Object.keys(Object.prototype)).toEqual([]);
    expect(({} as Record<string, unknown>)["__proto__!"]).toBeUndefined();
  });

  test("are absent where the host does not have them, on this runtime's own environment too", () => {
    expect(pairs(compose({ host: {}, whitelist: odd }))).toEqual([]);
    expect(pairs(compose({ host: process.env, whitelist: odd }))).toEqual([]);
  });

  test("are shown by their names and hidden by their values", () => {
    const env = compose({ request: Object.fromEntries(odd.map((name) => [name, "s3cret"])) });
    const shown = redactPlan(planFor(["true"], { env })).env;
    expect(pairs(shown)).toEqual(odd.map((name) => [name, redacted]).sort());
  });
});

describe("loader variables", () => {
  const loaders = ["LD_PRELOAD", "LD_AUDIT", "DYLD_INSERT_LIBRARIES", "NODE_OPTIONS", "BASH_ENV", "PYTHONPATH"];
  const harmless = ["LDFLAGS", "MY_LD_PRELOAD", "ld_preload", "NODE_ENV", "PYTHON", "ENVIRONMENT", "GIT_DIR"];

  test.each([...loaders, "ENV", "BASH_FUNC_x%%", "PERL5OPT", "RUBYOPT", "GIT_SSH_COMMAND"])("%s is one", (name) => {
    expect(isLoaderVariable(name)).toBe(true);
    expect(refusal({ [name]: "x" })).toMatch(`Variable ${name} makes a loader or interpreter run code`);
    expect(compose({ request: { [name]: "x" }, whitelist: [name] })[name]).toBe("x");
  });

  test.each(harmless)("%s is none", (name) => {
    expect(isLoaderVariable(name)).toBe(false);
    expect(compose({ request: { [name]: "x" } })[name]).toBe("x");
  });

  test("pass from operator and tool, who name them", () => {
    expect(compose({ operator: { LD_PRELOAD: "a" }, tool: { NODE_OPTIONS: "b" } })).toEqual({
      LD_PRELOAD: "a",
      NODE_OPTIONS: "b",
    });
  });
});

describe("what no process can have", () => {
  test.each<[string, unknown, string]>([
    ["an empty name", { "": "x" }, 'variable "" has an empty name'],
    ["= in a name", { "A=B": "x" }, 'variable "A=B" has a "=" in its name'],
    ["NUL in a name", { "A\0": "x" }, 'variable "A\\u0000" has a name with a NUL'],
    ["half a pair in a name", { "A\ud800": "x" }, "half a surrogate pair"],
    ["NUL in a value", { A: "x\0y" }, 'variable "A" has a value with a NUL byte'],
    ["half a pair in a value", { A: "\udc00" }, 'variable "A" has a value with half a surrogate pair'],
    ["a number", { A: 1 }, 'variable "A" has a value of type number'],
    ["undefined", { A: undefined }, 'variable "A" has a value of type undefined'],
    ["null", { A: null }, 'variable "A" has a value of type object'],
  ])("%s is refused, naming the variable", (_, request, message) => {
    expect(refusal(request)).toContain(message);
  });

  test("any other name and value passes unchanged", () => {
    const text = fc.string({ unit: "grapheme" }).filter((one) => !one.includes("\0"));
    const name = text.filter((one) => one !== "" && !one.includes("=") && !isLoaderVariable(one));
    fc.assert(
      fc.property(fc.uniqueArray(fc.tuple(name, text), { selector: ([one]) => one }), (given) => {
        const expected = [...given].sort(([a], [b]) => (a < b ? -1 : 1));
        expect(pairs(compose({ request: Object.fromEntries(given) }))).toEqual(expected);
      }),
    );
    expect(compose({ request: { "1X": "a", "a.b": "x\ny=z", Ä: "ü".repeat(50_000) } })["Ä"]).toHaveLength(50_000);
  });
});
