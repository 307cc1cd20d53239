/** A plan as a spawn, by what this machine can do; and the operator's configuration as a policy. Pure, both. */

import { describe, expect, test } from "vitest";
import { lowerNative, type NativeArtifact, type NativeFacts } from "../../adapters/_native/lower.ts";
import { nativePolicy } from "../../adapters/_native/policy.ts";
import { taskkillArguments, taskkillProgram } from "../../adapters/_native/windows-tree.ts";
import type { ExecutionPlan, Limits } from "../../src/types.ts";
import { codesOf, configOf } from "./core-parts.ts";
import { planFor } from "./memory-plan.ts";

const prlimit = "/usr/bin/prlimit";
const facts = (given: { held?: boolean; prlimit?: string | null; platform?: string } = {}): NativeFacts => {
  const { held = true } = given;
  return {
    platform: given.platform ?? "linux",
    containment: {
      ...{ kind: held ? "cgroup" : "process-group", description: held ? "cgroup v1" : "process group" },
      ...{ holdsDaemons: held, can: { memoryBytes: held, pids: held, cpuTimeMs: held } },
    },
    prlimit: given.prlimit === undefined ? prlimit : given.prlimit,
  };
};
const planOf = (limits: Partial<Limits> = {}, rest: Partial<ExecutionPlan> = {}) =>
  planFor(["tool", "a b", ""], { ...rest, limits: { ...planFor(["x"]).limits, ...limits } });
const artifactOf = (limits: Partial<Limits>, given = facts()) =>
  lowerNative(planOf(limits), given).artifact as NativeArtifact;

describe("the spawn", () => {
  test("is the plan's own words and variables, and nothing else", () => {
    const env = { API_KEY: "s3cret" };
    const plan = planOf({}, { env, workingDir: "/w" });
    expect(lowerNative(plan, facts()).artifact).toEqual({
      ...{ wrapper: [], argv: ["tool", "a b", ""], env, workingDir: "/w", sandbox: null },
    });
  });

  test.each<[string, Partial<Limits>, NativeFacts, readonly string[]]>([
    ["no limit", {}, facts(), []],
    ["what a cgroup keeps", { memoryBytes: 1, pids: 1, cpuTimeMs: 1000 }, facts(), []],
    ["open files", { openFiles: 64 }, facts(), [prlimit, "--nofile=64:64", "--"]],
    [
      "CPU time without a cgroup, in whole seconds upwards",
      { cpuTimeMs: 1001 },
      facts({ held: false }),
      [prlimit, "--cpu=2", "--"],
    ],
    ["both", { openFiles: 9, cpuTimeMs: 1 }, facts({ held: false }), [prlimit, "--nofile=9:9", "--cpu=1", "--"]],
    ["what only a cgroup could keep", { memoryBytes: 1, pids: 1 }, facts({ held: false }), []],
    ["without prlimit", { openFiles: 64, cpuTimeMs: 1 }, facts({ held: false, prlimit: null }), []],
  ])("wrapped for %s", (_, limits, given, wrapper) => {
    expect(artifactOf(limits, given).wrapper).toEqual(wrapper);
  });

  test("is shown as words, each in quotes, with names of variables only", () => {
    const env = { B: "s3cret", A: "s3cret" };
    expect(lowerNative(planOf({ openFiles: 8 }, { env, workingDir: "/w" }), facts()).text).toBe(
      'spawn "/usr/bin/prlimit" "--nofile=8:8" "--" "tool" "a b" ""\nin /w\nwith A B\nheld by cgroup v1',
    );
    expect(lowerNative(planOf(), facts({ held: false })).text).toBe(
      'spawn "tool" "a b" ""\nin a private directory\nwith no variables\nheld by process group',
    );
  });

  test("warns where a daemon gets away, and tells what the platform adds", () => {
    expect(codesOf(lowerNative(planOf(), facts()).warnings)).toEqual([]);
    expect(codesOf(lowerNative(planOf(), facts({ held: false })).warnings)).toEqual(["uncontained"]);
    expect(lowerNative(planOf(), facts()).addedEnv).toEqual([]);
    expect(lowerNative(planOf(), facts({ platform: "win32" })).addedEnv).toEqual(["SYSTEMROOT"]);
  });

  test("is the same for the same plan, and leaves the plan alone", () => {
    const plan = planOf({ openFiles: 8, cpuTimeMs: 5, memoryBytes: 7 }, { env: { A: "1" } });
    const before = JSON.stringify(plan);
    expect(lowerNative(plan, facts())).toEqual(lowerNative(plan, facts()));
    expect(JSON.stringify(plan)).toBe(before);
  });
});

describe("the operator's policy", () => {
  test("by default sees all that the host's user sees, and limits nothing", () => {
    const { image, ...policy } = nativePolicy(configOf(), "linux");
    expect(policy).toEqual({
      ...{ network: "all", filesystem: "host", privilege: "host", workspaceMode: "host" },
      limits: { memoryBytes: null, cpus: null, cpuTimeMs: null, pids: null, openFiles: null },
      ...{ written: [], env: {}, foreignEnv: [], shell: ["/bin/bash", "-c"] },
    });
    expect(image).toBeNull();
  });

  test("keeps protected names from a request's files where there is a sandbox to keep them from its command", () => {
    const sandbox = { backend: "bubblewrap", protected_paths: [".git/hooks/"] } as const;
    expect(nativePolicy(configOf({ security: { sandbox } }), "linux").protectedPaths).toEqual([".git/hooks/"]);
  });

  test("takes every limit that is written, in its own unit, and demands it", () => {
    const resources = { max_memory_mb: 512, max_cpu_time_seconds: 60, max_subprocesses: 10, max_open_files: 256 };
    const config = configOf({
      runtime: { native: { shell: "/bin/zsh", env: { RUSTFLAGS: "-D warnings" } } },
      security: { resources },
    });
    expect(nativePolicy(config, "linux")).toMatchObject({
      limits: { memoryBytes: 536_870_912, cpus: null, cpuTimeMs: 60_000, pids: 10, openFiles: 256 },
      ...{ env: { RUSTFLAGS: "-D warnings" }, shell: ["/bin/zsh", "-c"] },
    });
    expect([...nativePolicy(config, "linux").written].sort()).toEqual(["cpu_time", "files", "memory", "pids"]);
    const one = configOf({ security: { resources: { max_open_files: 5 } } });
    expect(nativePolicy(one, "linux").written).toEqual(["files"]);
  });

  test.each([
    ["win32", "cmd", ["cmd", "/d", "/s", "/c"]],
    ["win32", "C:\\Windows\\System32\\CMD.EXE", ["C:\\Windows\\System32\\CMD.EXE", "/d", "/s", "/c"]],
    ["win32", "C:\\Git\\bin\\bash.exe", ["C:\\Git\\bin\\bash.exe", "-c"]],
    ["win32", "mycmd.exe.bak", ["mycmd.exe.bak", "-c"]],
    ["linux", "/opt/cmd", ["/opt/cmd", "-c"]],
  ])("on %s the shell %s is called as it wants to be", (platform, shell, argv) => {
    expect(nativePolicy(configOf({ runtime: { native: { shell } } }), platform).shell).toEqual(argv);
  });
});

test("on Windows a tree is asked to end by its pid, and forced only when it has to be", () => {
  expect(taskkillArguments(42, "SIGTERM")).toEqual(["/PID", "42", "/T"]);
  expect(taskkillArguments(42, "SIGKILL")).toEqual(["/PID", "42", "/T", "/F"]);
  expect(taskkillProgram("D:\\Win")).toBe("D:\\Win\\System32\\taskkill.exe");
});
