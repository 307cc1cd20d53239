/** Sizes, cores and seconds: exact where they are right, refused where they are not. */

import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { formatSize, parseCores, parseSize, secondsToMs, toMillicores } from "../../src/units.ts";

describe("sizes", () => {
  test.each([
    ["256m", 268_435_456],
    ["1g", 1_073_741_824],
    ["512k", 524_288],
    ["256Mi", 268_435_456],
    ["1.5Gi", 1_610_612_736],
    ["2t", 2 ** 41],
    ["512MB", 2 ** 29],
    ["512MiB", 2 ** 29],
    ["512M", 2 ** 29],
    ["10b", 10],
    ["268435456", 268_435_456],
    [268_435_456, 268_435_456],
    [0, 0],
    ["0.1k", 102],
    ["8191t", 8191 * 2 ** 40],
  ])("%j is %d bytes", (written, bytes) => {
    expect(parseSize(written)).toBe(bytes);
  });

  test.each([
    "",
    " ",
    "m",
    "-1m",
    "+1m",
    "1e3",
    "1.m",
    ".5m",
    "1 m",
    "1m ",
    "1mm",
    "1x",
    "0x10",
    "1,5g",
    "NaN",
    "Infinity",
    "9".repeat(99),
  ])("%j is no size", (written) => {
    expect(() => parseSize(written)).toThrow(RangeError);
  });

  test.each([Number.NaN, Number.POSITIVE_INFINITY, -1, 0.5, 2 ** 53])("%d is no number of bytes", (written) => {
    expect(() => parseSize(written)).toThrow(RangeError);
  });

  test.each(["8192t", "9007199254740992"])("%j is more than a safe integer", (written) => {
    expect(() => parseSize(written)).toThrow("more than 2^53 - 1");
  });

  test("what formatSize writes, parseSize reads", () => {
    fc.assert(fc.property(fc.maxSafeNat(), (bytes) => parseSize(formatSize(bytes)) === bytes));
  });

  test("a unit multiplies exactly", () => {
    const units = fc.constantFrom(["k", 10n], ["m", 20n], ["g", 30n], ["Ki", 10n], ["Mi", 20n], ["Gi", 30n]);
    fc.assert(
      fc.property(fc.nat(1_000_000), fc.nat(999), units, (whole, thousandths, [unit, shift]) => {
        const written = `${whole}.${String(thousandths).padStart(3, "0")}${unit}`;
        const exact = ((BigInt(whole) * 1000n + BigInt(thousandths)) << BigInt(shift)) / 1000n;
        return parseSize(written) === Number(exact);
      }),
    );
  });

  test("any text is a size or a RangeError", () => {
    fc.assert(fc.property(fc.string(), (written) => isNumberOrRangeError(() => parseSize(written))));
  });
});

describe("cores", () => {
  test.each([
    ["1.0", 1],
    ["500m", 0.5],
    ["1500m", 1.5],
    ["0.25", 0.25],
    [2, 2],
    [0.1, 0.1],
    ["1m", 0.001],
  ])("%j is %d cores", (written, cores) => {
    expect(parseCores(written)).toBe(cores);
  });

  test.each([
    "",
    "0",
    "0m",
    "-1",
    "1e3",
    "1.5m",
    "one",
    "Infinity",
    0,
    -1,
    Number.NaN,
    Number.POSITIVE_INFINITY,
    0.0001,
    "0.0005",
    1 / 3,
    1e7,
  ])("%j is no number of cores", (written) => {
    expect(() => parseCores(written)).toThrow(RangeError);
  });

  test("thousandths are exact in both spellings", () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 1_000_000_000 }), (thousandths) => {
        const cores = parseCores(`${thousandths}m`);
        return (
          toMillicores(cores) === thousandths && parseCores(cores) === cores && parseCores(cores.toFixed(3)) === cores
        );
      }),
    );
  });

  test("any text is a number of cores or a RangeError", () => {
    fc.assert(fc.property(fc.string(), (written) => isNumberOrRangeError(() => parseCores(written))));
  });
});

describe("seconds", () => {
  test.each([
    [0, 0],
    [0.25, 250],
    [1.1, 1100],
    [60, 60_000],
    [0.0001, 1],
    [Number.MIN_VALUE, 1],
  ])("%d s are %d ms", (seconds, ms) => {
    expect(secondsToMs(seconds)).toBe(ms);
  });

  test.each([-1, Number.NaN, Number.POSITIVE_INFINITY, 1e300])("%d is no number of seconds", (seconds) => {
    expect(() => secondsToMs(seconds)).toThrow(RangeError);
  });

  test("no limit stays no limit, and a limit stays one", () => {
    fc.assert(
      fc.property(
        fc.double({ min: 0, max: 1e12, noNaN: true }),
        (seconds) => (secondsToMs(seconds) === 0) === (seconds === 0),
      ),
    );
  });
});

function isNumberOrRangeError(read: () => number): boolean {
  try {
    return Number.isFinite(read());
  } catch (thrown) {
    return thrown instanceof RangeError;
  }
}
