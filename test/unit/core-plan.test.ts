/** A plan says everything that will happen, cannot be changed, and survives being written down. */

import { describe, expect, test } from "vitest";
import { hostOf, planOf } from "./core-parts.ts";

const everything = {
  command: "build",
  args: ["x"],
  config: {
    runtime: { env_whitelist: ["TERM"], kill_grace_secs: 0.5 },
    security: { accept_weaker: ["memory"] },
    tools: { custom: { build: { type: "command", command: "make", args: ["-k"], env: { CC: "cc" } } } },
  },
  policy: { env: { RUSTFLAGS: "-D" }, limits: { ...noLimits(), pids: 5 }, written: ["pids"] },
  options: {
    ...{ env: { A: "1" }, stdin: "text", outputs: ["out"], timeoutMs: 1000, limits: { memoryBytes: 7 } },
    files: { "a/b": "é", run: { content: "#!", executable: true } },
  },
  host: hostOf({ owner: "me", env: { TERM: "vt100", API_KEY: "s3cret" } }),
} as const;

function noLimits() {
  return { memoryBytes: null, cpus: null, cpuTimeMs: null, pids: null, openFiles: null };
}

/** The paths of parts that could still be written to. */
function writable(value: unknown, path = "plan"): readonly string[] {
  if (typeof value !== "object" || value === null) return [];
  const below = Object.entries(value).flatMap(([name, part]) => writable(part, `${path}.${name}`));
  return Object.isFrozen(value) ? below : [path, ...below];
}

test("everything that was decided stands in it", async () => {
  const { plan, warnings } = await planOf(everything);
  const { id, ...rest } = plan;
  expect(id).toMatch(/^[0-9a-f-]{36}$/);
  expect(rest).toEqual({
    ...{ owner: "me", backend: "native", tool: "build", argv: ["make", "-k", "x"] },
    env: { TERM: "vt100", RUSTFLAGS: "-D", CC: "cc", A: "1" },
    workingDir: null,
    stdin: "inline",
    files: [
      { path: "a/b", bytes: 2, executable: false },
      { path: "run", bytes: 2, executable: true },
    ],
    outputs: ["out"],
    limits: {
      ...{ timeoutMs: 1000, backstopMs: 31_500, killGraceMs: 500, maxOutputBytes: 1_048_576 },
      ...{ ...noLimits(), memoryBytes: 7, pids: 5 },
    },
    ...{ network: "all", filesystem: "host", privilege: "host", workspace: { root: null, mode: "private" } },
    ...{ image: null, module: null, grants: [] },
    demands: ["network", "filesystem", "privilege", "environment", "pids", "memory"],
    acceptWeaker: ["memory"],
  });
  expect(warnings).toEqual([]);
});

test("no part of it can be written, and what it was made of is not frozen with it", async () => {
  const env = { A: "1" };
  const outputs = ["out"];
  const limits = noLimits();
  const files = { a: { content: "x", executable: true } };
  const { plan } = await planOf({ ...everything, policy: { limits }, options: { env, outputs, files } });
  expect(writable(plan)).toEqual([]);
  expect([env, outputs, limits, files, files.a].filter((given) => Object.isFrozen(given))).toEqual([]);
});

test("it survives being written down, names of an object's machinery included", async () => {
  const options = { env: Object.fromEntries([["__proto__", "x"]]), files: Object.fromEntries([["__proto__", "y"]]) };
  for (const asked of [everything, { options }]) {
    const { plan } = await planOf(asked);
    const read = JSON.parse(JSON.stringify(plan));
    expect(read).toEqual(plan);
    expect(Object.entries(read.env)).toEqual(Object.entries(plan.env));
  }
});

test("each has an id of its own", async () => {
  const plans = await Promise.all(Array.from({ length: 50 }, () => planOf()));
  expect(new Set(plans.map(({ plan }) => plan.id)).size).toBe(50);
  expect((await planOf({ host: hostOf({ newId: () => "mine" }) })).plan.id).toBe("mine");
});

describe("the shell form", () => {
  const options = { shell: true };

  test("gives the line to the configured shell, its arguments as $1 and on", async () => {
    const policy = { shell: ["/bin/sh", "-e", "-c"] } as const;
    const { plan } = await planOf({ command: 'echo "$1"', args: ["a b", ""], options, policy });
    expect(plan.argv).toEqual(["/bin/sh", "-e", "-c", 'echo "$1"', "/bin/sh", "a b", ""]);
  });

  test("is never looked for in a line that is none, nor a tool in one that is", async () => {
    expect((await planOf({ command: "echo $HOME; ls" })).plan.argv).toEqual(["echo $HOME; ls"]);
    const { plan } = await planOf({ ...everything, options });
    expect(plan.argv).toEqual(["/bin/bash", "-c", "build", "/bin/bash", "x"]);
  });
});

describe("where it works", () => {
  const mine = { root: "/project", mode: "host" };
  const nobodys = { root: null, mode: "private" };

  test.each([
    ["nothing is said and the backend sees the host's files", {}, {}, mine],
    ["the backend sees nothing of the host", {}, { filesystem: "none" }, nobodys],
    ["the backend sees the workspace only", {}, { filesystem: "workspace" }, nobodys],
    ["files go in", { files: { a: "" } }, {}, nobodys],
    ["no file goes in, but a place for them is asked for", { files: {} }, {}, nobodys],
    ["outputs come out", { outputs: [] }, {}, nobodys],
    [
      "a directory is named",
      { workingDir: "/project" },
      { filesystem: "none", workspaceMode: "copy" },
      { root: "/project", mode: "copy" },
    ],
    ["a directory is named and files go in", { workingDir: "/project", files: { a: "" } }, {}, mine],
  ] as const)("%s", async (_, options, policy, workspace) => {
    const { plan } = await planOf({ options, policy });
    expect(plan.workspace).toEqual(workspace);
    expect(plan.workingDir).toBe(workspace.root);
  });
});

describe("image and module", () => {
  const config = {
    tools: {
      custom: {
        own: { type: "command", command: "a", image: "own:1" },
        plain: { type: "command", command: "b" },
        guest: { type: "wasm", module: "g.wasm" },
      },
    },
  };
  const policy = { image: (tool: string | null) => `backend:${tool}` };

  test.each([
    ["own", "own:1", null],
    ["plain", "backend:plain", null],
    ["ls", "backend:null", null],
    ["guest", "backend:guest", "g.wasm"],
  ])("of %s", async (command, image, module) => {
    expect((await planOf({ command, config, policy })).plan).toMatchObject({ image, module });
  });
});

test("a wrong environment or directory is refused with its own code", async () => {
  await expect(planOf({ options: { env: { LD_PRELOAD: "x" } } })).rejects.toMatchObject({ code: "invalid_request" });
  await expect(planOf({ options: { workingDir: "/none" } })).rejects.toMatchObject({ code: "working_dir_not_found" });
});
