/** Plans and streams for tests that drive an adapter without a runtime above it. */

import { type MemoryOptions, memory } from "../../adapters/memory.ts";
import type { BackendContext } from "../../src/backend.ts";
import type { ExecutionPlan, Offsets, RuntimeAdapter, StartIo } from "../../src/types.ts";

let plans = 0;

/** A plan that asks for nothing in particular. */
export function planFor(argv: readonly [string, ...string[]], rest: Partial<ExecutionPlan> = {}): ExecutionPlan {
  plans += 1;
  return {
    ...{ id: `execution-${plans}`, owner: "owner-1", backend: "memory", tool: null, argv, env: {}, workingDir: null },
    ...{ stdin: "none", files: [], outputs: [], network: "none", filesystem: "workspace", privilege: "none" },
    ...{
      workspace: { root: null, mode: "memory" },
      image: null,
      module: null,
      grants: [],
      demands: [],
      acceptWeaker: [],
    },
    ...rest,
    limits: {
      ...{ timeoutMs: 0, backstopMs: 0, killGraceMs: 50, maxOutputBytes: 1000 },
      ...{ memoryBytes: null, cpus: null, cpuTimeMs: null, pids: null, openFiles: null },
      ...rest.limits,
    },
  };
}

export const noIo: StartIo = { files: new Map() };
export const fromTheStart: Offsets = { stdout: 0, stderr: 0 };

/** An adapter whose factory looks at nothing. */
export async function adapterOf(options: MemoryOptions): Promise<RuntimeAdapter> {
  const { adapter } = await memory(options)({} as BackendContext);
  return adapter;
}

/** A signal that nobody aborts. */
export function never(): AbortSignal {
  return new AbortController().signal;
}

/** All bytes of a stream. */
export async function readAll(stream: ReadableStream<Uint8Array>): Promise<Uint8Array> {
  return new Uint8Array(await new Response(stream as ReadableStream<Uint8Array<ArrayBuffer>>).arrayBuffer());
}

/** All of a stream as text. */
export async function readText(stream: ReadableStream<Uint8Array>): Promise<string> {
  return new TextDecoder().decode(await readAll(stream));
}
