/** What a name in a request means to the configuration, and which policy comes with it. */

import { describe, expect, test } from "vitest";
import { RuntimeError } from "../../src/errors.ts";
import { checkRequest } from "../../src/request.ts";
import type { ExecuteOptions } from "../../src/runtime-types.ts";
import { findTool } from "../../src/tools.ts";
import { configOf } from "./core-parts.ts";

const config = configOf({
  runtime: {
    docker: { tool_images: { python: "python:3.13-slim" } },
    wasm: { capabilities: { network: true, filesystem_read: ["/srv"] } },
  },
  tools: {
    custom: {
      lint: {
        ...{ type: "command", command: "eslint", args: ["--format", "json"], env: { CI: "1" }, network: "none" },
        ...{ timeout_secs: 1.5, max_output_bytes: 10, memory_limit: "1m", cpu_limit: "500m", pids_limit: 7 },
        ...{ max_open_files: 8, max_cpu_time_seconds: 9, image: "node:24", backend: "native" },
      },
      bare: { type: "command", command: "cat" },
      query: { type: "wasm", module: "query.wasm", args: ["-q"], timeout_secs: 0 },
      small: {
        type: "wasm",
        module: "small.wasm",
        capabilities: { network: false, filesystem_read: ["/srv/part"], env_vars: [] },
      },
    },
  },
});
const find = (command: string, args: readonly string[] = [], options: ExecuteOptions = {}) =>
  findTool(config, checkRequest(command, args, options));
const plain = { env: {}, isLookedUp: false, backend: null, image: null, module: null, limits: {} };

describe("a command tool", () => {
  test("called by its own name becomes its program, its arguments and then the request's", () => {
    expect(find("lint", ["a.ts", ""])).toEqual({
      ...{ name: "lint", argv: ["eslint", "--format", "json", "a.ts", ""], env: { CI: "1" }, backend: "native" },
      ...{ isLookedUp: true },
      ...{ image: "node:24", module: null, timeoutMs: 1500, maxOutputBytes: 10, network: "none" },
      limits: { memoryBytes: 1_048_576, cpus: 0.5, pids: 7, openFiles: 8, cpuTimeMs: 9000 },
    });
  });

  test("named beside another command lends its policy and leaves the command as it is", () => {
    const tool = find("ls", ["-l"], { tool: "lint" });
    expect(tool).toMatchObject({ name: "lint", argv: ["ls", "-l"], timeoutMs: 1500, backend: "native" });
  });

  test("named and called is the same as called", () => {
    expect(find("lint", ["x"], { tool: "lint" })).toEqual(find("lint", ["x"]));
  });

  test("that says nothing limits nothing", () => {
    expect(find("bare", ["x"])).toEqual({ name: "bare", argv: ["cat", "x"], ...plain, isLookedUp: true });
  });

  test("named explicitly wins over one of the command's name", () => {
    expect(find("lint", ["x"], { tool: "bare" })).toEqual({ name: "bare", argv: ["lint", "x"], ...plain });
  });
});

test("a WASM tool runs on WASM, and its 0 is no limit", () => {
  expect(find("query", ["x"])).toEqual({
    ...{ name: "query", argv: ["query", "-q", "x"], env: {}, backend: "wasm", image: null, module: "query.wasm" },
    ...{ isLookedUp: false, timeoutMs: 0, limits: {}, grants: {} },
  });
});

test("a WASM tool can be granted less than the backend grants", () => {
  expect(find("small")).toMatchObject({ network: "none", grants: { filesystem_read: ["/srv/part"] }, hostEnv: [] });
});

describe("other names", () => {
  test("a command that is no tool has no policy of its own", () => {
    expect(find("ls", ["-l"])).toEqual({ name: null, argv: ["ls", "-l"], ...plain });
  });

  test("a tool that only has an image is known when it is named, and not confused with a command", () => {
    expect(find("x", [], { tool: "python" })).toEqual({ name: "python", argv: ["x"], ...plain });
    expect(find("python").name).toBeNull();
  });

  test("a tool that nobody configured is refused, with what to add", () => {
    const attempt = () => find("ls", [], { tool: "formatter" });
    expect(attempt).toThrow(RuntimeError);
    expect(attempt).toThrow('Tool "formatter" is not configured: add [tools.custom.formatter]');
    expect(attempt).toThrow(expect.objectContaining({ code: "tool_not_found", started: "no" }));
  });

  test.each(["constructor", "__proto__", "toString"])("%s is no tool", (name) => {
    expect(find(name)).toEqual({ name: null, argv: [name], ...plain });
    expect(() => find("ls", [], { tool: name })).toThrow(expect.objectContaining({ code: "tool_not_found" }));
  });
});
