/** Toolchains are found by the shapes in which they are installed, and nothing wider than them is shown. */

import { mkdirSync, symlinkSync } from "node:fs";
import { expect, test } from "vitest";
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

test("follows links among programs to where they come from", () => {
  write("store/app/1.0/bin/app", "", 0o755);
  write("store/app/1.0/lib/x");
  makeDirectory("links");
  symlinkSync(at("store/app/1.0/bin/app"), at("links/app"));
  symlinkSync(at("nowhere"), at("links/dangling"));
  expect(found("links")).toEqual(["links", "store/app/1.0"]);
});

test("shows a directory that is a link by both of its names", () => {
  symlinkSync(at("opt/tool"), at("current"));
  expect(found("current/bin")).toEqual(["current", "opt/tool"]);
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
