/**
 * What of WASI preview 1 the adapter between the previews does not do exactly, done in its place: a module's own exit codes,
 * of which it knows success and failure only, and its arguments and variables, where an empty text among them ends up anywhere.
 */

export interface Preview1Parts {
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  /** Ends the process. */
  exit(code: number): never;
  /** Of the module, which has one by the time that it calls anything. */
  memory(): WebAssembly.Memory;
}

/** Errno `success`. */
const success = 0;

export function preview1Functions({
  args,
  env,
  exit,
  memory,
}: Preview1Parts): Record<string, (...words: number[]) => number> {
  const variables = Object.entries(env).map(([name, value]) => `${name}=${value}`);
  const ofArgs = stringFunctions(args, memory);
  const ofEnv = stringFunctions(variables, memory);
  return {
    proc_exit: (code = 0) => exit(code & 0xff),
    args_sizes_get: ofArgs.sizes,
    args_get: ofArgs.strings,
    environ_sizes_get: ofEnv.sizes,
    environ_get: ofEnv.strings,
  };
}

/** Texts as preview 1 gives them: pointers in one place, and in another the bytes, a NUL after each. */
function stringFunctions(texts: readonly string[], memory: () => WebAssembly.Memory) {
  const encoder = new TextEncoder();
  const encoded = texts.map((text) => encoder.encode(`${text}\0`));
  return {
    sizes(countAt = 0, bytesAt = 0): number {
      const view = new DataView(memory().buffer);
      view.setUint32(countAt, encoded.length, true);
      view.setUint32(
        bytesAt,
        encoded.reduce((sum, { length }) => sum + length, 0),
        true,
      );
      return success;
    },
    strings(pointersAt = 0, bytesAt = 0): number {
      const { buffer } = memory();
      const [view, bytes] = [new DataView(buffer), new Uint8Array(buffer)];
      let at = bytesAt;
      for (const [index, text] of encoded.entries()) {
        view.setUint32(pointersAt + 4 * index, at, true);
        bytes.set(text, at);
        at += text.length;
      }
      return success;
    },
  };
}
