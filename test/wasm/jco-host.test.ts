/** A guest in a process of its own: it has what it was given, its output and its exit are told exactly, and nothing else is there. */

import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  symlinkSync,
  unlinkSync,
  writeFileSync,
} from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { hostProgram, jcoCommand } from "../../adapters/_wasm/jco/command.ts";
import type { Preopen } from "../../adapters/_wasm/jco/run-description.ts";
import { transpile } from "../../adapters/_wasm/jco/transpile.ts";
import { need } from "../fixtures/needed.ts";
import { runtimeName } from "../fixtures/runtimes.ts";
import { cannotCompile, type Kind, probeGuest } from "./guests.ts";

const kinds: readonly Kind[] = ["module", "component"];
const memoryLimitBytes = 64 * 2 ** 20;

let root = "";
let directories: Readonly<Record<Kind, string | null>> = { module: null, component: null };
let runs = 0;

beforeAll(async () => {
  root = realpathSync(mkdtempSync(join(tmpdir(), "prx-jco-")));
  const built = await Promise.all(kinds.map(async (kind) => [kind, await build(kind)] as const));
  directories = { module: null, component: null, ...Object.fromEntries(built) };
});

afterAll(() => rmSync(root, { recursive: true, force: true }));

async function build(kind: Kind): Promise<string | null> {
  if (cannotCompile(kind) !== null) return null;
  const { files } = await transpile(probeGuest(kind), { kind });
  const directory = join(root, kind);
  mkdirSync(directory);
  for (const [name, bytes] of Object.entries(files)) writeFileSync(join(directory, name), bytes);
  return directory;
}

interface Given {
  readonly env?: Readonly<Record<string, string>>;
  readonly preopens?: readonly Preopen[];
  readonly network?: boolean;
}

function commandOf(
  kind: Kind,
  args: readonly string[],
  { env = {}, preopens = [], network = false }: Given = {},
): string[] {
  runs += 1;
  const descriptionFile = join(root, `run-${runs}.json`);
  const description = {
    directory: directories[kind] ?? "",
    args: ["probe", ...args],
    env,
    preopens,
    network,
    memoryLimitBytes,
  };
  writeFileSync(descriptionFile, JSON.stringify(description), { mode: 0o600 });
  const own = { runtime: runtimeName, executable: process.execPath, program: hostProgram() } as const;
  return jcoCommand({ ...own, descriptionFile, description, memoryLimitBytes });
}

function start(kind: Kind, args: readonly string[], given?: Given): ChildProcess {
  const [executable = "", ...rest] = commandOf(kind, args, given);
  return spawn(executable, rest, { cwd: root, env: { PRX_HOST_SECRET: "1" }, stdio: "pipe" });
}

async function textOf(stream: ChildProcess["stdout"]): Promise<string> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of stream ?? []) chunks.push(chunk);
  return Buffer.concat(chunks).toString("latin1");
}

interface Outcome {
  readonly stdout: string;
  readonly stderr: string;
  readonly code: number | null;
}

async function finish(child: ChildProcess, input: Uint8Array | string = ""): Promise<Outcome> {
  const ended = once(child, "close");
  child.stdin?.on("error", () => {});
  child.stdin?.end(input);
  const [stdout, stderr] = await Promise.all([textOf(child.stdout), textOf(child.stderr)]);
  const [code] = await ended;
  return { stdout, stderr, code };
}

function run(kind: Kind, args: readonly string[], given?: Given): Promise<Outcome> {
  return finish(start(kind, args, given));
}

describe.each(kinds)("a %s", (kind) => {
  beforeEach((context) => need(context, cannotCompile(kind)));

  test("gets its arguments and variables, and none of the host's", async () => {
    const args = ["args", "", "a b", "ü", "--x=1"];
    expect((await run(kind, args)).stdout).toBe(
      Buffer.from(["probe", ...args].map((arg) => `"${arg}"\n`).join("")).toString("latin1"),
    );
    expect(await run(kind, ["env"], { env: { A: "1", B: "two words" } })).toEqual({
      stdout: "A=1\nB=two words\n",
      stderr: "",
      code: 0,
    });
  });

  test("leaves no description behind", async () => {
    await run(kind, ["hello"]);
    expect(existsSync(join(root, `run-${runs}.json`))).toBe(false);
  });

  test("sees no file, and no network, where none was given", async () => {
    const { stdout, code } = await run(kind, [
      "files",
      "list:/",
      "read:/etc/hostname",
      "read:etc/hostname",
      "write:/tmp/x:1",
    ]);
    expect(stdout.split("\n").map((line) => line.replace(/.*: error \d+$/, "refused"))).toEqual([
      ...Array(4).fill("refused"),
      "",
    ]);
    expect(code).toBe(0);
    // What a core module cannot ask for at all is a trap of Rust's.
    expect((await run(kind, ["network", "127.0.0.1:9"])).stdout).not.toContain("connect: ()");
  });

  test("exits by its own number", async () => {
    const exact = kind === "module";
    for (const code of [0, 1, 7, 255, 256, 263, -1]) {
      const expected = exact ? code & 255 : Number(code !== 0);
      expect(await run(kind, ["exit", String(code)])).toMatchObject({ code: expected, stderr: "" });
    }
  });

  test("is told of as trapped", async () => {
    const trapped = await run(kind, ["trap"]);
    expect(trapped).toMatchObject({ code: 134, stdout: "" });
    expect(trapped.stderr).toMatch(/^prx-runtime: wasm trap: .*unreachable.*\n$/i);
    const deep = await run(kind, ["deep"]);
    expect(deep.code).toBe(134);
    expect(deep.stderr).toMatch(/^prx-runtime: wasm trap: .*call stack.*\n$/);
  });

  test("has its memory up to the limit, and is told when that was not enough", async () => {
    expect(await run(kind, ["memory", "40"])).toMatchObject({ stdout: "40\n", code: 0 });
    const { code, stderr } = await run(kind, ["memory", "65"]);
    expect(code).toBe(134);
    expect(stderr).toMatch(/^prx-runtime: wasm memory: the guest had [\d.]+ of 64 MiB and could not get more$/m);
  });

  test("writes five million bytes before it exits, in one piece and in many, to a slow reader too", async () => {
    const code = kind === "module" ? 3 : 1;
    for (const block of [5_000_000, 4096]) {
      const { stdout, ...rest } = await run(kind, ["big", "5000000", String(block)]);
      expect({ ...rest, length: stdout.length, rest: stdout.replaceAll("x", "") }).toEqual({
        ...{ code, stderr: "", rest: "" },
        length: Math.floor(5_000_000 / block) * block,
      });
    }
    const child = start(kind, ["big", "5000000", "4096"]);
    await new Promise((resolve) => setTimeout(resolve, 1500));
    // Nobody has read yet: it waits rather than piling up.
    expect(child.exitCode).toBe(null);
    expect((await finish(child)).stdout).toHaveLength(4_997_120);
  });

  test("reads every byte of stdin, as it comes, and its end", async () => {
    const bytes = Buffer.from(Array.from({ length: 1_000_003 }, (_, index) => (index * 7919) % 256));
    const { stdout, code } = await finish(start(kind, ["cat"]), bytes);
    expect(Buffer.from(stdout, "latin1").equals(bytes)).toBe(true);
    expect(code).toBe(0);
    const child = start(kind, ["cat"]);
    child.stdin?.write("now");
    const [first] = await once(child.stdout ?? child, "data");
    expect(String(first)).toBe("now");
    expect(await finish(child)).toEqual({ stdout: "", stderr: "", code: 0 });
  });

  test("ends though stdin stays open", async () => {
    const child = start(kind, ["hello"]);
    const [[code], stdout] = await Promise.all([once(child, "exit"), textOf(child.stdout)]);
    expect([code, stdout]).toEqual([0, "hello\n"]);
    child.stdin?.destroy();
  });

  test("sleeps, and is killed in a loop", async () => {
    expect((await run(kind, ["sleep", "300"])).stdout).toBe("true\n");
    const child = start(kind, ["loop"]);
    await new Promise((resolve) => setTimeout(resolve, 1000));
    child.kill("SIGKILL");
    await once(child, "exit");
    expect(child.signalCode).toBe("SIGKILL");
  });

  describe("with directories", () => {
    let place = "";

    beforeEach(() => {
      place = join(root, `files-${runs}`);
      mkdirSync(join(place, "in", "sub"), { recursive: true });
      writeFileSync(join(place, "secret"), "secret");
      writeFileSync(join(place, "in", "file"), "inside");
      writeFileSync(join(place, "in", "sub", "deep"), "deep");
      for (const [name, target] of Object.entries({
        link: "file",
        dot: ".",
        out: "../secret",
        root: "/etc",
        up: "..",
      })) {
        symlinkSync(target, join(place, "in", name));
      }
    });

    const given = (writable: boolean): Given => ({ preopens: [{ host: join(place, "in"), guest: "/w", writable }] });

    async function steps(writable: boolean, ...wanted: readonly string[]): Promise<string[]> {
      const { stdout, stderr, code } = await run(kind, ["files", ...wanted], given(writable));
      expect({ stderr, code }).toEqual({ stderr: "", code: 0 });
      return stdout
        .trimEnd()
        .split("\n")
        .map((line, index) => line.slice((wanted[index] ?? "").length + 2));
    }

    test("reads and changes what is in them", async () => {
      expect(
        await steps(
          true,
          ...["read:/w/file", "read:/w/link", "read:/w/dot/dot/sub/../file", "write:/w/new:abc", "append:/w/new:def"],
          ...["size:/w/new:4", "read:/w/new", "mkdir:/w/made", "rename:/w/new:/w/made/new", "list:/w/made"],
          ...["link:/w/made/new:/w/hard", "times:/w/hard:12345", "stat:/w/hard", "sync:/w/hard", "unlink:/w/hard"],
          ...["unlink:/w/made/new", "rmdir:/w/made", "lstat:/w/link", "readlink:/w/link"],
        ),
      ).toEqual([
        ...['"inside"', '"inside"', '"inside"', "()", "()", "()", '"abcd"', "()", "()", '["new"]', "()", "()"],
        ...["(4, false, Some(12345))", "()", "()", "()", "()", "true", '"file"'],
      ]);
      expect(readdirSync(join(place, "in")).sort()).toEqual(["dot", "file", "link", "out", "root", "sub", "up"]);
    });

    test("never leaves them", async () => {
      const paths = [
        "out",
        "../secret",
        "up/secret",
        "dot/../secret",
        "sub/../../secret",
        "dot/up/secret",
        "root/hostname",
      ];
      const verbs = ["read", "stat", "write"];
      const told = await steps(true, ...paths.flatMap((path) => verbs.map((verb) => `${verb}:/w/${path}`)));
      expect(new Set(told)).toEqual(new Set(["error 63"]));
      const moved = ["rename:/w/file:/w/up/moved", "rename:/w/up/secret:/w/moved", "link:/w/up/secret:/w/hard"];
      expect(await steps(true, ...moved, "link:/w/out:/w/again", "read:/w/again")).toEqual([
        ...Array(3).fill("error 63"),
        ...["()", "error 63"],
      ]);
      expect(readFileSync(join(place, "secret"), "utf8")).toBe("secret");
    });

    test("changes nothing where it may only read", async () => {
      const before = spawnSync("ls", ["-lR", "--time-style=full-iso", place], { encoding: "utf8" }).stdout;
      const told = await steps(
        false,
        ...[
          "write:/w/new:1",
          "write:/w/file:1",
          "append:/w/file:1",
          "trunc:/w/file",
          "size:/w/file:0",
          "mkdir:/w/made",
        ],
        ...["rmdir:/w/sub", "unlink:/w/file", "rename:/w/file:/w/other", "link:/w/file:/w/hard", "times:/w/file:1"],
      );
      expect(new Set(told)).toEqual(new Set(["error 69"]));
      expect(await steps(false, "read:/w/file", "read:/w/sub/deep")).toEqual(['"inside"', '"deep"']);
      expect(spawnSync("ls", ["-lR", "--time-style=full-iso", place], { encoding: "utf8" }).stdout).toBe(before);
    });

    test("removes no directory by the call that is for files", async () => {
      expect(await steps(true, "mkdir:/w/empty", "unlink:/w/empty", "rmdir:/w/empty")).toEqual([
        "()",
        "error 31",
        "()",
      ]);
    });

    test("is not shaken by odd times and names", async () => {
      for (const [name, time] of Object.entries({ zero: "1970-01-01", early: "1950-01-01", late: "2200-01-01" })) {
        spawnSync("touch", ["-d", `${time} 00:00:00 UTC`, join(place, "in", name)]);
      }
      spawnSync("touch", ["-h", "-d", "1950-01-01", join(place, "in", "link")]);
      spawnSync("sh", ["-c", `cd "$1" && : > "$(printf '\\377\\376')"`, "sh", join(place, "in")]);
      expect(
        await steps(true, "stat:/w/zero", "stat:/w/early", "stat:/w/late", "lstat:/w/link", "list:/w/sub"),
      ).toEqual([
        ...["(0, false, Some(0))", "(0, false, Some(0))", "(0, false, Some(7258118400))", "true", '["deep"]'],
      ]);
      expect((await steps(true, "list:/w"))[0]).toContain('"file"');
    });

    test("stays in them while somebody swaps a directory for a link that leads out", async () => {
      mkdirSync(join(place, "in", "door"));
      writeFileSync(join(place, "in", "door", "secret"), "inside");
      const child = start(kind, ["files", ...Array(3000).fill("read:/w/door/secret")], given(true));
      let running = true;
      const ended = finish(child).finally(() => {
        running = false;
      });
      const [door, aside] = [join(place, "in", "door"), join(place, "in", "aside")];
      while (running) {
        for (let round = 0; round < 50; round += 1) {
          renameSync(door, aside);
          symlinkSync("..", door);
          unlinkSync(door);
          renameSync(aside, door);
        }
        await new Promise((resolve) => setImmediate(resolve));
      }
      const { stdout, code } = await ended;
      expect(code).toBe(0);
      expect(stdout).not.toContain('"secret"');
    });
  });
});

describe("a module", () => {
  beforeEach((context) => need(context, cannotCompile("module")));

  test("makes no symbolic link, and has none followed from a directory that it still holds", async () => {
    const inside = join(root, "swapped");
    mkdirSync(join(inside, "d"), { recursive: true });
    const given = { preopens: [{ host: inside, guest: "/w", writable: true }] };
    const { stdout } = await run("module", ["raw", "swapped", "../../../../../etc", "hostname"], given);
    expect(stdout).toBe("rename 0\nsymlink 63\nopen error 44\n");
  });

  test("is woken by a timer while stdin has nothing, where it can be looked at", async ({ skip }) => {
    if (runtimeName === "deno") skip("Deno, without directories, may not open its own stdin again");
    const shell = spawnSync("sh", ["-c", '(sleep 3) | "$@"', "sh", ...commandOf("module", ["raw", "poll", "100"])], {
      encoding: "utf8",
      cwd: root,
    });
    expect(shell.stdout).toBe("poll 0 1 0\n");
  });
});

test("a component uses the network that it was given", async (context) => {
  need(context, cannotCompile("component"));
  const server = createServer((socket) => socket.end());
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  const port = typeof address === "object" && address !== null ? address.port : 0;
  try {
    const { stdout, code } = await run("component", ["network", `127.0.0.1:${port}`], { network: true });
    expect({ stdout, code }).toEqual({ stdout: "connect: ()\n", code: 0 });
  } finally {
    server.close();
  }
});

test("a description that is not there is no guest's exit", async () => {
  const argv = jcoCommand({
    runtime: runtimeName,
    executable: process.execPath,
    program: hostProgram(),
    descriptionFile: join(root, "none.json"),
    description: { directory: root, preopens: [], network: false },
    memoryLimitBytes,
  });
  const { status, stderr } = spawnSync(argv[0] ?? "", argv.slice(1), { encoding: "utf8", cwd: root });
  expect(status).toBe(125);
  expect(stderr).toMatch(/^prx-runtime: wasm host: /);
});
