/** What cannot be executed for what the sandbox hides is told alike by both sandboxes, and is no exit of a command. */

import { chmodSync, mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { need } from "../fixtures/needed.ts";
import { tried } from "./against.ts";
import { sandboxedRuntime } from "./ways.ts";

let place = "";
let work = "";

beforeEach(() => {
  place = realpathSync(mkdtempSync(join(tmpdir(), "prx-unexecutable-")));
  work = join(place, "work");
  for (const path of [work, join(place, "outside")]) mkdirSync(path);
});
afterEach(() => rmSync(place, { recursive: true, force: true }));

function write(path: string, content: string | Uint8Array): void {
  writeFileSync(join(place, path), content);
  chmodSync(join(place, path), 0o755);
}

describe.each(tried)("in %s", (sandbox, obstacle) => {
  const run = async (command: string, limits = {}) => {
    await using runtime = await sandboxedRuntime(sandbox);
    return await runtime.execute(command, [], { workingDir: work, limits });
  };

  test.for([
    [
      "the interpreter of the interpreter",
      () => {
        write("work/second", `#!../outside/sh\n`);
        write("work/tool", `#!${join(work, "second")}\n`);
      },
    ],
    [
      "the loader",
      () => {
        const program = readFileSync("/bin/true");
        const at = program.indexOf("/lib64/ld-linux-x86-64.so.2");
        if (at !== -1) program.write("/lib64/ld-linux-x86-64.so.9", at);
        write("work/tool", at === -1 ? "#!../outside/sh\n" : program);
      },
    ],
  ] as const)("%s", async ([, make], context) => {
    need(context, obstacle);
    write("outside/sh", readFileSync("/bin/sh"));
    make();
    for (const limits of [{}, { openFiles: 100 }])
      await expect(run("./tool", limits), JSON.stringify(limits)).rejects.toMatchObject({
        code: "not_executable",
        message: expect.stringMatching(/tool, or the interpreter or loader that it names, is not seen in the sandbox/),
      });
  });

  test("the interpreter, named from the working directory, is known before", async (context) => {
    need(context, obstacle);
    write("work/tool", "#!../outside/sh\n");
    await expect(run("./tool")).rejects.toMatchObject({
      code: "command_not_found",
      message: expect.stringMatching(/outside\/sh, the interpreter of .*tool, is not seen in the sandbox/),
    });
  });

  test("one that is seen is run", async (context) => {
    need(context, obstacle);
    write("work/sh", readFileSync("/bin/sh"));
    write("work/tool", "#!./sh\necho ran; exit 127\n");
    for (const limits of [{}, { openFiles: 100 }]) {
      const { stdout, exitCode } = await run("./tool", limits);
      expect([stdout, exitCode]).toEqual(["ran\n", 127]);
    }
  });

  test("one that its owner alone may execute is run", async (context) => {
    need(context, obstacle);
    write("work/sh", readFileSync("/bin/sh"));
    write("work/tool", "#!./sh\necho ran\n");
    for (const name of ["work/sh", "work/tool"]) chmodSync(join(place, name), 0o700);
    for (const limits of [{}, { openFiles: 100 }]) expect((await run("./tool", limits)).stdout).toBe("ran\n");
  });

  test.for([{}, { openFiles: 100 }])("what may not be executed, with the limits %j", async (limits, context) => {
    need(context, obstacle);
    write("work/second", "#!/bin/sh\n");
    write("work/tool", "#!./second\n");
    chmodSync(join(place, "work/second"), 0o644);
    await expect(run("./tool", limits)).rejects.toMatchObject({
      code: "not_executable",
      message: expect.stringMatching(/^Command cannot be executed: .*tool: Permission denied$/),
    });
  });
});
