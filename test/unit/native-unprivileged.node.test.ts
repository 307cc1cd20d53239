/** What only shows to a user who may not do everything, or to a process that can be left hanging: each in a process of its own. */

import { execFileSync, spawnSync } from "node:child_process";
import { chmodSync, closeSync, copyFileSync, openSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { scratchDirectory } from "./native-scratch.ts";

const { path: base, at, write } = scratchDirectory();
chmodSync(base, 0o755);
const nobody = 65_534;

/** Runs a module's text in another process, as another user if one is given, and answers what it printed. */
function run(text: string, user?: number): string {
  const { stdout, stderr, status } = spawnSync(process.execPath, ["--input-type=module", "-e", text], {
    cwd: "/",
    encoding: "utf8",
    timeout: 10_000,
    ...(user === undefined ? {} : { uid: user, gid: user }),
  });
  if (status !== 0) throw new Error(`It did not end well (${status}): ${stderr}`);
  return stdout.trim();
}
const importing = (names: string, file: string, room = "adapters/_native") =>
  `import { ${names} } from ${JSON.stringify(new URL(`../../${room}/${file}`, import.meta.url))};`;

describe("as a user without privileges", () => {
  /** Why this cannot be asked here, or `null`. */
  function reason(): string | null {
    if (process.getuid?.() !== 0) return "only root can become another user";
    try {
      run(importing("resolveCommand", "resolve-command.ts"), nobody);
      return null;
    } catch {
      return "the checkout cannot be read by another user";
    }
  }
  const why = reason();
  const outcome = (file: string) =>
    run(
      `${importing("resolveCommand", "resolve-command.ts")}
      try { console.log(resolveCommand(${JSON.stringify(file)}, { platform: "linux", workingDir: "/", env: {} })); }
      catch (error) { console.log(error.code); }`,
      nobody,
    );

  test("a program that may be executed and not read is taken as it is", ({ skip }) => {
    if (why !== null) skip(why);
    copyFileSync("/bin/true", at("secret"));
    chmodSync(at("secret"), 0o711);
    expect(outcome(at("secret"))).toBe(at("secret"));
  });

  test("one that may not be executed by this user is not executable", ({ skip }) => {
    if (why !== null) skip(why);
    expect(outcome(write("roots", "#!/bin/sh\n", 0o744))).toBe("not_executable");
  });

  test("one behind a closed directory is not found", ({ skip }) => {
    if (why !== null) skip(why);
    write("closed/tool", "#!/bin/sh\n", 0o755);
    chmodSync(at("closed"), 0o700);
    expect(outcome(at("closed/tool"))).toBe("command_not_found");
  });
});

test("a descriptor that the host's own parent left open reaches no command", () => {
  const secret = openSync(write("secret-file", "s3cret"), "r");
  const text = `${importing("createNodeSpawn", "spawn-node.ts")}
    const child = createNodeSpawn(null)({
      ...{ file: "/bin/sh", args: ["-c", "ls -l /proc/self/fd"], env: { PATH: "/usr/bin:/bin" } },
      ...{ workingDir: "/", stdin: false },
    });
    for (let chunk = await child.stdout.read(); chunk !== null; chunk = await child.stdout.read()) process.stdout.write(chunk);`;
  // Node itself looks after the first of them, up to a gap.
  const gap = new Array<"ignore">(20).fill("ignore");
  const stdio = ["ignore" as const, "pipe" as const, "pipe" as const, secret, ...gap, secret];
  const { stdout } = spawnSync(process.execPath, ["--input-type=module", "-e", text], {
    encoding: "utf8",
    stdio: [...stdio],
  });
  closeSync(secret);
  expect(stdout).toContain("/dev/null");
  expect(stdout).not.toContain("secret-file");
});

test("a named pipe in the place of an input file holds nobody up", () => {
  execFileSync("mkfifo", [at("pipe")]);
  const told = run(`${importing("writeFiles", "workspace-files.ts", "host")}
    const files = [{ path: "pipe", bytes: 1, executable: false }];
    try { writeFiles(${JSON.stringify(base)}, files, { bytes: new Map([["pipe", new Uint8Array(1)]]), backend: "native" }); console.log("written"); }
    catch (error) { console.log(error.code); }`);
  expect(told).toBe("files_failed");
});
