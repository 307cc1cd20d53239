/** What a sandboxed command sees: composed of its parts, the narrower over the wider. */

import { describe, expect, test } from "vitest";
import { composeView, hostPath, isBelow, type Mount, type ViewParts } from "../../adapters/_native/sandbox/view.ts";

const readonly = (at: string, source = at): Mount => ({ kind: "readonly", at, source });
const writable = (at: string, source = at): Mount => ({ kind: "writable", at, source });
const system: readonly Mount[] = [readonly("/usr"), { kind: "link", at: "/bin", to: "usr/bin" }];
const parts: ViewParts = {
  ...{ system, toolchains: [], listed: [], protectedPaths: [], keptFiles: [], hidden: [], network: false },
  ...{ workingDir: "/home/u/project", home: "/home/u" },
};
const shown = (over: Partial<ViewParts>) =>
  composeView({ ...parts, ...over }).mounts.map(({ kind, at }) => `${kind} ${at}`);

describe("the mounts", () => {
  test("are the system, private places and the working directory, those above before those below", () => {
    expect(shown({})).toEqual([
      ...["readonly /usr", "link /bin", "private /tmp"],
      ...["link /var/tmp", "private /home/u", "writable /home/u/project"],
    ]);
  });

  test("of the project win over toolchains inside of it, and what is listed over both", () => {
    const toolchains = [readonly("/home/u/project/node_modules"), readonly("/home/u/.pyenv")];
    const listed = [readonly("/home/u/project/.git"), writable("/data")];
    const mounts = shown({ toolchains, listed });
    expect(mounts).not.toContain("readonly /home/u/project/node_modules");
    expect(mounts).toContain("readonly /home/u/.pyenv");
    expect(mounts.indexOf("readonly /home/u/project/.git")).toBeGreaterThan(mounts.indexOf("writable /home/u/project"));
    expect(mounts).toContain("writable /data");
  });

  test.each([
    ["there is none", null],
    ["it is the root", "/"],
    ["it is relative", "home/u"],
    ["it climbs", "/home/../usr"],
    ["it would hide the system", "/usr"],
    ["it is seen already", "/home/u/project/home"],
  ])("hold no home of their own where %s", (_, home) => {
    expect(shown({ home }).filter((mount) => mount.startsWith("private"))).toEqual(["private /tmp"]);
  });

  test("name a place once: what is seen through another mount already is left out", () => {
    const toolchains = [readonly("/usr/local/go"), readonly("/opt/x"), readonly("/opt/x/lib")];
    expect(shown({ toolchains }).filter((mount) => mount.startsWith("readonly"))).toEqual([
      "readonly /usr",
      "readonly /opt/x",
    ]);
  });

  test("show a listed link by what it leads to, and by itself only where nothing else shows it", () => {
    const inside = [writable("/data"), writable("/home/u/project/link", "/data")];
    expect(shown({ listed: inside })).not.toContain("writable /home/u/project/link");
    const outside = [writable("/data"), writable("/mnt/link", "/data")];
    expect(shown({ listed: outside })).toContain("writable /mnt/link");
  });

  test("keep a listed path in a writable place by a mount of its own, and what leads to it", () => {
    const listed = [writable("/home/u/project/a/cache"), writable("/data"), writable("/data/sub")];
    const { mounts } = composeView({ ...parts, listed });
    expect(mounts.flatMap((mount) => ("isPin" in mount ? [mount.at] : []))).toEqual([
      ...["/data/sub", "/home/u/project/a", "/home/u/project/a/cache"],
    ]);
  });

  test("keep protected names in the working directory, whose directories cannot be renamed away", () => {
    expect(shown({ protectedPaths: [".git/hooks/", ".bashrc"] }).slice(-4)).toEqual([
      ...["writable /home/u/project", "readonly /home/u/project/.bashrc"],
      ...["writable /home/u/project/.git", "readonly /home/u/project/.git/hooks"],
    ]);
  });

  test("keep them, and cover the host's records, by every name that a listed link gives them", () => {
    const listed = [writable("/home/u"), writable("/mnt/u", "/home/u"), readonly("/srv/s", "/home/u/state")];
    const mounts = shown({ listed, protectedPaths: [".bashrc"], hidden: ["/home/u/state/prx"] });
    for (const place of ["/home/u", "/mnt/u"]) {
      expect(mounts).toContain(`readonly ${place}/project/.bashrc`);
      expect(mounts).toContain(`writable ${place}/project`);
      expect(mounts).toContain(`private ${place}/state/prx`);
    }
    expect(mounts).toContain("private /srv/s/prx");
  });

  test("keep a file that is to stay as it is wherever it would be writable, and nowhere else", () => {
    const keptFiles = ["/home/u/project/.prx/config.toml"];
    expect(shown({ keptFiles }).slice(-3)).toEqual([
      ...["writable /home/u/project", "writable /home/u/project/.prx", "readonly /home/u/project/.prx/config.toml"],
    ]);
    expect(shown({ keptFiles: ["/home/u/other/config.toml"] })).toEqual(shown({}));
  });

  test("have a /var/tmp of their own also where /var is shown", () => {
    expect(shown({ listed: [readonly("/var")] })).toEqual(
      expect.arrayContaining(["readonly /var", "private /var/tmp"]),
    );
  });

  test.each<readonly [string, Partial<ViewParts>]>([
    ["the working directory is", { workingDir: "/var/tmp/work" }],
    ["the home is", { home: "/var/tmp/home" }],
    ["a listed path is", { listed: [writable("/var/tmp/data")] }],
    ["a toolchain is", { toolchains: [readonly("/var/tmp/tools")] }],
  ])("have a /var/tmp of their own where %s in it", (_, over) => {
    const mounts = shown(over).filter((mount) => mount.includes("/var/tmp"));
    expect([mounts[0], mounts.length]).toEqual(["private /var/tmp", 2]);
  });

  test("cover the host's own records where a mount would show them", () => {
    const records = "/home/u/project/.state";
    expect(shown({ hidden: [records] }).at(-1)).toBe(`private ${records}`);
    expect(shown({ hidden: ["/tmp/records"] })).not.toContain("private /tmp/records");
    expect(shown({ hidden: ["/tmp/records"], listed: [readonly("/tmp")] })).toContain("private /tmp/records");
  });
});

test("a path inside is a path of the host, or none", () => {
  const view = composeView({ ...parts, listed: [readonly("/etc/app", "/srv/app")] });
  const paths = ["/usr/bin/env", "/etc/app/x", "/home/u/project", "/home/u/.ssh", "/tmp/x", "/bin/sh", "/opt"];
  expect(paths.map((path) => hostPath(view, path))).toEqual([
    ...["/usr/bin/env", "/srv/app/x", "/home/u/project"],
    ...[null, null, null, null],
  ]);
});

test.each([
  ["/a", "/a", true],
  ["/a/b", "/a", true],
  ["/ab", "/a", false],
  ["/a", "/", true],
  ["/a", "/a/b", false],
])("%s lies in %s: %s", (path, directory, lies) => {
  expect(isBelow(path, directory)).toBe(lies);
});
