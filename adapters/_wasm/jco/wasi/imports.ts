/** All that a guest can import, made of what it was given and of nothing else. */

import type { Preopen, RunDescription } from "../run-description.ts";
import { insecure, insecureSeed, monotonicClock, random, timezone, wallClock } from "./clocks.ts";
import { Pollable, poll } from "./poll.ts";
import { refused } from "./refused.ts";
import { createStdio } from "./stdio.ts";
import { InputStream, IoError, OutputStream } from "./streams.ts";

export interface Ends {
  /** Ends the process. */
  exit(code: number): never;
  /** Is shown what the guest writes to stderr. */
  sees(bytes: Uint8Array): void;
}

/** @param names of the interfaces that the guest imports, without versions */
export async function createImports(
  names: readonly string[],
  { run, exit, sees }: { readonly run: RunDescription } & Ends,
): Promise<Record<string, object>> {
  const { stdin, stdout, stderr } = createStdio(sees);
  const filesystem = await filesystemOf(run.preopens);
  const offered: Record<string, object> = {
    "wasi:cli/environment": {
      getEnvironment: () => Object.entries(run.env),
      getArguments: () => [...run.args],
      initialCwd: () => undefined,
      getInitialCwd: () => undefined,
    },
    "wasi:cli/exit": {
      exit: (status: { readonly tag: string }) => exit(status.tag === "err" ? 1 : 0),
      exitWithCode: (code: number) => exit(code & 0xff),
    },
    "wasi:cli/stdin": stdin,
    "wasi:cli/stdout": stdout,
    "wasi:cli/stderr": stderr,
    // To a guest nothing is a terminal, whatever the host was started in.
    "wasi:cli/terminal-input": { TerminalInput: class {} },
    "wasi:cli/terminal-output": { TerminalOutput: class {} },
    "wasi:cli/terminal-stdin": { getTerminalStdin: () => undefined },
    "wasi:cli/terminal-stdout": { getTerminalStdout: () => undefined },
    "wasi:cli/terminal-stderr": { getTerminalStderr: () => undefined },
    "wasi:clocks/monotonic-clock": monotonicClock,
    "wasi:clocks/wall-clock": wallClock,
    "wasi:clocks/timezone": timezone,
    "wasi:filesystem/types": filesystem.types,
    "wasi:filesystem/preopens": filesystem.preopens,
    "wasi:random/random": random,
    "wasi:random/insecure": insecure,
    "wasi:random/insecure-seed": insecureSeed,
    "wasi:io/error": { Error: IoError },
    "wasi:io/streams": { InputStream, OutputStream },
    "wasi:io/poll": { Pollable, poll },
  };
  const ofNetwork = names.filter((name) => /^wasi:(sockets|http)\//.test(name));
  if (ofNetwork.length === 0) return offered;
  if (run.network) {
    const { createNetwork } = await import("./network.ts");
    return { ...offered, ...(await createNetwork()) };
  }
  return { ...offered, ...Object.fromEntries(ofNetwork.map((name) => [name, refused(name)])) };
}

/** What is not granted is not loaded either: without directories the process may be permitted no look at any. */
async function filesystemOf(preopens: readonly Preopen[]) {
  if (preopens.length > 0) return (await import("./filesystem.ts")).createFilesystem(preopens);
  const types = {
    Descriptor: class {},
    DirectoryEntryStream: class {},
    filesystemErrorCode: (error: unknown) => (error instanceof IoError ? error.code : undefined),
  };
  return { types, preopens: { getDirectories: () => [] } };
}
