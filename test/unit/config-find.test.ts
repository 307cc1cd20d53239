/** Where config.toml is looked for, in which order, and what is passed over. */

import { describe, expect, test } from "vitest";
import { type ConfigPlaces, findConfig } from "../../src/config/find.ts";
import { RuntimeError } from "../../src/errors.ts";
import { definition } from "./config-sample.ts";

const ours = 'runtime.backend = "native"';

interface Machine {
  readonly files: Readonly<Record<string, string>>;
  readonly env?: Readonly<Record<string, string>>;
  readonly home?: string | null;
  readonly isWindows?: boolean;
}

function places({ files, env = {}, home = "/home/ada", isWindows = false }: Machine): ConfigPlaces {
  const readText = async (path: string) => files[path] ?? null;
  return { readText, env, workingDir: isWindows ? "C:\\work" : "/project", home, isWindows };
}

const find = (machine: Machine, flag?: string) => findConfig(places(machine), { flag, tables: definition.tables });

const all = {
  "/flag.toml": ours,
  "/variable.toml": ours,
  "/project/prx-runtime.toml": ours,
  "/project/.prx/config.toml": ours,
  "/project/config.toml": ours,
  "/xdg/prx-runtime/config.toml": ours,
  "/home/ada/.config/prx-runtime/config.toml": ours,
};

describe("the search", () => {
  test("takes each place in its order", async () => {
    const env = { PRX_CONFIG: "/variable.toml", XDG_CONFIG_HOME: "/xdg" };
    const found: unknown[] = [];
    const files: Record<string, string> = { ...all };
    found.push((await find({ files, env }, "/flag.toml")).found);
    found.push((await find({ files, env })).found);
    const inProject = ["/project/prx-runtime.toml", "/project/.prx/config.toml", "/project/config.toml"];
    for (const next of [...inProject, "/xdg/prx-runtime/config.toml"]) {
      for (const name of inProject)
        if (name === next) files[name] = ours;
        else delete files[name];
      found.push((await find({ files, env: { XDG_CONFIG_HOME: "/xdg" } })).found);
      delete files[next];
    }
    found.push((await find({ files })).found);
    expect(found).toEqual([
      { path: "/flag.toml", text: ours, origin: "flag" },
      { path: "/variable.toml", text: ours, origin: "PRX_CONFIG" },
      { path: "/project/prx-runtime.toml", text: ours, origin: "project" },
      { path: "/project/.prx/config.toml", text: ours, origin: "project" },
      { path: "/project/config.toml", text: ours, origin: "project" },
      { path: "/xdg/prx-runtime/config.toml", text: ours, origin: "user" },
      { path: "/home/ada/.config/prx-runtime/config.toml", text: ours, origin: "user" },
    ]);
  });

  test("ends without a file where there is none, and says where it looked", async () => {
    const { found, looked } = await find({ files: {} });
    expect(found).toBeNull();
    expect(looked.map(({ path, result }) => `${result} ${path}`)).toEqual([
      "missing /project/prx-runtime.toml",
      "missing /project/.prx/config.toml",
      "missing /project/config.toml",
      "missing /home/ada/.config/prx-runtime/config.toml",
    ]);
  });

  test("reads relative paths from the working directory", async () => {
    expect((await find({ files: { "/project/own/a.toml": ours } }, "own/a.toml")).found?.path).toBe(
      "/project/own/a.toml",
    );
    const env = { PRX_CONFIG: "a.toml" };
    expect((await find({ files: { "/project/a.toml": ours }, env })).found?.path).toBe("/project/a.toml");
  });

  test("does without a home, and without a relative XDG_CONFIG_HOME", async () => {
    expect((await find({ files: {}, home: null })).looked).toHaveLength(3);
    const { looked } = await find({ files: {}, env: { XDG_CONFIG_HOME: "relative" } });
    expect(looked.at(-1)?.path).toBe("/home/ada/.config/prx-runtime/config.toml");
  });

  test("knows Windows", async () => {
    const env = { APPDATA: "C:\\Users\\ada\\AppData\\Roaming" };
    const user = "C:\\Users\\ada\\AppData\\Roaming/prx-runtime/config.toml";
    expect((await find({ files: { [user]: ours }, env, isWindows: true })).found?.path).toBe(user);
    expect((await find({ files: { "D:\\a.toml": ours }, isWindows: true }, "D:\\a.toml")).found?.path).toBe(
      "D:\\a.toml",
    );
    expect((await find({ files: {}, isWindows: true })).looked).toHaveLength(3);
  });
});

describe("a path that somebody named", () => {
  test("is an error where it does not exist, and no other place is tried", async () => {
    await expect(find({ files: all }, "/none.toml")).rejects.toThrow(
      "File /none.toml was named as the configuration and does not exist",
    );
    await expect(find({ files: all, env: { PRX_CONFIG: "none.toml" } })).rejects.toThrow(
      "File /project/none.toml is named by the variable PRX_CONFIG",
    );
    await expect(find({ files: all }, "")).rejects.toThrow("is empty");
  });

  test("is taken whatever is in it", async () => {
    expect((await find({ files: { "/project/config.toml": "[other]" } }, "config.toml")).found?.origin).toBe("flag");
  });

  test("counts as unset where the variable is empty", async () => {
    expect((await find({ files: { "/project/config.toml": ours }, env: { PRX_CONFIG: "" } })).found?.origin).toBe(
      "project",
    );
  });
});

describe("a config.toml in the working directory", () => {
  test.each([
    "",
    "[build]\ntarget = 'x'",
    "title = 'a page'\n[runtimes]\nx = 1",
    "this is no TOML",
    "text = '''\n[runtime]\n'''",
  ])("is somebody else's: %j", async (text) => {
    const { found, looked } = await find({ files: { "/project/config.toml": text } });
    expect(found).toBeNull();
    expect(looked).toContainEqual({ path: "/project/config.toml", result: "unrelated" });
  });

  test.each([
    "[runtime]",
    "[runtime.docker]\n",
    "[other]\n[security]\nsandbx = 1",
    "tools.custom.x = 1",
    "[runtime]\nbackend = ",
    "runtime = oops",
  ])("is ours, right or wrong: %j", async (text) => {
    expect((await find({ files: { "/project/config.toml": text } })).found?.path).toBe("/project/config.toml");
  });
});

test("a file that cannot be read is an error, and not passed over", async () => {
  const machine = places({ files: {} });
  const readText = async () => {
    throw new Error("permission denied");
  };
  const search = findConfig({ ...machine, readText }, { tables: definition.tables });
  await expect(search).rejects.toBeInstanceOf(RuntimeError);
  await expect(search).rejects.toThrow("Configuration /project/prx-runtime.toml cannot be read: permission denied");
});

describe("a project's file is not taken", () => {
  const project = "/project/config.toml";
  const user = "/home/ada/.config/prx-runtime/config.toml";

  test("beside another one", async () => {
    const files = { [project]: ours, "/project/prx-runtime.toml": ours };
    await expect(find({ files })).rejects.toMatchObject({ code: "config_invalid" });
    await expect(find({ files })).rejects.toThrow(
      /two configurations in the working directory, \/project\/prx-runtime\.toml and \/project\/config\.toml/,
    );
    expect((await find({ files: { ...files, [project]: 'title = "a site"' } })).found?.path).toBe(
      "/project/prx-runtime.toml",
    );
    expect((await find({ files }, project)).found?.path).toBe(project);
  });

  test.each(['[security.sandbox]\nbackend = "auto"', 'security = { sandbox = { backend = "firejail" } }', "no TOML"])(
    "in the place of the user's own that asks for a sandbox: %j",
    async (text) => {
      const files = { [project]: ours, [user]: text };
      await expect(find({ files })).rejects.toThrow(/your own .*, which asks for a sandbox/);
      expect((await find({ files }, project)).found?.path).toBe(project);
      expect((await find({ files: { [user]: text } })).found?.path).toBe(user);
    },
  );

  test.each([
    ["the project's other one", "/project/.prx/config.toml"],
    ["one that may be another program's", "/project/config.toml"],
    ["the user's own", user],
  ])("beside %s that cannot be read: a command may have taken the right away", async (_, unreadable) => {
    const machine = places({ files: { "/project/prx-runtime.toml": ours } });
    const readText = async (path: string) => {
      if (path === unreadable) throw new Error("EACCES: permission denied");
      return machine.readText(path);
    };
    const search = (flag?: string) => findConfig({ ...machine, readText }, { flag, tables: definition.tables });
    await expect(search()).rejects.toMatchObject({
      code: "config_invalid",
      message: `/project/prx-runtime.toml was found, but ${unreadable} cannot be read and may be the one that is meant (EACCES: permission denied): make it readable, remove it, or name the one you mean`,
    });
    expect((await search("prx-runtime.toml")).found?.origin).toBe("flag");
  });

  test.each(["", '[security.sandbox]\nbackend = "none"', '[runtime]\nbackend = "native"'])(
    "in the place of another of the user's own it is: %j",
    async (text) => {
      expect((await find({ files: { [project]: ours, [user]: text } })).found?.path).toBe(project);
    },
  );
});
