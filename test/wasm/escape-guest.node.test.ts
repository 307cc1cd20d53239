/**
 * The guest `escape` under plain wasmtime: blocked where it has no right to what it wants, escaped where it was given that on
 * purpose. Without the second, an attempt that never works would pass for one that is blocked.
 */

import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer, type Server } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { need } from "../fixtures/needed.ts";
import { wasmObstacle } from "../rig/wasm/place.ts";
import { CompiledGuests, runGuest } from "./guest-run.ts";

/** Each with a path outside of what it has, and with one that it has. */
const outside: readonly (readonly [string, string, string])[] = [
  ["read-absolute", "HOST/secret", "/present"],
  ["read-dot-dot", "../secret", "present"],
  ["own-link", "HOST/secret", "present"],
  ["own-link", "../secret", "present"],
  ["dot-link", "../secret", "present"],
  ["hard-link", "../secret", "present"],
  ["hard-link", "HOST/secret", "/present"],
  ["rename-out", "../moved", "moved"],
  ["rename-in", "../secret", "present"],
  ["write-outside", "../written", "written"],
];

/** Changes to a file that is there, and things made beside one that need not be. */
const changes = ["write", "append", "truncate", "rename", "unlink", "set-times", "make-hard-link"];
const additions = ["create", "make-directory", "make-link"];

const obstacle = wasmObstacle();
test("a wasmtime and the guests are there", (context) => need(context, obstacle));

describe.each(obstacle === null ? ["escape/wasip1", "escape/wasip2"] : [])("%s", (name) => {
  const isFirstPreview = name.endsWith("1");
  let guests: CompiledGuests;
  let module = "";
  let host = "";
  let directory = "";
  let server: Server;
  beforeAll(async () => {
    guests = new CompiledGuests();
    module = guests.compile(name);
    server = createServer((socket) => socket.destroy());
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  });
  afterAll(() => {
    guests[Symbol.dispose]();
    server.close();
  });
  beforeEach(() => {
    host = mkdtempSync(join(tmpdir(), "prx-escape-"));
    directory = join(host, "granted");
    mkdirSync(directory);
    writeFileSync(join(host, "secret"), "secret");
    writeFileSync(join(directory, "present"), "here");
  });
  afterEach(() => rmSync(host, { recursive: true, force: true }));
  const attempt = async (words: readonly string[], options: readonly string[] = []) => {
    const args = words.map((word) => word.replace("HOST", host));
    const { code, stdout } = await runGuest(module, { directory, options, args });
    return [code, String(stdout).trim().split("\n").at(-1)?.split(":")[0]];
  };
  const address = () => {
    const bound = server.address();
    return typeof bound === "object" && bound !== null ? `127.0.0.1:${bound.port}` : "";
  };
  const blocked = [0, "blocked"];
  const escaped = [1, "ESCAPED"];
  // A component has no other codes than 0 and 1.
  const notTried = [isFirstPreview ? 2 : 1, "not tried"];

  test.each(outside)("%s %s", async (what, path, allowed) => {
    expect(await attempt([what, path])).toEqual(blocked);
    expect([readdirSync(host).sort(), readFileSync(join(host, "secret"), "utf8")]).toEqual([
      ["granted", "secret"],
      "secret",
    ]);
    expect(readdirSync(directory)).toEqual(["present"]);
    expect(await attempt([what, allowed])).toEqual(escaped);
  });

  test.each(changes)("%s", async (what) => {
    expect(await attempt([what, "missing"])).toEqual(notTried);
    expect(await attempt([what, "present"])).toEqual(escaped);
  });

  test.each(additions)("%s", async (what) => {
    expect(await attempt([what, "missing"])).toEqual(escaped);
  });

  test("environment", async () => {
    expect(await attempt(["environment"])).toEqual(blocked);
    expect(await attempt(["environment", "A"], ["--env", "A=1"])).toEqual(blocked);
    expect(await attempt(["environment", "A"], ["--env", "A=1", "--env", "B=2"])).toEqual(escaped);
  });

  test("preopens", async () => {
    expect(await attempt(["preopens", "/"])).toEqual(isFirstPreview ? blocked : notTried);
    expect(await attempt(["preopens"])).toEqual(isFirstPreview ? escaped : notTried);
  });

  test("connect", async () => {
    expect(await attempt(["connect", address()])).toEqual(blocked);
    const allowed = await attempt(["connect", address()], ["-S", "inherit-network"]);
    expect(allowed).toEqual(isFirstPreview ? blocked : escaped);
  });

  test("an attempt that does not exist is not tried", async () => {
    expect(await attempt(["fly"])).toEqual(notTried);
  });
});
