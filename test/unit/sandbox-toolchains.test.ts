/** Toolchains are found by the shapes in which they are installed, and nothing wider than them is shown. */

import { mkdirSync, renameSync, rmSync, symlinkSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { findToolchains } from "../../adapters/_native/sandbox/toolchains.ts";
import { scratchDirectory } from "./native-scratch.ts";

const { path: base, at, write, makeDirectory } = scratchDirectory();
const home = makeDirectory("home");
const bins = (...names: string[]) => {
  for (const name of names) write(`${name}/tool`, "#!/bin/sh\n", 0o755);
};
/** What is found for a PATH of these directories, relative to the scratch one. */
const found = (...entries: string[]) =>
  findToolchains({ path: entries.map(at).join(":"), home, system: [], env: {} })
    .map(({ at: place }) => place.slice(base.length + 1))
    .sort();

bins("home/.nvm/versions/node/v24.1.0/bin", "home/.pyenv/shims", "home/.cargo/bin", "home/.local/bin", "home/bin");
bins("home/go/bin", "opt/go/bin", "opt/tool/bin", "opt/alone/bin", "project/node_modules/.bin", "home/.volta/bin");
write("home/.nvm/versions/node/v24.1.0/lib/node_modules/npm/package.json");
write("home/.rustup/settings.toml");
write("home/.cargo/credentials.toml");
write("home/.local/lib/python3/site.py");
write("home/.local/share/keyrings/login.keyring");
write("opt/go/VERSION");
write("opt/tool/lib/x");

test.each<[string, readonly string[], readonly string[]]>([
  ["nvm's version", ["home/.nvm/versions/node/v24.1.0/bin"], ["home/.nvm/versions/node/v24.1.0"]],
  ["pyenv as a whole, because its shims run it", ["home/.pyenv/shims"], ["home/.pyenv"]],
  ["volta as a whole", ["home/.volta/bin"], ["home/.volta"]],
  ["cargo's programs and rustup, not cargo's credentials", ["home/.cargo/bin"], ["home/.cargo/bin", "home/.rustup"]],
  ["a user's programs and libraries, not the keyrings", ["home/.local/bin"], ["home/.local/bin", "home/.local/lib"]],
  ["a home's bin alone", ["home/bin"], ["home/bin"]],
  ["the programs of a Go workspace", ["home/go/bin"], ["home/go/bin"]],
  ["a Go tree as a whole", ["opt/go/bin"], ["opt/go"]],
  ["a prefix with libraries as a whole", ["opt/tool/bin"], ["opt/tool"]],
  ["a bin with nothing beside it alone", ["opt/alone/bin"], ["opt/alone/bin"]],
  ["the packages that the programs of a project link to", ["project/node_modules/.bin"], ["project/node_modules"]],
  ["nothing for what is not there", ["none/bin"], []],
  ["everything once", ["opt/tool/bin", "opt/tool/bin"], ["opt/tool"]],
])("shows %s", (_, entries, expected) => {
  expect(found(...entries)).toEqual([...expected].sort());
});

describe("links", () => {
  test("among a user's programs are followed to what belongs to them, and to no lone directory", () => {
    write("home/.local/share/pipx/venvs/app/bin/app", "", 0o755);
    write("home/.local/share/pipx/venvs/app/lib/x");
    write("home/.ssh/id");
    symlinkSync(at("home/.local/share/pipx/venvs/app/bin/app"), at("home/.local/bin/app"));
    symlinkSync(at("home/.ssh/id"), at("home/.local/bin/id"));
    symlinkSync(at("nowhere"), at("home/.local/bin/dangling"));
    expect(found("home/.local/bin")).toEqual([
      ...["home/.local/bin", "home/.local/lib", "home/.local/share/pipx/venvs/app"],
    ]);
  });

  test("that a command may have made in a project are not followed: not of a program, not of a directory", () => {
    bins("work/.venv/bin", "work/node_modules/.bin");
    write("other/bin/secret");
    write("other/lib/secret");
    symlinkSync(at("other/bin/secret"), at("work/node_modules/.bin/x"));
    symlinkSync(at("other/bin"), at("work/bin"));
    symlinkSync(at("home/.ssh"), at("work/keys"));
    expect(found("work/.venv/bin", "work/node_modules/.bin", "work/bin", "work/keys")).toEqual([
      ...["work/.venv/bin", "work/node_modules"],
    ]);
  });

  test("that a command may have made beside a project's programs are not followed either", () => {
    write("secrets/key");
    bins("checkout/.cargo/bin", "checkout/.local/bin", "checkout/go/bin", "checkout/tool/bin");
    for (const name of [".rustup", ".cargo/env", ".local/lib"]) symlinkSync(at("secrets"), at(`checkout/${name}`));
    expect(found("checkout/.cargo/bin", "checkout/.local/bin")).toEqual([
      ...["checkout/.cargo/bin", "checkout/.local/bin"],
    ]);
  });

  test("in a home itself, where no command works, are followed", () => {
    write("elsewhere/rustup/settings.toml");
    renameSync(at("home/.rustup"), at("home/.was"));
    symlinkSync(at("elsewhere/rustup"), at("home/.rustup"));
    expect(found("home/.cargo/bin")).toEqual(["elsewhere/rustup", "home/.cargo/bin", "home/.rustup"]);
    rmSync(at("home/.rustup"));
    renameSync(at("home/.was"), at("home/.rustup"));
  });

  test("within one manager's own directory lead to what they name, by both names", () => {
    bins("home/.sdkman/java/17/bin");
    write("home/.sdkman/java/17/lib/x");
    symlinkSync(at("home/.sdkman/java/17"), at("home/.sdkman/java/current"));
    symlinkSync(at("home/.sdkman/java/17"), at("home/.other"));
    expect(found("home/.sdkman/java/current/bin")).toEqual(["home/.sdkman/java/17", "home/.sdkman/java/current"]);
    expect(found("home/.other/bin")).toEqual([]);
  });
});

test("a home's own bin stays the one, whatever is beside it", () => {
  write("home/share/x");
  expect(found("home/bin")).toEqual(["home/bin"]);
  rmSync(at("home/share"), { recursive: true });
});

test("never shows a home, or anything above it, whatever the PATH says", () => {
  mkdirSync(at("home/lib"), { recursive: true });
  expect(found("home", ".")).toEqual([]);
  expect(findToolchains({ path: "/:/home:/root:relative:", home: "/root", system: [], env: {} })).toEqual([]);
});

test("shows nothing that the system shows", () => {
  const system = [{ kind: "readonly", at: at("opt"), source: at("opt") }] as const;
  expect(findToolchains({ path: at("opt/tool/bin"), home, system, env: {} })).toEqual([]);
});

test("takes rustup from where it says it is", () => {
  const elsewhere = makeDirectory("rust/up");
  const mounts = findToolchains({ path: at("home/.cargo/bin"), home, system: [], env: { RUSTUP_HOME: elsewhere } });
  expect(mounts.map((mount) => mount.at)).toContain(elsewhere);
});
