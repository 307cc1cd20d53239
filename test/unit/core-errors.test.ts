/** One error class, one closed table, and nothing of the cause on its way out. */

import { describe, expect, test } from "vitest";
import { asRuntimeError, type ErrorCode, errorCodes, RuntimeError } from "../../src/errors.ts";

const codes = Object.entries(errorCodes);

describe("the table", () => {
  test.each(codes)("%s has a status and an exit that fit it", (code, { status, exit }) => {
    expect(code).toMatch(/^[a-z]+(_[a-z]+)*$/);
    expect(Number.isInteger(status) && status >= 400 && status <= 599).toBe(true);
    expect(Number.isInteger(exit) && exit >= 1 && exit <= 255).toBe(true);
  });

  test("has every code, and what a shell's caller expects of them", () => {
    expect(codes.map(([code]) => code)).toEqual([
      ...["invalid_request", "config_invalid", "tool_not_found", "backend_not_allowed", "backend_unavailable"],
      ...["policy_unenforceable", "command_not_found", "not_executable", "working_dir_not_found"],
      ...["working_dir_not_a_directory", "working_dir_not_allowed", "argument_list_too_long", "files_failed"],
      ...["image_not_found", "image_pull_failed", "start_timeout", "start_failed", "cancelled_before_start"],
      ...["closed", "internal"],
    ]);
    const { command_not_found, not_executable, argument_list_too_long, cancelled_before_start } = errorCodes;
    expect(
      [command_not_found, not_executable, argument_list_too_long, cancelled_before_start].map(({ exit }) => exit),
    ).toEqual([127, 126, 126, 130]);
  });

  test("what the caller did wrong is 4xx, what we or the platform did is 5xx", () => {
    const theirs: readonly ErrorCode[] = [
      "config_invalid",
      "backend_unavailable",
      "image_pull_failed",
      "start_timeout",
    ];
    const server = new Set<string>([...theirs, "start_failed", "closed", "internal"]);
    for (const [code, { status }] of codes) expect([code, status >= 500]).toEqual([code, server.has(code)]);
  });
});

describe("RuntimeError", () => {
  const cause = new Error("postgres://user:s3cret@host");
  const error = new RuntimeError("start_failed", "It did not start", { backend: "docker", started: "maybe", cause });

  test("keeps its facts and its cause", () => {
    expect(error).toBeInstanceOf(Error);
    expect(error).toMatchObject({
      name: "RuntimeError",
      code: "start_failed",
      backend: "docker",
      started: "maybe",
      cause,
    });
    expect(new RuntimeError("closed", "Closed")).toMatchObject({ backend: null, started: "no" });
    expect("cause" in new RuntimeError("closed", "Closed")).toBe(false);
  });

  test("tells everything but the cause as JSON", () => {
    expect(error.toJSON()).toEqual({
      ...{ code: "start_failed", message: "It did not start", backend: "docker", started: "maybe" },
    });
    expect(JSON.stringify({ error })).not.toContain("s3cret");
  });
});

describe("whatever was thrown", () => {
  test("stays itself where it is a RuntimeError already", () => {
    const error = new RuntimeError("closed", "Closed");
    expect(asRuntimeError(error, { backend: "docker", started: "yes" })).toBe(error);
    expect(error.backend).toBeNull();
  });

  test.each([
    [new TypeError("Broken"), "Broken"],
    ["text", "text"],
    [undefined, "undefined"],
    [{ code: "closed" }, "[object Object]"],
  ])("becomes internal: %s", (thrown, message) => {
    const error = asRuntimeError(thrown, { backend: "docker", started: "maybe" });
    expect(error).toMatchObject({ code: "internal", message, backend: "docker", started: "maybe" });
    expect(error.cause).toBe(thrown);
  });
});
