/** Listed paths are real ones or errors; the settings are copies of what everybody may read. */

import {
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  symlinkSync,
} from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { readListedPaths } from "../../adapters/_native/sandbox/listed-paths.ts";
import { copySettings } from "../../adapters/_native/sandbox/settings-copy.ts";
import { findSystemPaths } from "../../adapters/_native/sandbox/system-paths.ts";
import { scratchDirectory } from "./native-scratch.ts";

const { at, write, makeDirectory } = scratchDirectory();

const isDirectory = (path: string) => lstatSync(path).isDirectory();

describe("listed paths", () => {
  const read = (
    readonly_paths: readonly string[],
    writable_paths: readonly string[] = [],
    home: string | null = null,
    programs: readonly string[] = [],
  ) => readListedPaths({ readonly_paths, writable_paths }, { home, programs });

  test("are their real paths, and the listed one besides", () => {
    const real = makeDirectory("real");
    symlinkSync(real, at("link"));
    expect(read([real], [at("link")])).toEqual([
      { kind: "readonly", at: real, source: real },
      { kind: "writable", at: real, source: real },
      { kind: "writable", at: at("link"), source: real, links: [at("link")] },
    ]);
  });

  test("tell of every link that leads to them", () => {
    makeDirectory("real/sub");
    symlinkSync("../link", at("real/back"));
    symlinkSync("real/back/sub", at("far"));
    expect(read([at("far")]).at(-1)).toEqual({
      ...{ kind: "readonly", at: at("far"), source: at("real/sub") },
      links: [at("far"), at("real/back"), at("link")],
    });
    symlinkSync("turn", at("turn"));
    expect(() => read([at("turn")])).toThrow(/there is no such path/);
  });

  test("begin at the home where they say so", () => {
    makeDirectory("me/.cache");
    expect(read(["~/.cache"], [], at("me")).map((mount) => mount.at)).toEqual([at("me/.cache")]);
    expect(() => read(["~/.cache"])).toThrow(/no home directory here/);
  });

  test.each(["/usr/bin", "/usr", "/usr/lib", "/bin"])("are not writable where the host's programs are: %s", (path) => {
    expect(() => read([], [path])).toThrow(/writable_paths\[0\].*: the host itself runs programs from/);
    expect(read([path])).not.toEqual([]);
  });

  test("are not writable around a directory of the PATH that is the system's, nor in one; others may be", () => {
    const [inner = ""] = readdirSync("/usr/share")
      .map((name) => `/usr/share/${name}`)
      .filter(isDirectory);
    const programs = ["/usr/share", at("tools")];
    for (const path of ["/usr/share", inner])
      expect(() => read([], [path], null, programs)).toThrow(/runs programs from/);
    expect(() => read([], ["/usr/share"], null, [inner])).toThrow(/runs programs from/);
    expect(read([], [inner])).toHaveLength(1);
    expect(read([], [makeDirectory("tools/own")], null, programs)).toHaveLength(1);
  });

  test.each([
    ["missing", () => at("missing"), /readonly_paths\[0\] = ".*missing": there is no such path/],
    ["the root", () => "/", /there is no sandbox left/],
    ["/proc", () => "/proc", /there is no sandbox left/],
  ])("that are wrong name themselves: %s", (_, path, message) => {
    expect(() => read([path()])).toThrow(message);
    expect(() => read([path()])).toThrow(expect.objectContaining({ code: "config_invalid" }));
  });
});

describe("the settings", () => {
  const etc = makeDirectory("etc");
  write("etc/passwd", "root:x:0:0\n");
  write("etc/shadow", "secret");
  write("etc/gitconfig", "token", 0o600);
  write("etc/fonts/conf.d/1.conf", "f");
  write("etc/fonts/private.conf", "p", 0o640);
  write("etc/java-17-openjdk/security/java.security", "j");
  write("run/hosts", "127.0.0.1 localhost\n");
  symlinkSync("/usr/share/zoneinfo/Etc/UTC", at("etc/localtime"));
  symlinkSync("../run/hosts", at("etc/hosts"));
  const listed = { kind: "readonly", at: "/etc/app/conf", source: write("app.conf") } as const;
  const own = makeDirectory("own");
  let time = 0;
  const { directory, refresh, hold } = copySettings(own, [listed, { kind: "private", at: "/etc/cache" }], {
    ...{ source: etc, now: () => time },
  });
  const text = (path: string) => readFileSync(join(directory, path), "utf8");

  test("are what programs need and everybody may read, and nothing else", () => {
    expect([text("passwd"), text("fonts/conf.d/1.conf"), text("java-17-openjdk/security/java.security")]).toEqual([
      ...["root:x:0:0\n", "f", "j"],
    ]);
    for (const path of ["shadow", "gitconfig", "fonts/private.conf"])
      expect(existsSync(join(directory, path)), path).toBe(false);
  });

  test("keep a link into the system as it is, and copy what another leads to", () => {
    expect(readlinkSync(join(directory, "localtime"))).toBe("/usr/share/zoneinfo/Etc/UTC");
    expect([lstatSync(join(directory, "hosts")).isFile(), text("hosts")]).toEqual([true, "127.0.0.1 localhost\n"]);
  });

  test("have a place for what is mounted over them", () => {
    expect(lstatSync(join(directory, "app/conf")).isFile()).toBe(true);
    expect(lstatSync(join(directory, "cache")).isDirectory()).toBe(true);
  });

  test("are made anew when the system's change, or when they were tidied away", () => {
    const first = readlinkSync(directory);
    refresh();
    expect(readlinkSync(directory)).toBe(first);
    write("etc/passwd", "root:x:0:0\nme:x:1:1\n");
    refresh();
    expect(readlinkSync(directory)).toBe(first);
    time += 1000;
    refresh();
    expect(text("passwd")).toBe("root:x:0:0\nme:x:1:1\n");
    rmSync(own, { recursive: true });
    mkdirSync(own);
    refresh();
    expect(text("passwd")).toContain("me:");
  });

  test("stay as long as somebody may have mounted them, and go when newer ones are there", () => {
    const copies = () => readdirSync(own).filter((name) => /^etc-\d+$/.test(name)).length;
    let change = 0;
    const anew = () => {
      change += 1;
      time += 1000;
      write("etc/passwd", "x".repeat(change));
      return hold();
    };
    const first = anew();
    expect(copies()).toBe(1);
    const held = join(own, readlinkSync(directory).slice(own.length));
    const second = anew();
    const third = anew();
    expect(copies()).toBe(3);
    second();
    second();
    expect(copies(), "the first may have mounted any that came after it").toBe(3);
    expect(readFileSync(join(held, "passwd"), "utf8")).toBe("x");
    first();
    expect([copies(), text("passwd")]).toEqual([1, "xxx"]);
    third();
    expect([copies(), text("passwd")]).toEqual([1, "xxx"]);
    anew()();
    expect([copies(), text("passwd")]).toEqual([1, "xxxx"]);
  });
});

test("the system's programs are seen, its links as links, and /etc itself is not among them", () => {
  const { always } = findSystemPaths();
  if (process.platform !== "linux") return;
  expect(always.map((mount) => mount.at)).toContain("/usr");
  expect(always.map((mount) => mount.at)).not.toContain("/etc");
  const isLink = lstatSync("/bin").isSymbolicLink();
  expect(always.find((mount) => mount.at === "/bin")?.kind).toBe(isLink ? "link" : "readonly");
});
