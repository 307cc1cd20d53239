/** The cap counts bytes, keeps the first of them exactly, and cuts no character in two. */

import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { createCollector } from "../../src/output.ts";

const encode = (text: string) => new TextEncoder().encode(text);
const decode = (bytes: Uint8Array) => new TextDecoder("utf-8", { ignoreBOM: true }).decode(bytes);
const concat = (chunks: readonly Uint8Array[]) => Uint8Array.from(chunks.flatMap((chunk) => [...chunk]));

function collect(cap: number, ...chunks: readonly Uint8Array[]) {
  const collector = createCollector(cap);
  for (const chunk of chunks) collector.push(chunk);
  return collector;
}

/** As many whole characters as fit. */
function prefixWithin(text: string, cap: number): string {
  let kept = "";
  for (const character of text) {
    if (encode(kept + character).length > cap) break;
    kept += character;
  }
  return kept;
}

const chunks = fc.array(fc.uint8Array({ maxLength: 12 }), { maxLength: 6 });
const cap = fc.nat({ max: 40 });

describe("bytes", () => {
  test("the first ones up to the cap, however they are chunked, and the count of all", () => {
    fc.assert(
      fc.property(chunks, cap, (given, most) => {
        const all = concat(given);
        const { totalBytes, truncated, ...collector } = collect(most, ...given);
        expect(collector.bytes()).toEqual(all.slice(0, most));
        expect({ totalBytes, truncated }).toEqual({ totalBytes: all.length, truncated: all.length > most });
        expect(collector.bytes()).toEqual(all.slice(0, most));
      }),
    );
  });

  test("may be looked at in between", () => {
    const collector = collect(5, encode("ab"), encode("c"));
    expect([collector.text(), collector.totalBytes]).toEqual(["abc", 3]);
    collector.push(encode("defgh"));
    expect([collector.text(), decode(collector.bytes()), collector.totalBytes]).toEqual(["abcde", "abcde", 8]);
  });

  test("hold nothing but themselves: no larger buffer of the runtime's is kept alive or shown", () => {
    const large = new Uint8Array(64 * 1024).fill(0x53);
    large.set(encode("hi"));
    for (const collector of [collect(10, large.subarray(0, 2)), collect(1, large.subarray(0, 2)), collect(2, large)]) {
      expect(collector.bytes().buffer.byteLength).toBe(collector.bytes().byteLength);
    }
    const whole = Uint8Array.of(1, 2, 3);
    expect(collect(10, whole).bytes()).toBe(whole);
  });

  test("none fit into a cap of nothing, and nothing at all is not cut", () => {
    expect(collect(0, encode("é"))).toMatchObject({ totalBytes: 2, truncated: true });
    expect(collect(0, encode("é")).text()).toBe("");
    expect(collect(0, new Uint8Array(0))).toMatchObject({ totalBytes: 0, truncated: false });
    expect(collect(2, encode("é"))).toMatchObject({ totalBytes: 2, truncated: false });
  });
});

describe("text", () => {
  test("at every cut: exactly the whole characters before it", () => {
    const text = "a\u00e9\u4e2d\u{1f600}\ufeff\u0000z";
    for (let most = 0; most <= encode(text).length; most += 1) {
      expect(collect(most, encode(text)).text()).toBe(prefixWithin(text, most));
    }
  });

  test("for any text, any chunks and any cut", () => {
    fc.assert(
      fc.property(fc.string({ unit: "grapheme" }), cap, fc.nat({ max: 60 }), (text, most, at) => {
        const bytes = encode(text);
        const collector = collect(most, bytes.slice(0, at), bytes.slice(at));
        expect(collector.text()).toBe(prefixWithin(text, most));
      }),
    );
  });

  test("for any bytes: what a decoder makes of all of them, cut at most by the last character", () => {
    fc.assert(
      fc.property(chunks, cap, (given, most) => {
        const collector = collect(most, ...given);
        const text = collector.text();
        expect(text.isWellFormed()).toBe(true);
        expect(decode(concat(given)).startsWith(text)).toBe(true);
        const kept = decode(collector.bytes());
        if (collector.truncated) expect([text, `${text}\ufffd`]).toContain(kept);
        else expect(text).toBe(kept);
      }),
    );
  });

  test("a byte order mark stays, bytes that are no UTF-8 become U+FFFD, half a character at the true end too", () => {
    expect(collect(10, Uint8Array.of(0xef, 0xbb, 0xbf, 0x61)).text()).toBe("\ufeffa");
    expect(collect(10, Uint8Array.of(0xff, 0xfe, 0x00, 0x41)).text()).toBe("\ufffd\ufffd\u0000A");
    expect(collect(10, Uint8Array.of(0x61, 0xe4, 0xb8)).text()).toBe("a\ufffd");
    expect(collect(3, Uint8Array.of(0x61, 0xe4, 0xb8, 0xad)).text()).toBe("a");
  });

  test("a cap of a thousand is a thousand bytes, not characters", () => {
    const collector = collect(1000, encode("\u4e2d".repeat(900)));
    expect(collector).toMatchObject({ totalBytes: 2700, truncated: true });
    expect([collector.bytes().length, collector.text()]).toEqual([1000, "\u4e2d".repeat(333)]);
  });
});
