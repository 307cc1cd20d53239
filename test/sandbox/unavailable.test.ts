/** A sandbox that does not work here is an error before anything runs, which says why and what to do; never is it left out. */

import { chmodSync, existsSync, mkdirSync, mkdtempSync, realpathSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeEach, describe, expect, test } from "vitest";
import { isolateState, setHostEnv } from "../fixtures/host-target.ts";
import { missing, need } from "../fixtures/needed.ts";
import { sandboxedRuntime } from "./ways.ts";

const state = isolateState();
const path = process.env["PATH"];
let bin = "";
let named: Record<string, string> = {};

beforeEach((context) => {
  if (process.platform !== "linux") context.skip("sandboxes are for Linux");
  bin = realpathSync(mkdtempSync(join(tmpdir(), "bin-")));
  for (const name of ["sh", "bash", "env", "mkfifo", "prlimit"])
    if (existsSync(`/usr/bin/${name}`)) symlinkSync(`/usr/bin/${name}`, join(bin, name));
  setHostEnv("PATH", bin);
  named = {};
});
afterEach(() => setHostEnv("PATH", path));
afterAll(() => state.remove());

/** A program that the operator names in place of the real one. */
function fake(name: "bwrap" | "firejail", script: string): void {
  writeFileSync(join(bin, name), `#!/bin/sh\n${script}\n`);
  chmodSync(join(bin, name), 0o755);
  named[name === "bwrap" ? "bubblewrap_program" : "firejail_program"] = join(bin, name);
}

const real = (name: string) =>
  (path ?? "")
    .split(":")
    .map((one) => join(one, name))
    .find(existsSync);

const refusal = (backend: "bubblewrap" | "firejail" | "auto") =>
  sandboxedRuntime(backend, named).then(
    async (runtime) => {
      await runtime.close();
      return "It was made";
    },
    ({ code, message }: { code: string; message: string }) => `${code}: ${message}`,
  );

test.each([
  [
    "bubblewrap",
    /bubblewrap is not installed: there is no program bwrap in a directory of the system that is on the PATH.*apt install bubblewrap/,
  ],
  ["firejail", /firejail is not installed.*apt install firejail/],
  ["auto", /bubblewrap is not installed.*; firejail is not installed/],
] as const)("%s that is not there", async (backend, message) => {
  expect(await refusal(backend)).toMatch(/^backend_unavailable: /);
  expect(await refusal(backend)).toMatch(message);
});

describe("a bwrap", () => {
  const answers = 'case "$*" in *--version*) echo bubblewrap 0.8.0; exit 0;; esac; ';

  test.each([
    ["that only knows its version", "exit 1", /it said nothing/],
    ["that is too old", "echo 'bwrap: Unknown option --json-status-fd' >&2; exit 1", /too old.*0\.8 or newer/],
    ["that AppArmor stops", "echo 'bwrap: setting up uid map: Permission denied' >&2; exit 1", /AppArmor.*profile/],
    [
      "that AppArmor stops later",
      "echo 'bwrap: loopback: Failed RTM_NEWADDR: Operation not permitted' >&2; exit 1",
      /AppArmor.*kernel\.apparmor_restrict_unprivileged_userns=0/,
    ],
    [
      "in a container",
      'echo "bwrap: Can\'t mount proc on /newroot/proc: Operation not permitted" >&2; exit 1',
      /most containers.*systempaths=unconfined/,
    ],
    [
      "that runs commands and keeps nothing apart",
      'while [ "$1" != -- ]; do shift; done; shift; echo \'{ "child-pid": 2 }{ "exit-code": 42 }\' >&4; exec "$@"',
      /does not keep apart what it says \(it said: not shut: the host's files\)/,
    ],
  ])("%s", async (_, script, message) => {
    fake("bwrap", answers + script);
    expect(await refusal("bubblewrap")).toMatch(message);
    expect(await refusal("bubblewrap")).toMatch(
      /^backend_unavailable: .*as security\.sandbox\.backend = "bubblewrap" asks/,
    );
  });

  test.each(["", ".:"])(
    "that is on the PATH outside of the system's directories (%j) is none: a command may have made it",
    async (before) => {
      fake("bwrap", `touch ${join(bin, "ran")}; exit 1`);
      named = {};
      setHostEnv("PATH", `${before}${bin}`);
      expect(await refusal("bubblewrap")).toMatch(/is not installed/);
      expect(existsSync(join(bin, "ran"))).toBe(false);
    },
  );

  test.each([
    ["is not there", () => {}],
    ["others can write", (file: string) => chmodSync(file, 0o777)],
    ["cannot be executed", (file: string) => chmodSync(file, 0o644)],
  ])("that is named and %s is refused by its key", async (how, spoil) => {
    if (how !== "is not there") fake("bwrap", "exit 0");
    named["bubblewrap_program"] = join(bin, "bwrap");
    spoil(join(bin, "bwrap"));
    expect(await refusal("bubblewrap")).toMatch(/security\.sandbox\.bubblewrap_program = ".*\/bwrap" is no program/);
  });

  test("that is named and lies where the command can write is refused, and not run for it", async (context) => {
    setHostEnv("PATH", path);
    need(context, missing("bwrap"));
    fake("bwrap", `exec ${real("bwrap")} "$@"`);
    await using runtime = await sandboxedRuntime("bubblewrap", named);
    const attempt = runtime.execute("true", [], { workingDir: bin });
    await expect(attempt).rejects.toMatchObject({ code: "policy_unenforceable" });
    await expect(attempt).rejects.toThrow(/where the sandbox program .* is/);
  });

  test("that goes away later is an error, and nothing runs", async (context) => {
    need(context, missing("sh"));
    setHostEnv("PATH", path);
    need(context, missing("bwrap"));
    fake("bwrap", `exec ${real("bwrap")} "$@"`);
    await using runtime = await sandboxedRuntime("bubblewrap", named);
    expect(await runtime.execute("true")).toMatchObject({ exitCode: 0 });
    fake("bwrap", "exit 1");
    const work = join(state.scratch, "gone");
    mkdirSync(work);
    const attempt = runtime.execute("/bin/sh", ["-c", "echo x > ran"], { workingDir: work });
    await expect(attempt).rejects.toMatchObject({ code: "start_failed", started: "no" });
    expect(existsSync(join(work, "ran"))).toBe(false);
  });
});

test("auto takes the one that works", async (context) => {
  setHostEnv("PATH", path);
  need(context, missing("firejail"));
  fake("bwrap", "exit 1");
  await using runtime = await sandboxedRuntime("auto", named);
  expect((await runtime.explain("true")).lowering).toContain("sandboxed by firejail");
});
