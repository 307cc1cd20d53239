/** The core loads on an edge runtime: it bundles without a runtime's own modules, stays small, and starts on web globals. */

import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createContext, runInContext } from "node:vm";
import { describe, expect, onTestFinished, test } from "vitest";
import { bundleCore, coreEntry, maxGzipBytes } from "../../scripts/bundle-core.ts";

/** What every edge runtime has beside the language itself (the WinterTC minimum that the core may use). */
const webGlobals = [
  "AbortController",
  "AbortSignal",
  "Blob",
  "ByteLengthQueuingStrategy",
  "CountQueuingStrategy",
  "CompressionStream",
  "CustomEvent",
  "DOMException",
  "DecompressionStream",
  "Event",
  "EventTarget",
  "File",
  "FormData",
  "Headers",
  "ReadableStream",
  "Request",
  "Response",
  "TextDecoder",
  "TextDecoderStream",
  "TextEncoder",
  "TextEncoderStream",
  "TransformStream",
  "URL",
  "URLSearchParams",
  "WritableStream",
  "atob",
  "btoa",
  "clearInterval",
  "clearTimeout",
  "console",
  "crypto",
  "fetch",
  "performance",
  "queueMicrotask",
  "setInterval",
  "setTimeout",
  "structuredClone",
] as const;

/** Evaluates a bundle where nothing else is to be had: no process, no require, no Buffer, no eval. */
function loadOnEdge(code: string): Record<string, unknown> {
  const host: Record<string, unknown> = globalThis;
  const globals = Object.fromEntries(webGlobals.map((name) => [name, host[name]]));
  const context = createContext(globals, { codeGeneration: { strings: false, wasm: false } });
  runInContext("globalThis.self = globalThis", context);
  return runInContext(`${code}\n;core`, context);
}

/** A source file that stands in for the core's door. */
function entry(source: string): string {
  const folder = mkdtempSync(join(tmpdir(), "prx-edge-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  writeFileSync(join(folder, "core.ts"), source);
  return join(folder, "core.ts");
}

describe("the core", () => {
  test("is one self-contained module, small enough for the wire", async () => {
    const { code, gzipBytes } = await bundleCore({ entry: coreEntry, format: "esm" });
    expect(code).not.toMatch(/\bfrom\s*["']|\bimport\s*[("']/);
    expect(gzipBytes).toBeLessThanOrEqual(maxGzipBytes);
  });

  test("starts where there are only web globals", async () => {
    const { code } = await bundleCore({ entry: coreEntry, format: "iife" });
    const core = loadOnEdge(code);
    expect(core).toHaveProperty("assembleRuntime");
    expect(core).toHaveProperty("RuntimeError");
  });
});

describe("what would not load there is caught", () => {
  test.each([
    ["a runtime's own module", 'import { readFileSync } from "node:fs";\nexport { readFileSync };\n', "node:fs"],
    ["one behind an unused dynamic import", 'export const later = () => import("node:net");\n', "node:net"],
    ["a package that is not there", 'export * from "no-such-package";\n', "no-such-package"],
  ])("%s", async (_name, source, said) => {
    await expect(bundleCore({ entry: entry(source), format: "esm" })).rejects.toThrow(said);
  });

  test.each([
    ["process", "export const cwd = process.cwd();\n"],
    ["Buffer", 'export const bytes = Buffer.from("a");\n'],
    ["code from strings", 'export const f = new Function("return 1")();\n'],
  ])("%s at load time", async (_name, source) => {
    const { code } = await bundleCore({ entry: entry(source), format: "iife" });
    expect(() => loadOnEdge(code)).toThrow();
  });
});
