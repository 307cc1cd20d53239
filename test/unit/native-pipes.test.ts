/** Real pipes for a command's output: opened at both ends, used again, and nothing of them left open or behind. */

import {
  closeSync,
  constants,
  existsSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  readSync,
  realpathSync,
  rmSync,
  writeSync,
} from "node:fs";
import { basename, join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import type { Child } from "../../adapters/_native/child.ts";
import { createPipePool, openOutputPipes, type Pipe, type PipePool } from "../../adapters/_native/pipes.ts";
import { createBunPipePool } from "../../adapters/_native/pipes-bun.ts";
import { chooseSpawn } from "../../adapters/_native/spawn.ts";
import { scratchDirectory } from "./native-scratch.ts";

const { at, write } = scratchDirectory();
const isLinux = process.platform === "linux";
const fds = () => readdirSync("/proc/self/fd").length;

let pools = 0;

async function poolOf() {
  pools += 1;
  const directory = at(`pool-${pools}`);
  const pool = await createPipePool(directory);
  if (pool === null) throw new Error("There is no pool");
  onTestFinished(pool.close);
  return { pool, directory, paths: () => readdirSync(directory).sort() };
}

/** Opens every pipe that the pool has ready, and answers their paths in the order in which they come. */
function drain(pool: PipePool, count: number): readonly Pipe[] {
  return Array.from({ length: count }, () => pool.open());
}

function close({ hostFd, childFd }: Pipe): void {
  closeSync(hostFd);
  closeSync(childFd);
}

function readAll(fd: number): string {
  const buffer = Buffer.alloc(100);
  return buffer.toString("utf8", 0, readSync(fd, buffer));
}

describe.runIf(isLinux)("a pool", () => {
  test("opens both ends: the host's does not block, the child's does", async () => {
    const { pool } = await poolOf();
    const pipe = pool.open();
    writeSync(pipe.childFd, "hi");
    expect(readAll(pipe.hostFd)).toBe("hi");
    expect(() => readAll(pipe.hostFd)).toThrow("EAGAIN");
    const flagsOf = (fd: number) =>
      Number.parseInt(/flags:\s+(\d+)/.exec(readFileSync(`/proc/self/fdinfo/${fd}`, "utf8"))?.[1] ?? "", 8);
    expect([flagsOf(pipe.hostFd) & 0o4000, flagsOf(pipe.childFd) & 0o4000]).toEqual([0o4000, 0]);
    closeSync(pipe.childFd);
    expect(readAll(pipe.hostFd)).toBe("");
    closeSync(pipe.hostFd);
  });

  test("makes more when it has none left, each another", async () => {
    const { pool, paths } = await poolOf();
    const before = paths().length;
    const pipes = drain(pool, before + 1);
    expect(paths().length).toBeGreaterThan(before);
    for (const [index, { childFd }] of pipes.entries()) writeSync(childFd, String(index));
    expect(pipes.map(({ hostFd }) => readAll(hostFd))).toEqual(pipes.map((_, index) => String(index)));
    pipes.forEach(close);
  });

  test("uses again what is given back for it, and removes the rest", async () => {
    const { pool, paths } = await poolOf();
    const all = paths();
    for (let round = 0; round < 50; round += 1) {
      const pipe = pool.open();
      close(pipe);
      pipe.giveBack(true);
    }
    expect(paths()).toEqual(all);
    const pipe = pool.open();
    close(pipe);
    pipe.giveBack(false);
    expect(paths().length).toBe(all.length - 1);
  });

  test.each(["reads", "writes"])("uses none again that somebody still %s", async (how) => {
    const { pool, paths } = await poolOf();
    const pipe = pool.open();
    const flags = how === "reads" ? constants.O_RDONLY | constants.O_NONBLOCK : constants.O_WRONLY;
    const other = openSync(`/proc/self/fd/${how === "reads" ? pipe.hostFd : pipe.childFd}`, flags);
    onTestFinished(() => closeSync(other));
    const path = realpathSync(`/proc/self/fd/${pipe.hostFd}`);
    close(pipe);
    pipe.giveBack(true);
    const next = pool.open();
    onTestFinished(() => close(next));
    expect(realpathSync(`/proc/self/fd/${next.hostFd}`)).not.toBe(path);
    expect(paths()).not.toContain(basename(path));
  });

  test("is only its user's, and gone once it is closed", async () => {
    const { pool, directory } = await poolOf();
    pool.close();
    expect(existsSync(directory)).toBe(false);
    pool.close();
  });

  test("is none where none can be made", async () => {
    expect(await createPipePool(join(write("file"), "below"))).toBeNull();
  });
});

// On the other runtimes there is nothing to be tried.
if (isLinux && "Bun" in globalThis) {
  describe("Bun's own pipes", () => {
    const pool = () => createBunPipePool() ?? expect.unreachable("There are none");
    const flagsOf = (fd: number) =>
      Number.parseInt(/flags:\s+(\d+)/.exec(readFileSync(`/proc/self/fdinfo/${fd}`, "utf8"))?.[1] ?? "", 8);

    test("are open at both ends, of which only the host's does not block, and no child gets them unasked", () => {
      const pipe = pool().open();
      writeSync(pipe.childFd, "hi");
      expect(readAll(pipe.hostFd)).toBe("hi");
      expect(() => readAll(pipe.hostFd)).toThrow("EAGAIN");
      expect([pipe.hostFd, pipe.childFd].map((fd) => flagsOf(fd) & 0o2004000)).toEqual([0o2004000, 0o2000000]);
      expect(readlinkSync(`/proc/self/fd/${pipe.childFd}`)).toMatch(/^pipe:/);
      close(pipe);
    });

    test("are each another, and leave nothing open", () => {
      const before = fds();
      const pipes = drain(pool(), 20);
      for (const [index, { childFd }] of pipes.entries()) writeSync(childFd, String(index));
      expect(pipes.map(({ hostFd }) => readAll(hostFd))).toEqual(pipes.map((_, index) => String(index)));
      pipes.forEach(close);
      expect(fds()).toBe(before);
    });
  });
}

describe.runIf(isLinux)("the two pipes of a command", () => {
  test("handed over, only the host's ends are left", async () => {
    const { pool } = await poolOf();
    const before = fds();
    const { stdout, stderr, handOver, giveBack } = openOutputPipes(pool) ?? expect.unreachable();
    expect(fds()).toBe(before + 4);
    handOver();
    expect(fds()).toBe(before + 2);
    expect([readAll(stdout.hostFd), readAll(stderr.hostFd)]).toEqual(["", ""]);
    closeSync(stdout.hostFd);
    closeSync(stderr.hostFd);
    giveBack(true);
    expect(fds()).toBe(before);
  });

  test("abandoned, nothing is left open and both are used again", async () => {
    const { pool, paths } = await poolOf();
    const all = paths();
    const before = fds();
    for (let round = 0; round < 20; round += 1) openOutputPipes(pool)?.abandon();
    expect([fds(), paths()]).toEqual([before, all]);
  });

  test("given back while somebody may still have them, both are removed", async () => {
    const { pool, paths } = await poolOf();
    const all = paths();
    const pipes = openOutputPipes(pool) ?? expect.unreachable();
    pipes.handOver();
    closeSync(pipes.stdout.hostFd);
    closeSync(pipes.stderr.hostFd);
    pipes.giveBack(false);
    expect(paths().length).toBe(all.length - 2);
  });

  test("of which one cannot be opened are none, and the other is used again", async () => {
    const { pool, directory, paths } = await poolOf();
    const before = fds();
    const [spoiled, ...good] = paths().toReversed().slice(1);
    if (spoiled === undefined) throw new Error("There are too few pipes");
    rmSync(join(directory, spoiled));
    mkdirSync(join(directory, spoiled));
    expect(openOutputPipes(pool)).toBeNull();
    expect(fds()).toBe(before);
    const pairs = Array.from({ length: (good.length + 1) / 2 }, () => openOutputPipes(pool) ?? expect.unreachable());
    expect(new Set(paths())).toEqual(new Set([...paths(), ...good]));
    for (const pair of pairs) pair.abandon();
  });

  test("that cannot both be opened are none, and nothing is left open", async () => {
    const { pool, directory, paths } = await poolOf();
    const count = paths().length;
    const before = fds();
    for (const path of paths().map((name) => join(directory, name))) {
      rmSync(path);
      mkdirSync(path);
    }
    for (let round = 0; round < count; round += 1) expect(openOutputPipes(pool)).toBeNull();
    expect(fds()).toBe(before);
    rmSync(directory, { recursive: true });
    const pipes = openOutputPipes(pool) ?? expect.unreachable();
    writeSync(pipes.stderr.childFd, "made anew");
    expect(readAll(pipes.stderr.hostFd)).toBe("made anew");
    pipes.abandon();
  });
});

describe("starting a command", () => {
  const request = (script: string) => ({
    ...{ file: "/bin/sh", args: ["-c", script], env: { PATH: "/usr/bin:/bin" }, workingDir: "/", stdin: false },
  });

  async function outputOf(child: Child): Promise<readonly [string, string]> {
    const texts = await Promise.all(
      [child.stdout, child.stderr].map(async (source) => {
        let text = "";
        for (let chunk = await source.read(); chunk !== null; chunk = await source.read()) {
          text += new TextDecoder().decode(chunk);
        }
        source.cancel();
        return text;
      }),
    );
    await child.exited;
    child.dispose(true);
    return texts as [string, string];
  }

  test.runIf(isLinux)("its own streams can be opened anew by their names", async () => {
    const { pool } = await poolOf();
    const spawn = await chooseSpawn(async () => pool);
    const child = spawn(request("echo out > /dev/stdout; echo err > /dev/stderr; echo tee | tee /dev/stderr"));
    if (child.pid === undefined) throw await child.failure;
    expect(await outputOf(child)).toEqual(["out\ntee\n", "err\ntee\n"]);
  });

  test.runIf(isLinux)("goes on without the pool's pipes where they have gone", async () => {
    const { pool, directory } = await poolOf();
    rmSync(directory, { recursive: true });
    const spawn = await chooseSpawn(async () => pool);
    const child = spawn(request("echo out; echo err >&2"));
    if (child.pid === undefined) throw await child.failure;
    expect(await outputOf(child)).toEqual(["out\n", "err\n"]);
  });

  test.runIf(isLinux)("that fails leaves nothing open", async () => {
    const { pool, paths } = await poolOf();
    const all = paths();
    const spawn = await chooseSpawn(async () => pool);
    const attempt = async () => {
      const child = spawn({ ...request("true"), file: "/no/such/program" });
      expect(child.pid).toBeUndefined();
      if (child.pid === undefined) expect(await child.failure).toMatchObject({ code: "ENOENT" });
    };
    await attempt();
    const before = fds();
    for (let round = 0; round < 5; round += 1) await attempt();
    expect([fds(), paths()]).toEqual([before, all]);
  });
});
