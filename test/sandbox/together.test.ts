/** Commands that work together from two executions are no way out, or into a third. */

import {
  chmodSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  realpathSync,
  rmdirSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeEach, describe, expect, onTestFinished, test } from "vitest";
import { pause } from "../../host/pause.ts";
import type { Runtime, RuntimeError } from "../../mod.ts";
import { isolateState } from "../fixtures/host-target.ts";
import { missing, need } from "../fixtures/needed.ts";
import { tried } from "./against.ts";
import { sandboxedRuntime } from "./ways.ts";

const state = isolateState();
afterAll(() => state.remove());

const python = "/usr/bin/python3";
/** Takes descriptors and holds on to them, each also by what it can be opened as anew, until a file says that it is enough. */
const taker = `
import array, os, socket, time
server = socket.socket(socket.AF_UNIX)
server.bind("socket")
server.listen(1)
open("ready", "w").close()
giver, _ = server.accept()
_, ancillary, _, _ = giver.recvmsg(10, socket.CMSG_SPACE(64))
held = array.array("i")
held.frombytes(ancillary[0][2][: len(ancillary[0][2]) // 4 * 4])
open("taken", "w").close()
seen = False
while not os.path.exists("enough"):
    for fd in held:
        for way in (os.O_RDONLY, os.O_WRONLY):
            try:
                again = os.open(f"/proc/self/fd/{fd}", way | os.O_NONBLOCK)
                if way == os.O_RDONLY:
                    seen = b"mine" in os.read(again, 65536) or seen
                else:
                    os.write(again, b"forged")
                os.close(again)
            except OSError:
                pass
    time.sleep(0.001)
print(seen)
`;
const giver = `
import array, os, socket
to = socket.socket(socket.AF_UNIX)
to.connect("socket")
held = [1, os.open("/proc/self/fd/1", os.O_RDONLY | os.O_NONBLOCK), os.open("/proc/self/fd/1", os.O_PATH)]
to.sendmsg([b"x"], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", held[WHICH:]))])
`;

describe.each(tried)("in %s", (backend, obstacle) => {
  let project: string;
  let runtime: Runtime;

  beforeEach(async (context) => {
    need(context, obstacle ?? missing("python3"));
    project = realpathSync(mkdtempSync(join(tmpdir(), "together-")));
    // A working directory that is a link is the caller's choice; here it may lead nowhere else.
    const security = { sandbox: { backend }, allowed_workspace_roots: [tmpdir()] };
    runtime = await sandboxedRuntime(backend, {}, { security });
    onTestFinished(() => runtime.close());
  });

  const there = (name: string) => expect.poll(() => existsSync(join(project, name)), { timeout: 10_000 }).toBe(true);

  test.each([
    ["open", 0],
    ["without rights", 2],
  ])("a pipe that one hands to another, %s, is no third one's", { timeout: 60_000 }, async (_, which) => {
    const taking = runtime.execute(python, ["-c", taker], { workingDir: project });
    await there("ready");
    const giving = await runtime.execute(python, ["-c", giver.replace("WHICH", `${which}`)], { workingDir: project });
    expect(giving).toMatchObject({ exitCode: 0, stderr: "" });
    await there("taken");
    for (let round = 0; round < 5; round += 1) {
      const third = await runtime.execute("/bin/sh", ["-c", "echo mine; sleep 0.1; echo more"]);
      expect(third).toMatchObject({ outcome: "completed", stdout: "mine\nmore\n", stderr: "", warnings: [] });
    }
    writeFileSync(join(project, "enough"), "");
    expect((await taking).stdout).toBe("False\n");
  });

  test("a link put in the place of a working directory, again and again, shows nothing else", {
    timeout: 60_000,
  }, async () => {
    const secret = mkdtempSync(join(state.scratch, "secret-"));
    writeFileSync(join(secret, "file"), "secret");
    mkdirSync(join(project, "inner"));
    writeFileSync(join(project, "inner/file"), "harmless");
    symlinkSync(secret, join(project, "link"));
    copyFileSync(fileURLToPath(new URL("../fixtures/exchange.py", import.meta.url)), join(project, "exchange.py"));
    const stop = new AbortController();
    const exchanging = runtime.stream(python, ["exchange.py", "inner", "link", "500"], {
      workingDir: project,
      signal: stop.signal,
    });
    for await (const event of exchanging) {
      if (event.type !== "stdout") continue;
      const seen: string[] = [];
      const look = () => runtime.execute("/bin/cat", ["file"], { workingDir: join(project, "inner") });
      for (const until = Date.now() + 10_000; Date.now() < until; await pause(1)) {
        seen.push(
          await look().then(
            ({ stdout }) => stdout,
            ({ code }: RuntimeError) => code,
          ),
        );
        const shown = seen.filter((text) => text === "harmless").length;
        if (Math.min(shown, seen.length - shown) >= 10) break;
      }
      expect(seen).toContain("harmless");
      expect(seen).not.toContain("secret");
      stop.abort();
    }
  });
});

/** bubblewrap, with something that happens at the last moment before anything is mounted. */
function delayed(place: string, script: string): string {
  const bwrap = join(place, "bwrap");
  writeFileSync(bwrap, `#!/bin/sh\n${script}\nexec bwrap "$@"\n`);
  chmodSync(bwrap, 0o755);
  return bwrap;
}

/** bubblewrap, with a link to the secrets of a place where a path of it was, as soon as it is said to be late. */
function linking(place: string, path: string): string {
  mkdirSync(join(place, "secret"));
  return delayed(place, `[ ! -e ${place}/late ] || { mv ${path} ${place}/away; ln -s ${place}/secret ${path}; }`);
}

test("what was mounted in the place of a working directory is no command's", { timeout: 60_000 }, async (context) => {
  need(context, tried.find(([name]) => name === "bubblewrap")?.[1] ?? null);
  const place = realpathSync(mkdtempSync(join(tmpdir(), "late-")));
  const project = join(place, "project");
  const inner = join(project, "inner");
  mkdirSync(inner, { recursive: true });
  const bwrap = linking(place, inner);
  await using runtime = await sandboxedRuntime("bubblewrap", { bubblewrap_program: bwrap });
  const write = () => runtime.execute("/bin/sh", ["-c", "echo there > mark; echo begun"], { workingDir: inner });
  const outer = runtime.execute("/bin/sh", ["-c", "until [ -e enough ]; do sleep 0.01; done"], { workingDir: project });
  expect(await write()).toMatchObject({ exitCode: 0, stdout: "begun\n" });
  writeFileSync(join(place, "late"), "");
  await expect(write()).rejects.toMatchObject({ code: "policy_unenforceable", started: "no" });
  expect(readdirSync(join(place, "secret"))).toEqual([]);
  writeFileSync(join(project, "enough"), "");
  expect(await outer).toMatchObject({ exitCode: 0 });
});

test("what was mounted in the place of a listed path is shown to nobody, where another host may be at work", {
  timeout: 60_000,
}, async (context) => {
  need(context, tried.find(([name]) => name === "bubblewrap")?.[1] ?? null);
  const place = realpathSync(mkdtempSync(join(tmpdir(), "late-")));
  const inner = join(place, "project/inner");
  mkdirSync(inner, { recursive: true });
  const bwrap = linking(place, inner);
  writeFileSync(join(place, "secret/file"), "secret");
  await using runtime = await sandboxedRuntime("bubblewrap", { bubblewrap_program: bwrap, readonly_paths: [inner] });
  // Of this process's own hosts it is known what they run.
  const another = join(process.env["PRX_STATE_DIR"] ?? "", "another");
  mkdirSync(another);
  onTestFinished(() => rmdirSync(another));
  const look = () => runtime.execute("/bin/sh", ["-c", `cat ${inner}/file; echo begun`]);
  expect(await look()).toMatchObject({ exitCode: 0, stdout: "begun\n" });
  writeFileSync(join(place, "late"), "");
  await expect(look()).rejects.toMatchObject({ code: "policy_unenforceable", started: "no" });
});

test("a command waits for a sandbox that it could disturb, however long that takes to be made", {
  timeout: 60_000,
}, async (context) => {
  need(context, tried.find(([name]) => name === "bubblewrap")?.[1] ?? null);
  const place = realpathSync(mkdtempSync(join(tmpdir(), "slow-")));
  const inner = join(place, "project/inner");
  mkdirSync(inner, { recursive: true });
  mkdirSync(join(place, "secret"));
  writeFileSync(join(inner, "file"), "harmless");
  writeFileSync(join(place, "secret/file"), "secret");
  writeFileSync(join(place, "slow"), "");
  const bwrap = delayed(place, `[ ! -e ${place}/slow ] || { rm ${place}/slow; sleep 7; }`);
  await using runtime = await sandboxedRuntime("bubblewrap", { bubblewrap_program: bwrap });
  writeFileSync(join(place, "slow"), "");
  const slow = runtime.execute("/bin/cat", ["file"], { workingDir: inner });
  await expect.poll(() => existsSync(join(place, "slow"))).toBe(false);
  const script = `mv inner away; ln -s ${place}/secret inner; echo done`;
  const swap = () => runtime.execute("/bin/sh", ["-c", script], { workingDir: join(place, "project") });
  const late = runtime.execute("/bin/true", [], { workingDir: join(place, "project"), timeoutMs: 500 });
  const swapping = swap();
  expect(await late).toMatchObject({ outcome: "timed_out" });
  expect((await slow).stdout).toBe("harmless");
  expect((await swapping).stdout).toBe("done\n");
});
