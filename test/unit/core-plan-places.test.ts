/** What a backend's place cannot do, or must not see, is refused by the planner, in one wording for all. */

import { describe, expect, test } from "vitest";
import type { ExecuteOptions } from "../../src/runtime-types.ts";
import { hostOf, planOf } from "./core-parts.ts";

const refusalOf = (asked: Parameters<typeof planOf>[0]) =>
  planOf(asked).then(
    () => null,
    (error: { code: string; message: string }) => `${error.code}: ${error.message}`,
  );

describe("capabilities", () => {
  test.each([
    ["stdin", { stdin: "x" }, /^invalid_request: Backend native gives a command no stdin/],
    ["files", { files: { a: "x" } }, /^invalid_request: Backend native takes and gives no files/],
    ["files", { outputs: ["a"] }, /^invalid_request: Backend native takes and gives no files/],
    ["anyEnvName", { env: { "a.b": "x" } }, /^invalid_request: Environment variable "a.b" cannot exist/],
  ] as const)("without %s, %o is refused, and taken with it", async (capability, options, message) => {
    expect(await refusalOf({ options: options as ExecuteOptions, capabilities: { [capability]: false } })).toMatch(
      message,
    );
    expect(await refusalOf({ options: options as ExecuteOptions })).toBeNull();
  });

  test("a plain name passes where only plain names can exist", async () => {
    expect(await refusalOf({ options: { env: { A_1: "x" } }, capabilities: { anyEnvName: false } })).toBeNull();
  });
});

describe("a workspace that is made visible elsewhere", () => {
  const host = hostOf({
    paths: {
      ...{ "/": "directory", "/run": "directory", "/run/docker.sock": "other", "/run/user": "directory" },
      ...{ "/var/run/docker.sock": { linkTo: "/run/docker.sock" }, "/w": "directory", "/w/a": "directory" },
      ...{ "/other": "directory", "/alias": { linkTo: "/run" } },
    },
  });
  const at = (workingDir: string, policy = {}) =>
    refusalOf({ host, options: { workingDir }, policy: { workspaceMode: "mount", ...policy } });

  test.each(["/", "/run", "/alias"])("%s holds the socket and is refused", async (path) => {
    const kept = { keptFromWorkspaces: ["/var/run/docker.sock"] };
    expect(await at(path, kept)).toMatch(/^working_dir_not_allowed: .*master of this machine/);
  });

  test("a directory beside the socket is none that holds it", async () => {
    expect(await at("/run/user", { keptFromWorkspaces: ["/var/run/docker.sock"] })).toBeNull();
  });

  test("the backend's own roots hold besides those of the operator", async () => {
    expect(await at("/w/a", { allowedWorkspaceRoots: ["/w"] })).toBeNull();
    expect(await at("/other", { allowedWorkspaceRoots: ["/w"] })).toMatch(
      /outside of runtime.native.allowed_workspace/,
    );
  });

  test("where no directory is given to a command, naming one is refused", async () => {
    expect(await at("/w", { workspaceMode: "none" })).toMatch(/^working_dir_not_allowed: .*no directory of the host/);
  });

  test("its owner is part of the plan, and only where it is made visible elsewhere", async () => {
    const owned = hostOf({
      inspect: async (path) => ({ kind: "directory", realPath: path, owner: { uid: 1000, gid: 50 } }),
    });
    const planAt = async (workspaceMode: string) =>
      (await planOf({ host: owned, options: { workingDir: "/w" }, policy: { workspaceMode } })).plan.workspace;
    expect(await planAt("mount")).toEqual({ root: "/w", mode: "mount", owner: { uid: 1000, gid: 50 } });
    expect(await planAt("host")).toEqual({ root: "/w", mode: "host" });
  });
});
