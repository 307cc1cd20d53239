/** Real pipes on Bun, which can call the system's own functions: they have no name that anybody else could open. */

import type { PipePool } from "./pipes.ts";

/** glibc by its name; musl takes it for itself. */
const library = "libc.so.6";
// From fcntl.h, alike on every architecture that Bun runs on.
const closeOnExec = 0o2000000;
const setFlags = 4;
const nonBlocking = 0o4000;

/** `null` where the functions cannot be reached. */
export function createBunPipePool(): PipePool | null {
  if (process.platform !== "linux") return null;
  try {
    const { dlopen } = process.getBuiltinModule("bun:ffi") as typeof import("bun:ffi");
    const { pipe2, fcntl } = dlopen(library, {
      pipe2: { args: ["ptr", "i32"], returns: "i32" },
      fcntl: { args: ["i32", "i32", "i32"], returns: "i32" },
    }).symbols;
    const ends = new Int32Array(2);
    return {
      open: () => {
        if (pipe2(ends, closeOnExec) !== 0) throw new Error("No pipe can be made");
        const [hostFd = -1, childFd = -1] = ends;
        fcntl(hostFd, setFlags, nonBlocking);
        return { hostFd, childFd, giveBack: () => {} };
      },
      close: () => {},
    };
  } catch {
    // Another C library, or a kernel that lets no program make code as it runs.
    return null;
  }
}
