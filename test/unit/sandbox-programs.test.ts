/** What the sandbox programs are told, what is made of their complaints, and whose an ending is. */

import { readdirSync, writeSync } from "node:fs";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import type { Child, SpawnRequest } from "../../adapters/_native/child.ts";
import { bubblewrap } from "../../adapters/_native/sandbox/bubblewrap.ts";
import { causeOf, missing } from "../../adapters/_native/sandbox/causes.ts";
import { sandboxed } from "../../adapters/_native/sandbox/sandboxed-spawn.ts";
import { composeView } from "../../adapters/_native/sandbox/view.ts";
import type { ExitKind } from "../../src/types.ts";
import { scratchDirectory } from "./native-scratch.ts";

const { at, makeDirectory } = scratchDirectory();
const view = composeView({
  system: [{ kind: "readonly", at: "/usr", source: "/usr" }],
  ...{
    toolchains: [],
    listed: [],
    protectedPaths: [],
    keptFiles: [],
    hidden: [],
    network: false,
    workingDir: "/w",
    home: null,
  },
});
const program = bubblewrap("/usr/bin/bwrap", {
  filtered: true,
  strayEnv: [],
  kernelFiles: ["/proc/sys", "/proc/keys"],
});

const command = (env: Readonly<Record<string, string>>) => ({ argv: ["tool", "a b"] as const, env });

describe("bubblewrap's words", () => {
  test("shut everything that can be shut, and the command's follow as they are", () => {
    const { words } = program.wrap(view, command({}));
    expect(words).toEqual([
      ...["/usr/bin/bwrap", "--unshare-all", "--die-with-parent", "--new-session", "--cap-drop", "ALL"],
      ...["--seccomp", "3", "--json-status-fd", "4", "--proc", "/proc", "--dev", "/dev"],
      ...[
        "--ro-bind",
        "/proc/sys",
        "/proc/sys",
        ...["--ro-bind", "/dev/null", "/proc/keys"],
        "--ro-bind",
        "/usr",
        "/usr",
        "--perms",
        "1777",
        "--tmpfs",
        "/tmp",
        "--bind",
        "/w",
        "/w",
        "--symlink",
        "/tmp",
        "/var/tmp",
      ],
      ...["--remount-ro", "/", "--chdir", "/w", "--", "tool", "a b"],
    ]);
  });

  test("share the network only where the view has one", () => {
    expect(program.wrap(view, command({})).words).not.toContain("--share-net");
    expect(program.wrap({ ...view, network: true }, command({})).words).toContain("--share-net");
  });

  test("hold no value of a variable, but for those that would lead bubblewrap's own loader", () => {
    const env = { TOKEN: "s3cret", LD_PRELOAD: "/evil.so", GLIBC_TUNABLES: "x", "A.B": "1" };
    const wrapping = program.wrap(view, command(env));
    expect(wrapping.env).toEqual({ TOKEN: "s3cret", "A.B": "1" });
    expect(wrapping.words.join(" ")).toContain("--setenv LD_PRELOAD /evil.so --setenv GLIBC_TUNABLES x --chdir");
    expect(wrapping.words.join(" ")).not.toContain("s3cret");
  });

  test("take out what the JavaScript runtime adds, unless the plan has it", () => {
    const stray = bubblewrap("/bwrap", { filtered: false, strayEnv: ["STRAY"], kernelFiles: [] });
    expect(stray.wrap(view, command({})).words.join(" ")).toContain("--unsetenv STRAY --chdir");
    const { words, env } = stray.wrap(view, command({ STRAY: "mine" }));
    expect([words.join(" "), env]).toEqual([expect.stringContaining("--unsetenv STRAY --setenv STRAY mine"), {}]);
    expect(words).not.toContain("--seccomp");
  });
});

describe("a complaint", () => {
  test.each([
    ["bwrap: Unknown option --json-status-fd", /too old/, /0\.8 or newer/],
    ["bwrap: setting up uid map: Permission denied", /AppArmor/, /profile/],
    ["bwrap: loopback: Failed RTM_NEWADDR: Operation not permitted", /AppArmor/, /apparmor_restrict/],
    ["bwrap: Can't mount proc on /newroot/proc: Operation not permitted", /containers/, /systempaths=unconfined/],
    ["bwrap: No permissions to creating new namespace, likely because the kernel", /user namespaces/, /sysctl/],
    ["bwrap: Creating new namespace failed: Operation not permitted", /container/, /seccomp=unconfined/],
    ["bwrap: Creating new namespace failed: No space left on device", /user namespaces/, /max_user_namespaces/],
    [
      "bwrap: Creating new namespace failed: nesting depth or /proc/sys/user/max_*_namespaces exceeded (ENOSPC)",
      /user namespaces/,
      /max_user_namespaces/,
    ],
    ["ENOSPC: no space left on device, write", /no space for the files/, /\/dev\/shm/],
    ["EDQUOT: disk quota exceeded, open '/x'", /no space for the files/, /PRX_STATE_DIR/],
    ["bwrap: something new", /it said: bwrap: something new/, /another sandbox/],
    ["", /it said nothing/, /another sandbox/],
  ])("%s", (said, reason, remedy) => {
    expect(causeOf("bubblewrap", said)).toEqual({
      reason: expect.stringMatching(reason),
      remedy: expect.stringMatching(remedy),
    });
  });

  test("of a program that is not there names its package", () => {
    expect(missing("bubblewrap", "bwrap")).toMatchObject({ remedy: expect.stringContaining("apt install bubblewrap") });
  });
});

describe("an ending", () => {
  const ownDirectory = makeDirectory("own");
  const request: SpawnRequest = { file: "/bin/tool", args: ["a"], env: { A: "1" }, workingDir: "/w", stdin: false };
  const settings = { directory: at("etc"), refresh: () => {}, hold: () => () => {} };

  /** A monitor that writes this status and stderr, and ends so. */
  function run(status: string, stderr: readonly string[], exit: ExitKind | Promise<ExitKind>, over = {}) {
    let seen: SpawnRequest | null = null;
    const chunks = stderr.map((text) => new TextEncoder().encode(text));
    const spawn = (asked: SpawnRequest): Child => {
      seen = asked;
      writeSync(asked.descriptors?.[1] ?? -1, status);
      return {
        ...{ pid: 4_000_000, stdin: null, dispose: () => {} },
        stdout: { read: async () => null, cancel: () => {} },
        stderr: { read: async () => chunks.shift() ?? null, cancel: () => {} },
        exited: Promise.resolve(exit),
      };
    };
    const kept = { protectedPaths: [], keptFiles: [] };
    const artifact = {
      program,
      view,
      settings,
      ownDirectory,
      configTables: [],
      filter: new Uint8Array([1, 2]),
      ...kept,
      ...over,
    };
    const child = sandboxed(spawn, artifact, { id: "1", file: request.file })(request) as Child;
    return { child, seen: () => seen };
  }
  async function text(child: Child): Promise<string> {
    let all = "";
    for (let chunk = await child.stderr.read(); chunk !== null; chunk = await child.stderr.read())
      all += new TextDecoder().decode(chunk);
    return all;
  }
  const begun = '{ "child-pid": 4000001 }\n';
  const ended = `${begun}{ "exit-code": 1 }\n`;
  const one = { kind: "exited", code: 1 } as const;

  test("is the command's where the program says that it ran it, whatever it wrote", async () => {
    const { child, seen } = run(ended, ["bwrap: my own words\n", "more"], one);
    expect(await text(child)).toBe("bwrap: my own words\nmore");
    expect(await child.monitor?.ending(await child.exited, false)).toEqual(one);
    expect(seen()?.args.slice(-3)).toEqual(["--", "/bin/tool", "a"]);
  });

  test.each([
    ["bwrap: Can't find source path /w: No such file or directory", "start_failed", /was not run: Can't find source/],
    ["bwrap: execvp /bin/tool: No such file or directory", "not_executable", /is not seen in the sandbox/],
    ["bwrap: execvp /bin/tool: Permission denied", "not_executable", /\/bin\/tool: Permission denied/],
  ])(
    "is the sandbox's where it does not, and its words are no stderr of the command: %s",
    async (said, code, words) => {
      const { child } = run(begun, [said.slice(0, 7), said.slice(7)], one);
      expect(await text(child)).toBe("");
      const exit = await child.exited;
      await expect(child.monitor?.ending(exit, false)).rejects.toMatchObject({ code, started: "no" });
      await expect(child.monitor?.ending(exit, false)).rejects.toThrow(words);
    },
  );

  test("is the stop's where it was asked to end on the way", async () => {
    const { child } = run(begun, [], one);
    expect(await child.monitor?.ending(await child.exited, true)).toMatchObject({
      kind: "signaled",
      signal: "SIGTERM",
    });
  });

  test("by a signal is that of all inside", async () => {
    const killed = { kind: "signaled", signal: "SIGKILL", number: 9 } as const;
    const { child } = run(begun, [], killed);
    expect(await child.monitor?.ending(await child.exited, false)).toEqual(killed);
  });

  test("of one that was not made in time is told, also where nothing of it is there to be ended", async () => {
    for (const name of ["held", "state", "state/own", "state/another"]) makeDirectory(name);
    const held = { kind: "writable", at: at("held"), source: at("held") } as const;
    vi.useFakeTimers();
    onTestFinished(() => void vi.useRealTimers());
    const exit = Promise.withResolvers<ExitKind>();
    const over = { ownDirectory: at("state/own"), view: { mounts: [held], network: false, workingDir: at("held") } };
    const { child } = run("", [], exit.promise, over);
    await vi.advanceTimersByTimeAsync(6000);
    exit.resolve(one);
    await expect(child.monitor?.ending(await child.exited, false)).rejects.toMatchObject({
      code: "policy_unenforceable",
      message: expect.stringContaining("It was not made in time"),
    });
  });

  test("leaves no file with a name", async () => {
    await run(ended, [], one).child.exited;
    expect(readdirSync(ownDirectory)).toEqual([]);
  });
});
