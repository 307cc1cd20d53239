/** Exit codes that an engine's program loses, as a note at the end of stderr. */

import { describe, expect, it } from "vitest";
import { readBinary } from "../../adapters/_wasm/binary.ts";
import { exitModule, redirectExit, tailOf } from "../../adapters/_wasm/exit-note.ts";
import { watchStderr } from "../../adapters/_wasm/guest-stderr.ts";
import { componentOf, moduleOf } from "../fixtures/wasm-modules.ts";

const wasi = "wasi_snapshot_preview1";

describe("the redirected exit", () => {
  it("takes the place of the engine's, and nothing else is changed", () => {
    const imports = [[wasi, "fd_write"] as const, [wasi, "proc_exit"] as const, [wasi, "random_get"] as const];
    const before = moduleOf({ imports, memories: [1] });
    const after = redirectExit(before);
    expect(readBinary(after)).toEqual({
      ...readBinary(before),
      imports: [
        { module: wasi, name: "fd_write" },
        { module: "prx", name: "proc_exit" },
        { module: wasi, name: "random_get" },
      ],
    });
    expect(WebAssembly.validate(new Uint8Array(after))).toBe(true);
  });

  it("leaves alone a module that does not exit, another's exit, and a component", () => {
    for (const bytes of [moduleOf({}), moduleOf({ imports: [["env", "proc_exit"]] }), componentOf({})])
      expect(redirectExit(bytes)).toBe(bytes);
  });
});

/** What the module of the exit writes and exits with, given a code. */
async function exitOf(code: number): Promise<{ readonly written: Uint8Array; readonly status: number | undefined }> {
  let written = new Uint8Array(0);
  let status: number | undefined;
  const module = await WebAssembly.compile(new Uint8Array(exitModule()));
  const instance: WebAssembly.Instance = await WebAssembly.instantiate(module, {
    [wasi]: {
      fd_write: (fd: number, iovs: number, count: number) => {
        expect([fd, count]).toEqual([2, 1]);
        const { buffer } = instance.exports["memory"] as WebAssembly.Memory;
        const view = new DataView(buffer);
        written = new Uint8Array(buffer.slice(view.getUint32(iovs, true))).slice(0, view.getUint32(iovs + 4, true));
        return 0;
      },
      proc_exit: (value: number) => {
        status = value;
      },
    },
  });
  (instance.exports["proc_exit"] as (code: number) => void)(code);
  return { written, status };
}

describe("the note", () => {
  it("brings out every code that a process can have", async () => {
    for (let code = 0; code < 256; code += 1) {
      const { written, status } = await exitOf(code);
      expect(tailOf(written).code ?? status).toBe(code);
      expect(status).toBeLessThan(126);
    }
  });

  it.each([
    [256, 0],
    [-1, 255],
    [300, 44],
  ])("is of the low eight bits of %i", async (code, told) => {
    const { written, status } = await exitOf(code);
    expect(tailOf(written).code ?? status).toBe(told);
  });
});

const bytes = (text: string) => new TextEncoder().encode(text);

describe("the end of stderr", () => {
  it.each([
    ["", { held: 0, code: null }],
    ["plain\n", { held: 0, code: null }],
    ["plain\0prx-exit:201", { held: 13, code: 201 }],
    ["plain\0prx-e", { held: 6, code: null }],
    ["plain\0", { held: 1, code: null }],
    ["plain\0prx-exit:20x", { held: 13, code: null }],
    ["plain\0other", { held: 0, code: null }],
    ["\0prx-exit:201 and more", { held: 0, code: null }],
  ])("%j", (text, tail) => {
    const found = tailOf(bytes(text));
    expect(found.code).toBe(tail.code);
    if (tail.code === null && tail.held === 0) expect(found.held).toBe(0);
    else expect(found.held).toBe(tail.held);
  });

  it.each([
    ["in one piece", ["so\0prx-exit:133"]],
    ["byte by byte", [..."so\0prx-exit:133"]],
    ["cut in the middle", ["so\0prx", "-exit:1", "33"]],
  ])("is taken off: %s", async (_, chunks) => {
    const stderr = watchStderr(streamOf(chunks.map(bytes)));
    const reading = textOf(stderr.stream);
    expect(await stderr.settle()).toEqual({ note: 133, lastWords: "so" });
    expect(await reading).toBe("so");
  });

  it("is handed on where it only looked like a note", async () => {
    const text = "a\0prx-exit:1\0b\0prx-";
    const stderr = watchStderr(streamOf([...text].map(bytes)));
    const reading = textOf(stderr.stream);
    expect((await stderr.settle()).note).toBeNull();
    expect(await reading).toBe(text);
  });

  it("is known though nobody has read so far, and everything is read afterwards", async () => {
    const stderr = watchStderr(streamOf([bytes("one "), bytes("two"), bytes("\0prx-exit:007")]));
    expect(await stderr.settle()).toEqual({ note: 7, lastWords: "one two" });
    expect(await textOf(stderr.stream)).toBe("one two");
  });

  it("pulls no faster than it is read", async () => {
    let pulled = 0;
    const source = new ReadableStream<Uint8Array>(
      {
        pull(controller) {
          pulled += 1;
          controller.enqueue(bytes("x"));
        },
      },
      { highWaterMark: 0 },
    );
    const reader = watchStderr(source).stream.getReader();
    await reader.read();
    await reader.read();
    expect(pulled).toBe(2);
    await reader.cancel();
  });
});

function streamOf(chunks: readonly Uint8Array[]): ReadableStream<Uint8Array> {
  return new ReadableStream({
    start(controller) {
      for (const chunk of chunks) controller.enqueue(chunk);
      controller.close();
    },
  });
}

async function textOf(stream: ReadableStream<Uint8Array>): Promise<string> {
  return new Response(stream).text();
}
