/** Results as JSON and back: exact for any bytes. */

import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { decodeBase64, encodeBase64 } from "../../src/base64.ts";
import { decodeOutput, encodeExplanation, encodeOutput } from "../../src/codec.ts";
import { RuntimeError } from "../../src/errors.ts";
import { createCollector } from "../../src/output.ts";
import type { ExecutionOutput, Explanation } from "../../src/runtime-types.ts";

/** A path that an ordinary object could not hold. */
const awkward = "__proto__";

function outputOf({ stdout, cap = 1000 }: { stdout: Uint8Array; cap?: number }): ExecutionOutput {
  const kept = createCollector(cap);
  const nothing = createCollector(cap);
  kept.push(stdout);
  const files: Record<string, Uint8Array> = Object.create(null);
  files[awkward] = Uint8Array.of(1, 2, 255);
  return {
    ...{ id: "i", backend: "memory", outcome: "completed", exitCode: 3, signal: null, cause: null },
    ...{ stdout: kept.text(), stdoutBytes: kept.bytes(), stdoutTruncated: kept.truncated },
    ...{ stderr: nothing.text(), stderrBytes: nothing.bytes(), stderrTruncated: nothing.truncated },
    ...{ stdoutTotalBytes: kept.totalBytes, stderrTotalBytes: 0, durationMs: 1.5, files },
    warnings: [{ code: "weaker_memory", message: "Weaker" }],
    timings: { queueMs: 1, pullMs: 2, startMs: 3 },
  };
}

const roundTrip = (output: ExecutionOutput) => decodeOutput(JSON.parse(JSON.stringify(encodeOutput(output))));

describe("base64", () => {
  test("is what the runtime's own encoder writes, and reads back", () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 70 }), (bytes) => {
        expect(encodeBase64(bytes)).toBe(Buffer.from(bytes).toString("base64"));
        expect(decodeBase64(encodeBase64(bytes))).toEqual(bytes);
      }),
    );
  });

  test("a megabyte takes no noticeable time", () => {
    const bytes = crypto.getRandomValues(new Uint8Array(65_536));
    const large = new Uint8Array(2 ** 20).map((_, index) => bytes[index % bytes.length] ?? 0);
    const since = performance.now();
    expect(decodeBase64(encodeBase64(large)).every((byte, index) => byte === large[index])).toBe(true);
    expect(performance.now() - since).toBeLessThan(2000);
  });

  test.each(["a", "abc", "ab=c", "====", "a===", "ab\n=", "abc-", "äbcd"])("%j is none", (text) => {
    expect(() => decodeBase64(text)).toThrow(RangeError);
  });
});

describe("a result", () => {
  test("comes back as it was, whatever bytes are in it and wherever the cap cut them", () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 60 }), fc.integer({ min: 0, max: 70 }), (stdout, cap) => {
        const output = outputOf({ stdout, cap });
        expect(roundTrip(output)).toEqual(output);
      }),
    );
  });

  test("text comes back as it was, and needs no base64", () => {
    fc.assert(
      fc.property(fc.string({ unit: "binary" }), (text) => {
        const output = outputOf({ stdout: new TextEncoder().encode(text) });
        expect(encodeOutput(output)).not.toHaveProperty("stdout_base64");
        expect(roundTrip(output)).toEqual(output);
      }),
    );
  });

  test("has base64 beside the text exactly where the text does not say the bytes", () => {
    expect(encodeOutput(outputOf({ stdout: Uint8Array.of(0xff, 0x41) }))).toMatchObject({
      stdout: "\uFFFDA",
      stdout_base64: "/0E=",
    });
    const replacement = new TextEncoder().encode("\uFFFD");
    expect(encodeOutput(outputOf({ stdout: replacement }))).not.toHaveProperty("stdout_base64");
    // Three bytes that are no text: as many as the replacement character has.
    expect(encodeOutput(outputOf({ stdout: Uint8Array.of(0xe4, 0xb8, 0x41) }))).toHaveProperty("stdout_base64");
    expect(encodeOutput(outputOf({ stdout: new TextEncoder().encode("中中"), cap: 4 }))).toMatchObject({
      ...{ stdout: "中", stdout_base64: "5Lit5A==", stdout_truncated: true, stdout_total_bytes: 6 },
    });
  });

  test("has every member in snake_case", () => {
    const { timings, ...rest } = encodeOutput(outputOf({ stdout: Uint8Array.of(0xff) }));
    for (const name of [...Object.keys(rest), ...Object.keys(timings)]) expect(name).toMatch(/^[a-z0-9_]+$/);
    expect(rest).toMatchObject({ exit_code: 3, duration_ms: 1.5, stderr_truncated: false });
  });

  test.each([
    ["null", null, "timings"],
    ["a wrong type", { exit_code: "0" }, "exit_code"],
    ["a missing end", { exit_code: undefined }, "exit_code"],
    ["wrong base64", { stdout_base64: "?" }, "stdout_base64"],
    ["a wrong file", { files: { a: 1 } }, "files.a"],
    ["a wrong warning", { warnings: [{ code: "x" }] }, "warnings.0.message"],
    ["missing timings", { timings: {} }, "timings.queue_ms"],
  ])("is refused with %s, and the member is named", (_, change, member) => {
    const json = change === null ? null : { ...encodeOutput(outputOf({ stdout: new Uint8Array(0) })), ...change };
    const refusal = (() => {
      try {
        return decodeOutput(json);
      } catch (error) {
        return error;
      }
    })();
    expect(refusal).toBeInstanceOf(RuntimeError);
    expect(refusal).toMatchObject({ code: "internal", message: expect.stringContaining(`Member ${member} `) });
  });
});

test("an explanation has its members in snake_case, and the names of variables as they are", () => {
  const explanation = {
    plan: { workingDir: "/w", env: { myVar: "<redacted>", PATH: "<redacted>" }, limits: { timeoutMs: 1 } },
    addedEnv: ["HOSTNAME"],
    candidates: [{ probeMs: 2 }],
  } as unknown as Explanation;
  expect(encodeExplanation(explanation)).toEqual({
    plan: { working_dir: "/w", env: { myVar: "<redacted>", PATH: "<redacted>" }, limits: { timeout_ms: 1 } },
    added_env: ["HOSTNAME"],
    candidates: [{ probe_ms: 2 }],
  });
});
