/** A directory on its way to a container and back: what changed comes back, and no archive leads out of it. */

import { execFileSync } from "node:child_process";
import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  realpathSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { type Manifest, packTree } from "../../adapters/_docker/host-tree.ts";
import { bringBack } from "../../adapters/_docker/tree-back.ts";
import { readTar } from "../../src/archive/tar-read.ts";
import { concat, type TarEntryInput, tarEnd, tarFile, tarHeader } from "../../src/archive/tar-write.ts";
import { need } from "../fixtures/needed.ts";

let base = "";
let root = "";
let outside = "";

beforeEach(() => {
  base = realpathSync(mkdtempSync(join(tmpdir(), "prx-trees-")));
  root = join(base, "root");
  outside = join(base, "outside");
  mkdirSync(root);
  mkdirSync(outside);
  writeFileSync(join(outside, "victim"), "untouched");
});
afterEach(() => rmSync(base, { recursive: true, force: true }));

const owner = { uid: 65534, gid: 65534 };

async function pack(manifest: Manifest = new Map(), leftOut: (path: string, reason: string) => void = () => {}) {
  const entries: { path: string; type: string; link: string; uid: number; mtime: number }[] = [];
  for await (const { entry } of readTar(packTree({ root, at: "/workspace", owner, leftOut }, manifest)))
    entries.push(entry);
  return entries;
}

/** An archive of a directory as a daemon gives it: everything is below its own name. */
async function back(
  members: readonly (TarEntryInput | readonly [TarEntryInput, string])[],
  sent: Manifest = new Map(),
) {
  const blocks = members.map((member) =>
    Array.isArray(member)
      ? tarFile(member[0] as TarEntryInput, new TextEncoder().encode(member[1] as string))
      : tarHeader(member as TarEntryInput),
  );
  const archive = (async function* () {
    yield concat([tarHeader({ path: "workspace/", type: "directory" }), ...blocks, tarEnd()]);
  })();
  return (await bringBack({ archive, root, sent, sentAt: 0, owner: undefined })).map(({ message }) => message);
}

describe("on its way there", () => {
  test("a directory's own entry comes first, and everything is the user's", async () => {
    mkdirSync(join(root, "sub"));
    writeFileSync(join(root, "sub", "file"), "x");
    symlinkSync("file", join(root, "sub", "link"));
    const entries = await pack();
    expect(entries.map(({ path, type }) => `${path} ${type}`)).toEqual([
      ...["/ directory", "sub directory", "sub/file file", "sub/link symlink"],
    ]);
    expect(new Set(entries.map(({ uid }) => uid))).toEqual(new Set([65534]));
  });

  test("links lead where they led, and one to above the top has an absolute path", async () => {
    mkdirSync(join(root, "a"));
    for (const [name, to] of [
      ["a/up", "../.."],
      ["a/side", "../b"],
      ["far", "/etc/passwd"],
      ["out", "../outside/victim"],
    ])
      symlinkSync(to as string, join(root, name as string));
    const links = Object.fromEntries((await pack()).map(({ path, link }) => [path, link]));
    expect(links).toMatchObject({ "a/up": "/", "a/side": "../b", far: "/etc/passwd", out: "/outside/victim" });
  });

  test("what has a name that is not UTF-8, or leads to one, is left out and told, and the rest is sent", async (context) => {
    need(context, process.platform === "linux" ? null : "other systems have no such names");
    writeFileSync(join(root, "plain"), "x");
    execFileSync("sh", ["-c", "touch \"$(printf 'caf\\351')\"; ln -s \"$(printf 'caf\\351')\" link"], { cwd: root });
    const told: string[] = [];
    const sent: Manifest = new Map();
    await pack(sent, (path, reason) => told.push(`${path}: ${reason}`));
    expect([...sent.keys()]).toEqual(["plain"]);
    expect(told).toEqual(["caf\ufffd: its name is not UTF-8", "link: what it leads to is not UTF-8"]);
  });

  test("what cannot be read is told by its path, and the rest is sent", async (context) => {
    const { geteuid, seteuid } = process;
    need(context, geteuid === undefined || seteuid === undefined ? "there are no users to become here" : null);
    for (const name of ["closed", "open/blind", "open/good"]) mkdirSync(join(root, name), { recursive: true });
    for (const name of ["closed/in", "open/blind/in", "open/good/in", "secret"]) writeFileSync(join(root, name), "x");
    for (const path of [base, root]) chmodSync(path, 0o755);
    chmodSync(join(root, "closed"), 0o000);
    chmodSync(join(root, "open/blind"), 0o744);
    chmodSync(join(root, "secret"), 0o000);
    const told = new Map<string, string>();
    const sent: Manifest = new Map();
    const before = geteuid?.() ?? 0;
    if (before === 0) seteuid?.(65534);
    try {
      await pack(sent, (path, reason) => told.set(path, reason));
    } finally {
      if (before === 0) seteuid?.(0);
    }
    for (const name of ["closed", "open/blind"]) chmodSync(join(root, name), 0o755);
    expect([...sent.keys()]).toEqual(["closed", "open", "open/blind", "open/good", "open/good/in"]);
    expect([...told.keys()].sort()).toEqual(["closed", "open/blind/in", "secret"]);
    for (const reason of told.values()) expect(reason).toMatch(/permission denied/i);
    for (const reason of told.values()) expect(reason).not.toContain("/proc/");
  });

  test("a directory that cannot be read itself is named", async (context) => {
    const { geteuid, seteuid } = process;
    need(context, geteuid === undefined || seteuid === undefined ? "there are no users to become here" : null);
    chmodSync(base, 0o755);
    chmodSync(root, 0o000);
    const before = geteuid?.() ?? 0;
    if (before === 0) seteuid?.(65534);
    try {
      await expect(pack()).rejects.toThrow(`${root}: `);
    } finally {
      if (before === 0) seteuid?.(0);
      chmodSync(root, 0o755);
    }
  });

  test("of a deep tree no directory is held but the one that is read", async (context) => {
    need(context, process.platform === "linux" ? null : "it is seen in /proc");
    const depth = 200;
    mkdirSync(join(root, ...Array.from({ length: depth }, () => "d")), { recursive: true });
    const open = () => readdirSync("/proc/self/fd").filter((fd) => isBelowRoot(fd)).length;
    const isBelowRoot = (fd: string) => {
      try {
        return readlinkSync(`/proc/self/fd/${fd}`).startsWith(root);
      } catch {
        return false;
      }
    };
    let most = 0;
    let entries = 0;
    for await (const _ of packTree({ root, at: "/workspace", owner, leftOut: () => {} }, new Map())) {
      entries += 1;
      most = Math.max(most, open());
    }
    expect(entries).toBeGreaterThan(depth);
    expect(most).toBeLessThan(8);
  });

  test("everything is sent as two seconds older, and in the order in which it was made", async () => {
    writeFileSync(join(root, "old"), "");
    utimesSync(join(root, "old"), 1000.25, 1000.25);
    writeFileSync(join(root, "new"), "");
    writeFileSync(join(root, "newer"), "");
    utimesSync(join(root, "newer"), Date.now() / 1000, Date.now() / 1000 + 0.01);
    const sent: Manifest = new Map();
    const times = Object.fromEntries((await pack(sent)).map(({ path, mtime }) => [path, mtime]));
    expect([times["old"], sent.get("old")?.mtime]).toEqual([998.25, 998]);
    expect(times["new"]).toBeLessThanOrEqual(Date.now() / 1000 - 2);
    expect(times["newer"]).toBeGreaterThan(times["new"] ?? 0);
  });
});

describe("on its way back", () => {
  test("what is as it was sent is not touched, and what was sent and is gone is removed", async () => {
    const sent: Manifest = new Map();
    for (const name of ["same", "gone", "changed"]) {
      writeFileSync(join(root, name), name);
      utimesSync(join(root, name), 1000, 1000);
    }
    await pack(sent);
    const same = { path: "workspace/same", mode: 0o644, mtime: 998 };
    const changed = { path: "workspace/changed", mode: 0o644, mtime: 1001 };
    expect(
      await back(
        [
          [same, "other"],
          [changed, "CHANGED"],
        ].map(([entry]) => [entry as TarEntryInput, entry === same ? "sAME" : "CHANGED"]),
        sent,
      ),
    ).toEqual([]);
    // The same size, mode and time: taken for the same.
    expect(readFileSync(join(root, "same"), "utf8")).toBe("same");
    expect(readFileSync(join(root, "changed"), "utf8")).toBe("CHANGED");
    expect(existsSync(join(root, "gone"))).toBe(false);
  });

  test("a time that was set on purpose stays, and what was written meanwhile is new here", async () => {
    const archive = (async function* () {
      yield concat([
        tarHeader({ path: "workspace/", type: "directory" }),
        tarFile({ path: "workspace/set", mtime: 978_307_200 }, new Uint8Array(1)),
        tarFile({ path: "workspace/written", mtime: Math.floor(Date.now() / 1000) }, new Uint8Array(1)),
        tarEnd(),
      ]);
    })();
    const sentAt = Date.now() / 1000;
    expect(await bringBack({ archive, root, sent: new Map(), sentAt, owner: undefined })).toEqual([]);
    expect(statSync(join(root, "set")).mtimeMs).toBe(978_307_200_000);
    expect(statSync(join(root, "written")).mtimeMs).toBeGreaterThan(sentAt * 1000 - 100);
  });

  test("nothing is taken for removed that half an archive does not have", async () => {
    const sent: Manifest = new Map();
    for (const name of ["first", "second"]) writeFileSync(join(root, name), name);
    await pack(sent);
    const archive = (async function* () {
      yield concat([
        tarHeader({ path: "workspace/", type: "directory" }),
        tarFile({ path: "workspace/first" }, new TextEncoder().encode("changed")),
      ]);
    })();
    await expect(bringBack({ archive, root, sent, sentAt: 0, owner: undefined })).rejects.toThrow("breaks off");
    expect(readdirSync(root).sort()).toEqual(["first", "second"]);
  });

  test("a directory gets its mode, and what is in it, whatever the mode lets be written", async () => {
    mkdirSync(join(root, "there"), { mode: 0o755 });
    chmodSync(join(root, "there"), 0o2755);
    const sent: Manifest = new Map();
    await pack(sent);
    const directory = (path: string, mode: number): TarEntryInput => ({ path, mode, type: "directory" });
    const members = [
      directory("workspace/there/", 0o711),
      directory("workspace/new/", 0o555),
      directory("workspace/new/inner/", 0o500),
    ];
    expect(await back([...members, [{ path: "workspace/new/inner/file" }, "x"]], sent)).toEqual([]);
    const modes = ["there", "new", "new/inner"].map((path) => statSync(join(root, path)).mode & 0o7777);
    expect(modes).toEqual([0o2711, 0o555, 0o500]);
    expect(readFileSync(join(root, "new/inner/file"), "utf8")).toBe("x");
    for (const path of ["new", "new/inner"]) chmodSync(join(root, path), 0o700);
  });

  test("a name that is not UTF-8 is told, and made by no other name", async () => {
    const header = tarHeader({ path: "workspace/caf?" });
    header[header.indexOf(0x3f)] = 0xe9;
    header.set(new TextEncoder().encode(" ".repeat(8)), 148);
    const sum = header.reduce((total, byte) => total + byte, 0);
    header.set(new TextEncoder().encode(`${sum.toString(8).padStart(6, "0")}\0`), 148);
    const archive = (async function* () {
      yield concat([tarHeader({ path: "workspace/", type: "directory" }), header, tarEnd()]);
    })();
    const warnings = await bringBack({ archive, root, sent: new Map(), sentAt: 0, owner: undefined });
    expect(warnings.map(({ message }) => message)).toEqual(['"caf\ufffd" was not copied back: its name is not UTF-8']);
    expect(readdirSync(root)).toEqual([]);
  });

  test("what was not sent and is not in the archive stays", async () => {
    writeFileSync(join(root, "mine"), "made meanwhile");
    expect(await back([])).toEqual([]);
    expect(readFileSync(join(root, "mine"), "utf8")).toBe("made meanwhile");
  });

  test.each(["workspace/../outside/victim", "../outside/victim", "workspace/sub/../../outside/victim"])(
    "%s is no path below the directory",
    async (path) => {
      await back([[{ path }, "changed"]]);
      expect(readFileSync(join(outside, "victim"), "utf8")).toBe("untouched");
    },
  );

  test("no link is followed: neither one of the archive, nor one that was there, nor the file's own", async () => {
    symlinkSync(outside, join(root, "there"));
    symlinkSync(join(outside, "victim"), join(root, "itself"));
    const warnings = await back([
      { path: "workspace/new", type: "symlink", link: outside },
      [{ path: "workspace/new/victim" }, "changed"],
      [{ path: "workspace/there/victim" }, "changed"],
      [{ path: "workspace/itself" }, "replaced"],
    ]);
    expect(readFileSync(join(outside, "victim"), "utf8")).toBe("untouched");
    expect(warnings).toEqual([
      '"new/victim" was not copied back: new leads out of the working directory',
      '"there/victim" was not copied back: there leads out of the working directory',
    ]);
    expect(lstatSync(join(root, "itself")).isFile()).toBe(true);
    expect(readFileSync(join(root, "itself"), "utf8")).toBe("replaced");
  });

  test("a directory that was sent, and is a link or a file now, goes with what was sent of it", async () => {
    for (const name of ["modules", "build"]) {
      mkdirSync(join(root, name, "deep"), { recursive: true });
      writeFileSync(join(root, name, "deep/file"), "");
    }
    const sent: Manifest = new Map();
    await pack(sent);
    writeFileSync(join(root, "build/mine"), "made meanwhile");
    const now: Parameters<typeof back>[0] = [
      { path: "workspace/modules", type: "symlink", link: "/opt/modules" },
      [{ path: "workspace/build" }, "artifact"],
    ];
    expect(await back(now, sent)).toEqual(['"build" was not copied back: ENOTEMPTY: directory not empty']);
    expect(readlinkSync(join(root, "modules"))).toBe("/opt/modules");
    expect(readFileSync(join(root, "build/mine"), "utf8")).toBe("made meanwhile");
  });

  test("one file that is too large keeps nobody else back, and of very many it is told how many", async () => {
    const archive = (async function* () {
      yield concat([tarHeader({ path: "workspace/", type: "directory" })]);
      yield tarHeader({ path: "workspace/large", size: 2 ** 30 + 1 });
      const part = new Uint8Array(2 ** 20);
      for (let at = 0; at < 2 ** 30; at += part.length) yield part;
      yield new Uint8Array(512);
      yield tarFile({ path: "workspace/small" }, new TextEncoder().encode("small"));
      for (let count = 0; count < 30; count += 1) yield tarHeader({ path: `workspace/../${count}` });
      for (let count = 0; count < 30; count += 1) yield tarHeader({ path: `workspace/${count}\ufffd` });
      yield tarEnd();
    })();
    const messages = (await bringBack({ archive, root, sent: new Map(), sentAt: 0, owner: undefined })).map(
      ({ message }) => message,
    );
    expect(messages[0]).toBe('"large" was not copied back: more than 1073741824 bytes have changed');
    expect([messages.length, messages.at(-1)]).toEqual([21, "11 more were not copied back"]);
    expect(readFileSync(join(root, "small"), "utf8")).toBe("small");
  });

  test("where more is too large than is worth reading past, the rest is given up", async () => {
    const archive = (async function* () {
      yield concat([tarHeader({ path: "workspace/", type: "directory" })]);
      yield tarHeader({ path: "workspace/huge", size: 2 ** 40 });
      yield new Uint8Array(512);
      expect.unreachable("It is read on");
    })();
    await expect(bringBack({ archive, root, sent: new Map(), sentAt: 0, owner: undefined })).rejects.toThrow(
      "have changed",
    );
  });

  test("nothing is taken for removed where the daemon may have left out what lies too deep", async () => {
    mkdirSync(join(root, "keep"));
    writeFileSync(join(root, "keep/file"), "");
    const sent: Manifest = new Map();
    await pack(sent);
    const path = `workspace/${`${"中".repeat(67)}/`.repeat(15)}`;
    const warnings = await back([{ path, type: "directory", mode: 0o755 }], sent);
    expect(warnings.filter((message) => /^"keep(\/file)?" .* left as it is here$/.test(message)).length).toBe(2);
    expect(existsSync(join(root, "keep/file"))).toBe(true);
  });

  test("kinds change, and a directory with something in it is not thrown away", async () => {
    mkdirSync(join(root, "full"));
    writeFileSync(join(root, "full", "mine"), "");
    mkdirSync(join(root, "empty"));
    writeFileSync(join(root, "file"), "");
    const warnings = await back([
      [{ path: "workspace/full" }, "x"],
      [{ path: "workspace/empty" }, "now a file"],
      { path: "workspace/file", type: "directory", mode: 0o750 },
      { path: "workspace/link", type: "symlink", link: "anywhere" },
    ]);
    expect(warnings).toEqual([expect.stringMatching(/^"full" was not copied back: .*(not empty|ENOTEMPTY)/)]);
    expect(readFileSync(join(root, "empty"), "utf8")).toBe("now a file");
    expect([statSync(join(root, "file")).isDirectory(), statSync(join(root, "file")).mode & 0o777]).toEqual([
      true,
      0o750,
    ]);
    expect(readlinkSync(join(root, "link"))).toBe("anywhere");
  });

  test("a second name of a file is a file of its own, unless the first is outside; no mode gives privileges", async () => {
    symlinkSync(join(outside, "victim"), join(root, "leads-out"));
    const warnings = await back([
      [{ path: "workspace/tool", mode: 0o6755 }, "x"],
      { path: "workspace/second", type: "hardlink", link: "workspace/tool", mode: 0o755 },
      { path: "workspace/passwd", type: "hardlink", link: "/etc/../etc/passwd" },
      { path: "workspace/stolen", type: "hardlink", link: "workspace/leads-out" },
    ]);
    expect(warnings).toEqual([
      '"passwd" was not copied back: it is another name of something outside',
      expect.stringMatching(/^"stolen" was not copied back: .*(ELOOP|symbolic|links)/),
    ]);
    expect(readFileSync(join(root, "second"), "utf8")).toBe("x");
    expect(statSync(join(root, "tool")).mode & 0o7777).toBe(0o755);
  });
});
