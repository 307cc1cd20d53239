/** What no engine is asked to run. */

import { describe, expect, it } from "vitest";
import { checkBinary, checkMemory } from "../../adapters/_wasm/requirements.ts";
import { componentOf, moduleOf } from "../fixtures/wasm-modules.ts";

const check = (bytes: Uint8Array) => () => checkBinary(bytes, "tool");
const wasi = "wasi_snapshot_preview1";

describe("a command", () => {
  it("is a module with _start that asks for WASI preview 1", () => {
    expect(checkBinary(moduleOf({ imports: [[wasi, "fd_write"]] }), "tool").kind).toBe("module");
  });

  it("is a component that exports wasi:cli/run and asks for WASI 0.2", () => {
    const imports = ["wasi:cli/environment@0.2.0", "wasi:sockets/tcp@0.2.6"];
    expect(checkBinary(componentOf({ imports }), "tool").kind).toBe("component");
  });

  it.each([
    ["a library", moduleOf({ exports: ["run"] }), "exports no _start"],
    ["an unknown import", moduleOf({ imports: [["env", "mystery"]] }), "imports env.mystery"],
    ["a function that WASI does not have", moduleOf({ imports: [[wasi, "sock_open"]] }), `imports ${wasi}.sock_open`],
    [
      "the WASI before preview 1",
      moduleOf({ imports: [["wasi_unstable", "fd_write"]] }),
      "imports wasi_unstable.fd_write",
    ],
    ["a component that is no command", componentOf({ exports: ["my:tool/run@1.0.0"] }), "it exports my:tool/run@1.0.0"],
    [
      "a component with wishes",
      componentOf({ imports: ["wasi:http/types@0.2.0", "a:b/c@1.0.0"] }),
      "imports wasi:http/types@0.2.0, a:b/c@1.0.0",
    ],
    ["a component of another WASI", componentOf({ imports: ["wasi:cli/stdin@0.3.0"] }), "imports wasi:cli/stdin@0.3.0"],
    ["a text", new TextEncoder().encode("hello"), "it is no WASM binary"],
  ])("is not: %s", (_, bytes, why) => {
    expect(check(bytes)).toThrow(expect.objectContaining({ code: "not_executable", backend: "wasm" }));
    expect(check(bytes)).toThrow(why);
  });

  it("names the first of many unknown imports, and how many there are besides", () => {
    const imports = Array.from({ length: 7 }, (_, index) => ["env", `f${index}`] as const);
    expect(check(moduleOf({ imports }))).toThrow("env.f0, env.f1, env.f2, env.f3, env.f4 and 2 more");
  });
});

describe("memory to begin with", () => {
  const mib = 1024 * 1024;

  it("may be as much as the limit", () => {
    expect(() => checkMemory(checkBinary(moduleOf({ memories: [16] }), "tool"), "tool", mib)).not.toThrow();
  });

  it("is refused above the limit, that of all memories together", () => {
    const binary = checkBinary(moduleOf({ memories: [9, 8] }), "tool");
    expect(() => checkMemory(binary, "tool", mib)).toThrow(expect.objectContaining({ code: "policy_unenforceable" }));
    expect(() => checkMemory(binary, "tool", mib)).toThrow("begins with 2 MiB of memory, and 1 MiB is the limit");
  });

  it("is refused of a module inside a component", () => {
    const binary = checkBinary(componentOf({ modules: [moduleOf({ memories: [65_536] })] }), "tool");
    expect(() => checkMemory(binary, "tool", 64 * mib)).toThrow("4096 MiB");
  });

  it("is nobody's concern where there is no limit", () => {
    expect(() => checkMemory(checkBinary(moduleOf({ memories: [65_536] }), "tool"), "tool", null)).not.toThrow();
  });
});
