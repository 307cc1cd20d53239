/** What a command sees in firejail's sandbox. */

import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { networkInterfaces } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { describe, expect, test } from "vitest";
import { createRuntime } from "../../mod.ts";
import { withFirejail } from "../fixtures/firejail.ts";
import { linesOf, readFile, useFirejail } from "../fixtures/firejail-place.ts";

const given = useFirejail();
const { sh } = given;

describe("what it sees", () => {
  test("of / the system alone; every other entry is there by name and cannot be opened", async () => {
    const { stdout } = await sh(
      'for e in /* /.[!.]*; do [ -e "$e" ] && ls "$e" >/dev/null 2>&1 && [ -n "$(ls "$e")" ] && echo "$e"; done',
    );
    const usual = [
      "/bin",
      "/dev",
      "/etc",
      "/lib",
      "/lib32",
      "/lib64",
      "/libx32",
      "/proc",
      "/root",
      "/run",
      "/sbin",
      "/tmp",
      "/usr",
      "/var",
    ];
    // Where a toolchain is, what is above it is seen too.
    const onThePath = (process.env["PATH"] ?? "").split(":").map((path) => `/${path.split("/")[1]}`);
    // Files are empty ones, whose name is all there is.
    const hostFiles = readdirSync("/")
      .map((name) => `/${name}`)
      .filter((path) => existsSync(path) && readFile(path) !== null);
    for (const entry of linesOf(stdout).filter((path) => !hostFiles.includes(path)))
      expect([...usual, "/nix", "/gnu", ...onThePath]).toContain(entry);
    for (const file of hostFiles) expect((await sh(`cat ${file}`)).stdout).toBe("");
  });

  test("its working directory, and nothing beside it, nor the host's records and other processes", async () => {
    writeFileSync(join(given.work, "given"), "given");
    const { stdout } = await sh(
      "cat given; echo made > made; ls .. /tmp; ls /run/firejail/profile /run/firejail/sandbox 2>/dev/null; ls /proc | grep '^[0-9]'",
    );
    expect(readFileSync(join(given.work, "made"), "utf8")).toBe("made\n");
    expect(stdout).not.toContain("secret");
    expect(stdout).not.toContain("prx-runtime-");
    expect(linesOf(stdout).filter((line) => /^\d+$/.test(line)).length).toBeLessThan(10);
  });

  test("its own HOME and /tmp: empty, writable, gone afterwards", async () => {
    const home = process.env["HOME"] ?? "/root";
    const line =
      'ls -A "$HOME"; touch "$HOME/prx-made" /tmp/prx-made /var/tmp/prx-made /dev/shm/prx-made && echo written';
    expect((await sh(line, { env: { HOME: "/tmp/own/home", PATH: "/usr/bin:/bin" } })).stdout).toBe("written\n");
    const { stdout } = await sh(line);
    expect(stdout).toMatch(/written\n$/);
    for (const directory of [home, "/tmp", "/var/tmp", "/dev/shm"])
      expect(existsSync(join(directory, "prx-made"))).toBe(false);
  });

  test.for(["", "/inner"])("nothing of a directory of / that is, up to %j, a request's HOME", async (end, { skip }) => {
    if (process.getuid?.() !== 0) skip("only root makes directories in /");
    const top = mkdtempSync("/prx-top-");
    try {
      mkdirSync(join(top, "inner"));
      for (const name of ["secret", ".secret", "inner/secret"]) writeFileSync(join(top, name), "secret");
      const line = `find ${top} -type f; cat ${top}/secret ${top}/inner/secret; touch "$HOME/made" && echo written`;
      const { stdout } = await sh(line, { env: { HOME: top + end, PATH: "/usr/bin:/bin" } });
      expect([stdout, readdirSync(top).sort()]).toEqual(["written\n", [".secret", "inner", "secret"]]);
    } finally {
      rmSync(top, { recursive: true, force: true });
    }
  });

  test("what is mounted in such a HOME, and nothing beside it", async ({ skip }) => {
    if (process.getuid?.() !== 0) skip("only root makes directories in /");
    const top = mkdtempSync("/prx-top-");
    try {
      mkdirSync(join(top, "work"));
      writeFileSync(join(top, "secret"), "secret");
      const { stdout } = await sh("ls -A ..; echo made > made", {
        workingDir: join(top, "work"),
        env: { HOME: top, PATH: "/usr/bin:/bin" },
      });
      expect([stdout, readFileSync(join(top, "work/made"), "utf8")]).toEqual(["work\n", "made\n"]);
    } finally {
      rmSync(top, { recursive: true, force: true });
    }
  });

  test.each(["/sys", "/proc", "/dev", "/boot", "/opt", "/srv"])("nothing more by %s as its HOME", async (home) => {
    const list = async (env: Readonly<Record<string, string>>) =>
      (await sh(`ls -A ${home} 2>/dev/null | grep -v '^[0-9]*$'`, { env: { PATH: "/usr/bin:/bin", ...env } })).stdout;
    const without = await list({});
    // It may also be refused.
    const as = await list({ HOME: home }).catch(() => "");
    expect(linesOf(without)).toEqual(expect.arrayContaining([...linesOf(as)]));
  });

  test("of /etc what is for everybody", async () => {
    const { stdout, stderr } = await sh(
      "cat /etc/shadow; ls /etc/firejail /etc/ssl/private; head -c4 /etc/passwd; ls -A /etc",
    );
    expect(stderr.match(/No such file/g)).toHaveLength(3);
    expect(stdout).toContain("root");
    expect(linesOf(stdout).length).toBeGreaterThan(10);
  });

  test("all of /etc where it is listed, and nothing of what is not firejail's to show", async () => {
    const sandbox = (path: string) => ({
      ...withFirejail,
      security: { sandbox: { backend: "firejail" as const, readonly_paths: [path] } },
    });
    await using listed = await createRuntime(sandbox("/etc"));
    const { stdout } = await listed.execute("sh", ["-c", "ls -A /etc; touch /etc/prx-made"], {
      workingDir: given.work,
    });
    expect(linesOf(stdout).toSorted()).toEqual(readdirSync("/etc").toSorted());
    expect(existsSync("/etc/prx-made")).toBe(false);
    for (const path of ["/run", "/tmp", "/var"]) {
      await using refused = await createRuntime(sandbox(path));
      await expect(refused.execute("true", [], { workingDir: given.work })).rejects.toMatchObject({
        code: "policy_unenforceable",
        message: expect.stringContaining(`a part of ${path} to itself`),
      });
    }
  });

  test("nothing of the host's keys", async () => {
    expect((await sh("cat /proc/keys /proc/key-users")).stdout).toBe("");
  });

  test("a /dev without disks and terminals of the host", async () => {
    const { stdout } = await sh("ls /dev; ls /dev/pts; tty; (: < /dev/tty) 2>&1");
    const usual = [
      "fd",
      "full",
      "null",
      "ptmx",
      "pts",
      "random",
      "shm",
      "stderr",
      "stdin",
      "stdout",
      "tty",
      "urandom",
      "zero",
    ];
    expect(linesOf(stdout).slice(0, usual.length)).toEqual(usual);
    expect(stdout).toMatch(/\nptmx\nnot a tty\n.*(?:No such device|cannot open)/s);
  });

  test("no network unless it is allowed", async () => {
    expect(linesOf((await sh("tail -n +3 /proc/net/dev | cut -d: -f1")).stdout).map((name) => name.trim())).toEqual([
      "lo",
    ]);
    await using open = await createRuntime({
      ...withFirejail,
      security: { sandbox: { backend: "firejail", allow_network: true } },
    });
    const { stdout } = await open.execute("sh", ["-c", "tail -n +3 /proc/net/dev | cut -d: -f1"], {
      workingDir: given.work,
    });
    expect(linesOf(stdout).map((name) => name.trim())).toEqual(
      expect.arrayContaining(Object.keys(networkInterfaces())),
    );
  });

  test("listed paths as they are listed, links too; and nothing of what is not", async () => {
    const other = realpathSync(mkdtempSync("/var/tmp/prx-listed-"));
    try {
      for (const name of ["ro", "rw"]) mkdirSync(join(other, name));
      const sandbox = {
        backend: "firejail",
        readonly_paths: [join(other, "ro")],
        writable_paths: [join(other, "rw")],
      } as const;
      await using listed = await createRuntime({ ...withFirejail, security: { sandbox } });
      const line = `ls ${other}; echo x > ${other}/rw/x; echo x > ${other}/ro/x`;
      const { stdout, stderr } = await listed.execute("sh", ["-c", line], { workingDir: given.work });
      expect([stdout, existsSync(join(other, "rw/x")), existsSync(join(other, "ro/x"))]).toEqual([
        "ro\nrw\n",
        true,
        false,
      ]);
      expect(stderr).toContain("Read-only file system");
    } finally {
      rmSync(other, { recursive: true, force: true });
    }
  });
});
