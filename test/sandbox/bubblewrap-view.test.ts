import {
  chmodSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { useBubblewrap } from "../fixtures/bubblewrap-place.ts";
import { setHostEnv } from "../fixtures/host-target.ts";
import { pathWith, sandboxedRuntime } from "./ways.ts";

const given = useBubblewrap();
const { shell, lines, another } = given;

describe("inside", () => {
  test("there are the system, the working directory, and nothing else of the host", async () => {
    const secret = join(given.scratch, "secret");
    mkdirSync(secret);
    const seen = await lines(
      `ls -A ${secret} 2>&1 || echo hidden; ls -A $HOME/.ssh 2>&1 >/dev/null | wc -l; ls -d /sys /boot /opt /srv /mnt 2>/dev/null; ls ${given.work}`,
    );
    expect(seen[0]).toContain("No such file");
    expect(seen.slice(1)).toEqual(["hidden", "1", ""].filter(Boolean));
  });

  test("HOME, /tmp and /var/tmp are writable and its own, and gone with it", async () => {
    expect(await lines("for d in $HOME /tmp /var/tmp; do echo x > $d/prx-mark && cat $d/prx-mark; done")).toEqual([
      "x",
      "x",
      "x",
    ]);
    expect(await lines("ls $HOME/prx-mark /tmp/prx-mark 2>/dev/null; echo gone")).toEqual(["gone"]);
    expect([existsSync("/tmp/prx-mark"), existsSync(join(process.env["HOME"] ?? "/", "prx-mark"))]).toEqual([
      false,
      false,
    ]);
  });

  test("the working directory is the host's, and everything else is read-only", async () => {
    await shell("echo made > file");
    expect(readFileSync(join(given.work, "file"), "utf8")).toBe("made\n");
    expect(
      await lines("for p in / /usr /etc /var /dev/../x; do touch $p/prx-mark 2>/dev/null && echo $p; done; echo none"),
    ).toEqual(["none"]);
  });

  test("there are the devices of a program, and no terminal", async () => {
    const devices = await lines(
      "for d in null zero full random urandom; do test -c /dev/$d && echo $d; done; (: < /dev/tty) 2>/dev/null || echo no tty; ps -o tty= -p $$",
    );
    expect(devices).toEqual(["null", "zero", "full", "random", "urandom", "no tty", "?"]);
  });

  test("nothing is told of the host's keys", async () => {
    expect(await lines("cat /proc/keys /proc/key-users 2>/dev/null; echo $?")).toEqual(["1"]);
  });

  test("no process of the host is seen, and every visible one has a clean environment", async () => {
    setHostEnv("PRX_TEST_SECRET", "s3cret");
    onTestFinished(() => setHostEnv("PRX_TEST_SECRET", undefined));
    const [count, secrets] = await lines(
      "ls /proc | grep -c '^[0-9]'; cat /proc/[0-9]*/environ | tr '\\0' '\\n' | grep -c s3cret",
      { env: { MINE: "1" } },
    );
    expect(Number(count)).toBeLessThan(8);
    expect(secrets).toBe("0");
  });

  test("there are no privileges, and no way to any", async () => {
    const status = await lines("grep -E '^(Cap(Prm|Eff|Bnd)|NoNewPrivs|Seccomp):' /proc/self/status | tr -d '\\t '");
    expect(status).toEqual([
      ...["CapPrm", "CapEff", "CapBnd"].map((name) => `${name}:0000000000000000`),
      "NoNewPrivs:1",
      "Seccomp:2",
    ]);
    expect((await shell("unshare -U true 2>/dev/null || echo refused")).stdout).toBe("refused\n");
  });

  test("nothing is inherited but the three streams", async () => {
    // The list itself is read by one more. A place may be taken by nothing, which is how Node is kept from passing it on.
    expect(
      await lines(
        "for f in /proc/self/fd/*; do t=$(readlink $f); case $t in ''|/dev/null|/proc/*|pipe:*|socket:*|*/pipes/*) ;; *) echo $f $t;; esac; done; echo clean",
      ),
    ).toEqual(["clean"]);
  });

  test("there is a network of its own: a loopback that works, and no way out", async () => {
    const server =
      'python3 -c \'import socket,threading as t; s=socket.create_server(("127.0.0.1",0)); t.Thread(target=lambda:s.accept()[0].sendall(b"hi")).start(); print(socket.create_connection(s.getsockname()).recv(9).decode())\'';
    expect((await shell(server)).stdout).toBe("hi\n");
    const out = await given.runtime.execute("python3", [
      "-c",
      "import socket; socket.create_connection(('192.0.2.1', 80), 5)",
    ]);
    expect(out.exitCode).toBe(1);
    expect(out.warnings.map(({ code }) => code)).toEqual(["denied_network"]);
  });

  test("names are looked up as on the host where there is a network", async () => {
    const open = await another({ allow_network: true });
    const look = ["-c", "import socket; print(open('/etc/resolv.conf').read())"];
    const { stdout } = await open.execute("python3", look);
    expect(stdout.trim()).toBe(readFileSync("/etc/resolv.conf", "utf8").trim());
    const { stdout: closed } = await given.runtime.execute("python3", look);
    expect(closed.trim()).toBe("");
  });
});

describe("the paths that are listed", () => {
  test("are seen by their real path and by a link, writable or not", async () => {
    const [read, write] = ["read", "write"].map((name) => join(given.scratch, name)) as [string, string];
    for (const path of [read, write]) mkdirSync(path);
    symlinkSync(write, join(given.scratch, "link"));
    const link = join(given.scratch, "link");
    const listed = await another({ readonly_paths: [read], writable_paths: [link] });
    const script = `echo 1 > ${link}/a && cat ${write}/a; touch ${read}/b 2>/dev/null || echo kept`;
    const { stdout } = await listed.execute("/bin/sh", ["-c", script], { workingDir: given.work });
    expect(stdout).toBe("1\nkept\n");
    expect(readdirSync(write)).toEqual(["a"]);
  });

  test("and are missing are an error before anything runs, which names them", async () => {
    await expect(sandboxedRuntime("bubblewrap", { writable_paths: ["/missing/path"] })).rejects.toThrow(
      /writable_paths\[0\] = "\/missing\/path": there is no such path/,
    );
  });

  test("of a working directory below a link lead to the real one", async () => {
    symlinkSync(given.work, join(given.scratch, "elsewhere"));
    const { stdout } = await shell("pwd -P", { workingDir: join(given.scratch, "elsewhere") });
    expect(stdout).toBe(`${given.work}\n`);
  });

  test.each(["/", "/tmp", "/usr", "/etc", "/proc/sys/kernel", "/sys/fs/cgroup", "/usr/bin", "/dev/shm", "/proc/self"])(
    "a working directory of %s is refused: it would show too much",
    async (workingDir) => {
      if (!existsSync(workingDir)) return;
      await expect(shell("true", { workingDir })).rejects.toMatchObject({
        code: "policy_unenforceable",
        message: expect.stringContaining("The working directory"),
      });
    },
  );

  test("a working directory among the host's records, or of a home by another name, is refused", async () => {
    const records = process.env["PRX_STATE_DIR"] ?? "";
    for (const name of readdirSync(records))
      await expect(shell("true", { workingDir: join(records, name) })).rejects.toMatchObject({
        code: "policy_unenforceable",
      });
    const home = join(given.scratch, "real-home");
    mkdirSync(home);
    symlinkSync(home, join(given.scratch, "home"));
    const before = process.env["HOME"];
    setHostEnv("HOME", join(given.scratch, "home"));
    onTestFinished(() => setHostEnv("HOME", before));
    const linked = await another({});
    await expect(linked.execute("true", [], { workingDir: home })).rejects.toThrow(/holds the home directory/);
    // A service has no HOME, and whoever uses sudo may have another's.
    const users = readFileSync("/etc/passwd", "utf8")
      .split("\n")
      .map((line) => line.split(":"));
    const listed = users.find(([, , uid]) => uid === String(process.getuid?.()))?.[5] ?? "/";
    setHostEnv("HOME", undefined);
    const homeless = await another({});
    if (listed === "/" || !existsSync(listed)) return;
    await expect(homeless.execute("true", [], { workingDir: listed })).rejects.toThrow(/holds the home directory/);
  });
});

describe("a command that the sandbox hides", () => {
  test("is an error with the line that shows it", async () => {
    const tools = join(given.scratch, "tools");
    mkdirSync(tools);
    const tool = join(tools, "tool");
    copyFileSync("/bin/true", tool);
    chmodSync(tool, 0o755);
    await expect(given.runtime.execute(tool)).rejects.toMatchObject({
      code: "command_not_found",
      message: expect.stringContaining(`readonly_paths = [${JSON.stringify(tools)}]`),
    });
    const shown = await another({ readonly_paths: [tools] });
    expect((await shown.execute(tool)).exitCode).toBe(0);
  });

  test("is found on the operator's PATH together with what belongs to it", async () => {
    const prefix = join(given.scratch, "prefix");
    mkdirSync(join(prefix, "bin"), { recursive: true });
    mkdirSync(join(prefix, "lib"));
    writeFileSync(join(prefix, "lib", "part"), "part\n");
    writeFileSync(join(prefix, "bin", "tool"), '#!/bin/sh\ncat "$(dirname "$0")/../lib/part"\n', { mode: 0o755 });
    const before = process.env["PATH"];
    setHostEnv("PATH", pathWith(join(prefix, "bin")));
    onTestFinished(() => setHostEnv("PATH", before));
    const found = await another({});
    expect((await found.execute("tool")).stdout).toBe("part\n");
  });
});

test("explain shows what is seen and the exact argv, and no value", async () => {
  const { lowering, clauses, addedEnv } = await given.runtime.explain("make", [], {
    workingDir: given.work,
    env: { TOKEN: "s3cret" },
  });
  expect(lowering).toMatch(/^spawn ".*bwrap" "--unshare-all"/);
  expect(lowering).toContain(`writable: ${given.work}`);
  expect(lowering).not.toContain("s3cret");
  expect(addedEnv).toEqual(["PWD"]);
  expect(clauses.filter(({ demanded }) => demanded).map(({ verdict }) => verdict.grade)).toEqual(
    Array(4).fill("enforced"),
  );
});
