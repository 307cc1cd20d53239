/** What one command leaves behind is no way out for the next. */

import { existsSync, mkdirSync, mkdtempSync, realpathSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { afterAll, beforeEach, describe, expect, onTestFinished, test } from "vitest";
import { isolateState, setHostEnv } from "../fixtures/host-target.ts";
import { need } from "../fixtures/needed.ts";
import { tried } from "./against.ts";
import { sandboxedRuntime } from "./ways.ts";

const state = isolateState();
afterAll(() => state.remove());
const secrets = join(state.scratch, "secrets");
mkdirSync(join(secrets, "bin"), { recursive: true });
mkdirSync(join(secrets, "lib"));
for (const name of ["key", "bin/key", "lib/key"]) writeFileSync(join(secrets, name), "s3cret");

describe.each(tried)("in %s", (backend, obstacle) => {
  let project: string;

  beforeEach((context) => {
    need(context, obstacle);
    project = realpathSync(mkdtempSync(join(tmpdir(), "twice-")));
  });

  /** Runs a script in a directory, each time in a runtime that looks at the machine anew. */
  async function run(script: string, workingDir: string): Promise<string> {
    const runtime = await sandboxedRuntime(backend);
    try {
      return (await runtime.execute("/bin/sh", ["-c", script], { workingDir })).stdout;
    } finally {
      await runtime.close();
    }
  }

  test.each([
    ["a link among a project's programs", "node_modules/.bin", "ln -s SECRETS/key node_modules/.bin/x"],
    ["a link to a tree that looks like a toolchain", "node_modules/.bin", "ln -s SECRETS/bin/key node_modules/.bin/x"],
    ["a link in the place of a directory of programs", ".venv/bin", "rm -r .venv/bin; ln -s SECRETS .venv/bin"],
    ["a link in the place of a prefix", ".venv/bin", "rm -r .venv/bin; ln -s SECRETS/bin .venv/bin"],
    ["a link above it", "node_modules/.bin", "rm -r node_modules; mkdir a; ln -s SECRETS a/.bin; ln -s a node_modules"],
  ])("%s shows nothing, there or elsewhere", async (_, bin, script) => {
    mkdirSync(join(project, bin), { recursive: true });
    const before = process.env["PATH"];
    setHostEnv("PATH", `${join(project, bin)}:${before}`);
    onTestFinished(() => setHostEnv("PATH", before));
    await run(script.replaceAll("SECRETS", secrets), project);
    const elsewhere = realpathSync(mkdtempSync(join(tmpdir(), "elsewhere-")));
    for (const place of [project, elsewhere])
      expect(
        await run(
          `cat ${secrets}/key ${secrets}/bin/key ${secrets}/lib/key ${join(project, bin)}/key 2>/dev/null`,
          place,
        ),
      ).toBe("");
  });

  test("a program by the sandbox's name among a project's programs is not run", async () => {
    const bin = join(project, "node_modules/.bin");
    mkdirSync(bin, { recursive: true });
    const before = process.env["PATH"];
    setHostEnv("PATH", `${bin}:${before}`);
    onTestFinished(() => setHostEnv("PATH", before));
    const name = backend === "firejail" ? "firejail" : "bwrap";
    const mark = join(state.scratch, `ran-${name}`);
    await run(
      `printf '#!/bin/sh\\ntouch ${mark}\\n' > node_modules/.bin/${name}; chmod +x node_modules/.bin/${name}`,
      project,
    );
    expect(await run("echo ok", project)).toBe("ok\n");
    expect(await run(`ls ${mark} 2>/dev/null`, project)).toBe("");
  });

  test("a program that is named in a writable path is not even tried", async () => {
    const program = join(project, "program");
    const mark = join(state.scratch, `tried-${backend}`);
    writeFileSync(program, `#!/bin/sh\ntouch ${mark}\n`, { mode: 0o755 });
    const keys = { writable_paths: [project], [`${backend}_program`]: program };
    await expect(sandboxedRuntime(backend, keys)).rejects.toMatchObject({
      code: "backend_unavailable",
      message: expect.stringContaining("and no command, can write"),
    });
    expect(existsSync(mark)).toBe(false);
  });
});
