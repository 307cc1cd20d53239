/** A plan in wasmtime's words, and what of it holds. */

import { describe, expect, it } from "vitest";
import { lowerWasm, type WasmArtifact, type WasmFacts } from "../../adapters/_wasm/lower.ts";
import { wasmPolicy } from "../../adapters/_wasm/policy.ts";
import { wasmtimeEngine } from "../../adapters/_wasm/wasmtime.ts";
import { wasmFragment } from "../../adapters/wasm.fragment.ts";
import { sectionOf } from "../../src/config.ts";
import type { Clause, ExecutionPlan, Verdict } from "../../src/types.ts";
import { configOf } from "./core-parts.ts";
import { planFor } from "./memory-plan.ts";

const engine = wasmtimeEngine("/usr/bin/wasmtime", "49.0.3", "/cache/exit.bin");
const kept: Verdict = { grade: "enforced", because: "It is" };
const facts: WasmFacts = {
  engines: [engine],
  processVerdicts: () => ({ cpu_time: kept }) as Record<Clause, Verdict>,
  whyUnguarded: () => null,
};
const grants = [
  { host: "/srv/data", guest: "/data", writable: false },
  { host: "/srv/out", guest: "/srv/out", writable: true },
];
const lowered = (parts: Partial<ExecutionPlan>, given: Partial<WasmFacts> = {}) =>
  lowerWasm(planFor(["tool", "a b", "--dir=/"], parts), { ...facts, ...given });
const wordsOf = (parts: Partial<ExecutionPlan>) => (lowered(parts).artifact as WasmArtifact).argv;

describe("the words", () => {
  it("grant nothing that the plan does not", () => {
    expect(wordsOf({})).toEqual([
      ...["/usr/bin/wasmtime", "run", "-C", "cache=n", "--allow-precompiled"],
      ...["-W", "max-memories=1,max-tables=2,max-table-elements=1000000"],
      ...["-S", "inherit-network=n,allow-ip-name-lookup=n,tcp=n,udp=n,cli-exit-with-code=y"],
      ...["--argv0=tool", "--preload", "prx=/cache/exit.bin", "tool", "a b", "--dir=/"],
    ]);
  });

  it("name directories, the working directory first", () => {
    const dirs = (parts: Partial<ExecutionPlan>) =>
      wordsOf(parts).filter((word) => word.startsWith("--dir=") && word !== "--dir=/");
    expect(dirs({ grants })).toEqual(["--dir=/srv/data::/data", "--dir=/srv/out::/srv/out"]);
    expect(dirs({ outputs: ["x"] })).toEqual(["--dir=<private>::/"]);
    const workspace = { root: "/srv/out/part", mode: "granted" };
    expect(dirs({ grants, workspace })[0]).toBe("--dir=/srv/out/part::/");
  });

  it("tell no value of a variable, but of those that would act on the engine itself", () => {
    const env = { TOKEN: "s3cret", RUST_LOG: "debug", LD_PRELOAD: "/evil.so" };
    const words = wordsOf({ env });
    expect(words.filter((word) => word.startsWith("--env="))).toEqual([
      "--env=TOKEN",
      "--env=RUST_LOG=debug",
      "--env=LD_PRELOAD=/evil.so",
    ]);
    const run = { plan: planFor(["tool"], { env }), artifact: "x", preopens: [], handover: null };
    expect(engine.command({ ...run, binary: { kind: "module", memories: [], tables: 0 } }).env).toEqual({
      TOKEN: "s3cret",
    });
    expect(lowered({ env }).text).not.toMatch(/s3cret|debug|evil/);
  });

  it("share memory and tables out among those that there are", () => {
    const memory = { minimum: 0, shared: false, imported: false };
    const binary = { kind: "component", memories: [memory, memory], tables: 4 } as const;
    const plan = planFor(["tool"], { limits: { ...planFor(["x"]).limits, memoryBytes: 64 * 1024 * 1024 } });
    const { argv } = engine.command({ plan, artifact: "x", binary, preopens: [], handover: null });
    expect(argv).toContain("max-memories=2,max-tables=4,max-memory-size=33554432,max-table-elements=250000");
    expect(argv).not.toContain("--preload");
  });
});

describe("the verdicts", () => {
  const grades = (parts: Partial<ExecutionPlan>, given: Partial<WasmFacts> = {}) =>
    Object.fromEntries(Object.entries(lowered(parts, given).verdicts).map(([clause, { grade }]) => [clause, grade]));
  const all = { network: "enforced", filesystem: "enforced", privilege: "enforced", environment: "enforced" };
  const limits = planFor(["x"]).limits;

  it("are good for a guest that is granted nothing", () => {
    expect(grades({})).toMatchObject(all);
  });

  it("know that a guest begins no process", () => {
    expect(grades({ limits: { ...limits, pids: 1 } })["pids"]).toBe("stronger");
  });

  it.each([
    ["cpus", "cpu", 1],
    ["openFiles", "files", 10],
  ])("refuse a limit of %s", (name, clause, value) => {
    expect(grades({ limits: { ...limits, [name]: value } })[clause]).toBe("impossible");
  });

  it("ask for a sandbox around the engine where a directory is granted to be read", () => {
    expect(grades({ grants })).toMatchObject(all);
    expect((lowered({ grants }).artifact as WasmArtifact).guarded).toBe(true);
    const without = lowered({ grants }, { whyUnguarded: () => "there is none here" });
    expect(without.verdicts.filesystem).toEqual({
      grade: "impossible",
      because: expect.stringMatching(/wasmtime writes into every directory .*there is none here$/),
    });
    const writable = grants.filter((grant) => grant.writable);
    expect(grades({ grants: writable }, { whyUnguarded: () => "there is none here" })).toMatchObject(all);
  });

  it("know no cluster", () => {
    expect(grades({ network: "cluster" })["network"]).toBe("impossible");
    expect(grades({ network: "all" })["network"]).toBe("enforced");
  });
});

describe("the policy", () => {
  const policyOf = (written: object, runtime: object = {}) => {
    const config = configOf({ runtime: { ...runtime, wasm: written } });
    return wasmPolicy(config, sectionOf(config, wasmFragment));
  };

  it("grants nothing by itself", () => {
    const policy = policyOf({});
    expect(policy).toMatchObject({
      network: "none",
      filesystem: "workspace",
      privilege: "none",
      workspaceMode: "none",
    });
    expect(policy.grants?.(undefined)).toEqual([]);
    expect(policy.foreignEnv).toEqual(["PATH", "HOME", "TERM", "LANG", "USER"]);
    expect([policy.shell, policy.image, policy.written]).toEqual([null, null, []]);
    expect(policy.limits.memoryBytes).toBe(128 * 1024 * 1024);
    expect(policy.defaultTimeoutMs).toBe(30_000);
  });

  it("grants what is written, and demands a limit that is", () => {
    const capabilities = { filesystem_read: ["/a"], filesystem_write: ["/b::/c"], network: true, env_vars: ["LANG"] };
    const policy = policyOf({ capabilities, max_memory_mb: 1 });
    expect(policy).toMatchObject({ network: "all", workspaceMode: "granted", allowedWorkspaceRoots: ["/a", "/b"] });
    expect(policy.grants?.(undefined)).toEqual([
      { host: "/a", guest: "/a", writable: false },
      { host: "/b", guest: "/c", writable: true },
    ]);
    expect(policy.grants?.({ filesystem_read: [], filesystem_write: ["/b/d"] })).toEqual([
      { host: "/b/d", guest: "/b/d", writable: true },
    ]);
    expect(policy.foreignEnv).not.toContain("LANG");
    expect(policy.written).toEqual(["memory"]);
  });
});
