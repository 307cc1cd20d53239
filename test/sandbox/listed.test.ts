/** What the operator lists is what every command sees, whatever one of them puts into its place. */

import {
  existsSync,
  linkSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { basename, dirname, join } from "node:path";
import process from "node:process";
import { afterAll, beforeEach, describe, expect, onTestFinished, test } from "vitest";
import type { Runtime } from "../../mod.ts";
import { isolateState, setHostEnv } from "../fixtures/host-target.ts";
import { need } from "../fixtures/needed.ts";
import { tried } from "./against.ts";
import { type SandboxKeys, sandboxedRuntime } from "./ways.ts";

const state = isolateState();
afterAll(() => state.remove());

describe.each(tried)("in %s", (backend, obstacle) => {
  let project: string;
  let secrets: string;

  beforeEach((context) => {
    need(context, obstacle);
    project = realpathSync(mkdtempSync(join(tmpdir(), "listed-")));
    secrets = realpathSync(mkdtempSync(join(state.scratch, "secrets-")));
    writeFileSync(join(secrets, "key"), "s3cret");
  });

  /** Each time in a runtime that looks at the machine anew. */
  async function run(keys: SandboxKeys, script: string, workingDir = project): Promise<string> {
    await using runtime = await sandboxedRuntime(backend, keys);
    return (await runtime.execute("/bin/sh", ["-c", script], { workingDir })).stdout;
  }

  test.each(["cache", "a/b/cache"])("a writable path %s in the working directory keeps its place", async (name) => {
    const cache = join(project, name);
    mkdirSync(cache, { recursive: true });
    const keys = { writable_paths: [cache] };
    const swap = `rm -rf ${name}; mv ${name} x; mv a y; mkdir -p ${dirname(name)}; ln -s ${secrets} ${name}; echo end`;
    expect(await run(keys, swap)).toBe("end\n");
    expect(await run(keys, `cat ${cache}/key 2>/dev/null; echo mine; echo evil > ${cache}/written`)).toBe("mine\n");
    expect([readdirSync(secrets), existsSync(join(cache, "written"))]).toEqual([["key"], true]);
  });

  test("what is below /var/tmp is seen there, listed or worked in, and nothing beside it", async () => {
    const make = (name: string) => {
      const path = realpathSync(mkdtempSync(`/var/tmp/${name}-`));
      onTestFinished(() => rmSync(path, { recursive: true, force: true }));
      return path;
    };
    const [listed, work] = [make("listed"), make("work")];
    const script = `echo made > ${listed}/made; echo own > /var/tmp/own; cat /var/tmp/own; ls /var/tmp`;
    expect(await run({ writable_paths: [listed] }, script)).toBe(`own\n${basename(listed)}\nown\n`);
    expect(await run({}, `echo made > made; ls ${work}`, work)).toBe("made\n");
    expect([readdirSync(listed), readdirSync(work), existsSync("/var/tmp/own")]).toEqual([["made"], ["made"], false]);
  });

  test("a read-only file that has another name runs nothing: by that it could be changed", async () => {
    const file = join(secrets, "key");
    linkSync(file, join(project, "same"));
    await expect(run({ readonly_paths: [file] }, "echo evil > same")).rejects.toMatchObject({
      code: "policy_unenforceable",
      message: expect.stringMatching(`^${file} is to stay as it is, and has another name`),
    });
    expect(readFileSync(file, "utf8")).toBe("s3cret");
    const both = { readonly_paths: [file], writable_paths: [file] };
    expect(await run(both, "cat same"), "what is writable all the same").toBe("s3cret");
    rmSync(join(project, "same"));
    expect(await run({ readonly_paths: [file] }, `cat ${file}`)).toBe("s3cret");
  });

  const swap = () => `mv inner away; ln -s ${secrets} inner; echo end`;
  const look = (runtime: Runtime) => {
    const workingDir = realpathSync(mkdtempSync(join(tmpdir(), "elsewhere-")));
    return runtime.execute("/bin/cat", [join(project, "inner/key")], { workingDir });
  };

  test.each([
    ["a readonly path", ["readonly_paths"]],
    ["a writable path", ["writable_paths"]],
    ["a directory of the PATH", []],
  ])("%s that another's command replaced is shown to nobody", async (_, keys) => {
    mkdirSync(join(project, "inner"));
    const before = process.env["PATH"];
    setHostEnv("PATH", `${join(project, "inner")}:${before}`);
    onTestFinished(() => setHostEnv("PATH", before));
    await using showing = await sandboxedRuntime(
      backend,
      Object.fromEntries(keys.map((key) => [key, [join(project, "inner")]])),
    );
    setHostEnv("PATH", before);
    await using other = await sandboxedRuntime(backend);
    await look(showing);
    expect((await other.execute("/bin/sh", ["-c", swap()], { workingDir: project })).stdout).toBe("end\n");
    await expect(look(showing)).rejects.toMatchObject({
      code: "policy_unenforceable",
      message: expect.stringMatching(/inner leads elsewhere/),
    });
  });

  test("a directory of the PATH that a command of the same runtime replaced is shown to none after it", async () => {
    mkdirSync(join(project, "inner"));
    const before = process.env["PATH"];
    setHostEnv("PATH", `${join(project, "inner")}:${before}`);
    onTestFinished(() => setHostEnv("PATH", before));
    await using runtime = await sandboxedRuntime(backend);
    await runtime.execute("/bin/sh", ["-c", swap()], { workingDir: project });
    await expect(look(runtime)).rejects.toMatchObject({ code: "policy_unenforceable" });
  });

  test.each(["writable_paths", "readonly_paths"])(
    "a link that a command could replace names none of %s",
    async (key) => {
      const data = realpathSync(mkdtempSync(join(state.scratch, "data-")));
      mkdirSync(join(data, "sub"));
      symlinkSync(data, join(project, "data"));
      const outside = join(state.scratch, `to-${crypto.randomUUID()}`);
      symlinkSync(join(project, "data/sub"), outside);
      for (const listed of [join(project, "data"), join(project, "data/sub"), outside]) {
        await expect(run({ [key]: [listed] }, "echo x > ran"), listed).rejects.toMatchObject({
          code: "policy_unenforceable",
          message: expect.stringContaining(`${join(project, "data")}, by which ${listed} is listed`),
        });
      }
      expect(readdirSync(project)).toEqual(["data"]);
      const elsewhere = realpathSync(mkdtempSync(join(tmpdir(), "elsewhere-")));
      expect(await run({ [key]: [join(project, "data")] }, `ls ${project}/data`, elsewhere)).toBe("sub\n");
      const kept = join(project, "kept");
      mkdirSync(kept);
      symlinkSync(data, join(kept, "data"));
      const keys = { readonly_paths: [kept], writable_paths: [join(kept, "data")] };
      expect(await run(keys, "ls kept/data"), "by a link that no command can replace").toBe("sub\n");
    },
  );

  test("the host's records are covered in a listed path also where a link leads to them", async () => {
    const before = process.env["PRX_STATE_DIR"];
    onTestFinished(() => setHostEnv("PRX_STATE_DIR", before));
    const link = join(state.scratch, `state-${crypto.randomUUID()}`);
    symlinkSync(project, link);
    setHostEnv("PRX_STATE_DIR", join(link, "records"));
    await using _neighbour = await sandboxedRuntime(backend);
    const elsewhere = realpathSync(mkdtempSync(join(tmpdir(), "elsewhere-")));
    expect(await run({ writable_paths: [project] }, `ls -A ${project} ${project}/records`, elsewhere)).toBe(
      `${project}:\nrecords\n\n${project}/records:\n`,
    );
    // By a link that a command could replace, the next host would find what that wants.
    setHostEnv("PRX_STATE_DIR", join(project, "link/records"));
    symlinkSync(secrets, join(project, "link"));
    await expect(run({ writable_paths: [project] }, "true", elsewhere)).rejects.toMatchObject({
      code: "policy_unenforceable",
      message: expect.stringContaining(`${project}/link, by which the host's records`),
    });
  });
});
