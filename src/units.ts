/** Sizes, processor shares and durations: one unit system for every table, every backend and every request. */

const sizePattern = /^(\d{1,20})(?:\.(\d{1,20}))?(?:b|([kmgt])(?:b|ib?)?)?$/i;
const coresPattern = /^(\d{1,10})(?:\.(\d{1,20}))?$/;
const millicoresPattern = /^(\d{1,13})m$/;
const powers: Readonly<Record<string, bigint>> = { k: 1n << 10n, m: 1n << 20n, g: 1n << 30n, t: 1n << 40n };
const maxCores = 1_000_000;

/** Bytes in a mebibyte: what `m`, `Mi` and every key that ends in `_mb` count in. */
export const mebibyte = 1_048_576;

/**
 * Reads a size in bytes. `k`, `m`, `g` and `t` are binary, as docker's are (`"256m"` is 256 × 1024 × 1024), whatever their
 * case, and `Ki`, `Mi`, `Gi` and `Ti` mean the same; a number, or digits without a unit, counts bytes. A fraction of a byte
 * is dropped, so that a limit is never more than what was written.
 *
 * @returns A safe integer, 0 or more.
 * @throws RangeError when it is no size, or one beyond 2^53 - 1.
 * @example
 * ```ts
 * parseSize("1.5Gi"); // → 1610612736
 * ```
 */
export function parseSize(size: string | number): number {
  if (typeof size === "number") {
    if (Number.isSafeInteger(size) && size >= 0) return size;
    throw new RangeError(`${size} is not a whole number of bytes`);
  }
  const [, whole, fraction = "", unit] = sizePattern.exec(size) ?? [];
  if (whole === undefined)
    throw new RangeError(`${JSON.stringify(size)} is not a size such as "256m", "1.5Gi" or 268435456`);
  const digits = BigInt(whole + fraction);
  const power = unit === undefined ? 1n : (powers[unit.toLowerCase()] ?? 1n);
  const bytes = Number((digits * power) / 10n ** BigInt(fraction.length));
  if (Number.isSafeInteger(bytes)) return bytes;
  throw new RangeError(`${JSON.stringify(size)} is more than 2^53 - 1 bytes`);
}

/**
 * Writes a size the short way, without loss: {@link parseSize} reads back the same number.
 *
 * @example
 * ```ts
 * formatSize(268_435_456); // → "256m"
 * ```
 */
export function formatSize(bytes: number): string {
  for (const unit of ["t", "g", "m", "k"]) {
    const power = Number(powers[unit]);
    if (bytes >= power && bytes % power === 0) return `${bytes / power}${unit}`;
  }
  return String(bytes);
}

/**
 * Reads a share of processors in cores: `"1.5"`, `1.5`, or `"1500m"` in thousandths as Kubernetes writes them.
 *
 * @returns More than 0, at most a million, and a whole number of thousandths: the finest step every backend knows.
 * @throws RangeError when it is none of these.
 * @example
 * ```ts
 * parseCores("500m"); // → 0.5
 * ```
 */
export function parseCores(cores: string | number): number {
  const read = typeof cores === "number" ? cores : coresOf(cores);
  const shown = JSON.stringify(cores);
  if (!Number.isFinite(read)) throw new RangeError(`${shown} is not a number of cores such as "1.5" or "500m"`);
  if (read <= 0 || read > maxCores) throw new RangeError(`${shown} is not between 0.001 and ${maxCores} cores`);
  if (Math.round(read * 1000) / 1000 !== read) throw new RangeError(`${shown} is finer than a thousandth of a core`);
  return read;
}

function coresOf(text: string): number {
  const thousandths = millicoresPattern.exec(text)?.[1];
  if (thousandths !== undefined) return Number(thousandths) / 1000;
  return coresPattern.test(text) ? Number(text) : Number.NaN;
}

/** Thousandths of a core, exact for everything {@link parseCores} answers. */
export function toMillicores(cores: number): number {
  return Math.round(cores * 1000);
}

/**
 * Seconds, fractions included, in whole milliseconds. What is more than 0 stays more than 0, because 0 means no limit.
 *
 * @returns A safe integer, 0 or more.
 * @throws RangeError when it is negative, not finite, or too long to count.
 * @example
 * ```ts
 * secondsToMs(0.25); // → 250
 * ```
 */
export function secondsToMs(seconds: number): number {
  if (!Number.isFinite(seconds) || seconds < 0)
    throw new RangeError(`${seconds} is not a number of seconds, 0 or more`);
  const ms = Math.round(seconds * 1000);
  if (!Number.isSafeInteger(ms)) throw new RangeError(`${seconds} seconds are too long to count in milliseconds`);
  return ms === 0 && seconds > 0 ? 1 : ms;
}
