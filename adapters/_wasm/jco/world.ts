/** What a guest may ask for and must offer, to be a command. */

export interface World {
  /** Interfaces, without versions. */
  readonly imports: readonly string[];
  readonly exports: readonly string[];
}

const known = /^wasi:(cli|clocks|filesystem|io|random|sockets|http)\/[a-z0-9-]+$/;
const run = /^wasi:cli\/run@0\.2\.\d+$/;

/** @throws Error which names what is asked for that nobody has, or that it is no command of WASI preview 2. */
export function checkWorld({ imports, exports }: World): void {
  const unknown = imports.find((name) => !known.test(name));
  if (unknown !== undefined)
    throw new Error(`It imports ${unknown}, and only the interfaces of WASI preview 2 are offered`);
  if (exports.some((name) => run.test(name))) return;
  const offered = exports.length === 0 ? "nothing" : exports.join(", ");
  throw new Error(`It is no command: it exports ${offered}, and not wasi:cli/run of WASI preview 2`);
}
