/** The guests in WAT and the one in Go: each does under plain wasmtime what its first line says. */

import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { need } from "../fixtures/needed.ts";
import { inventory, wasmObstacle } from "../rig/wasm/place.ts";
import { CompiledGuests, type GuestSettings, runGuest } from "./guest-run.ts";

const tight = ["-W", "max-memory-size=67108864", "-W", "max-table-elements=100000"];
const mebibytes5 = 5 * 1024 * 1024;

interface Claim extends GuestSettings {
  readonly code: number | null;
  readonly says?: RegExp;
  readonly bytes?: number;
}

/** Is ended after half a second, in which it should have come to nothing. */
function goesOn(): Claim {
  let since: number | undefined;
  const until = () => {
    since ??= performance.now();
    return performance.now() - since > 500;
  };
  return { code: null, until };
}

const claims: Readonly<Record<string, readonly Claim[]>> = {
  "wat/loop": [goesOn()],
  "wat/loop-in-start-section": [goesOn()],
  "wat/sleep": [goesOn()],
  "wat/slow-to-compile": [goesOn()],
  "wat/read-stdin": [{ code: 0 }, { input: "x".repeat(200_000), code: 5 }],
  "wat/grow-memory": [{ options: tight, code: 0 }, { code: 1 }],
  "wat/minimum-4-gib": [{ code: 0 }, { options: tight, code: 1, says: /exceeds memory limits|minimum size/ }],
  "wat/two-memories": [{ code: 2 }, { options: tight, code: 1 }],
  "wat/grow-table": [{ options: tight, code: 0 }],
  "wat/imported-memory": [{ code: 1, says: /unknown import/ }],
  "wat/unknown-import": [{ code: 1, says: /unknown import.*env::mystery/ }],
  "wat/exit-with": [
    ...[0, 7, 125].map((code) => ({ args: [`${code}`], code })),
    // Beyond these the program itself takes it for a mistake.
    ...["126", "134", "255", "256", "-1"].map((code) => ({ args: [code], code: 1, says: /invalid exit status/ })),
    { code: 64 },
  ],
  "wat/unreachable": [{ code: 134, says: /unreachable/ }],
  "wat/recursion": [{ code: 134, says: /call stack exhausted/ }],
  "wat/no-start": [{ code: 0 }],
  "wat/one-write": [{ code: 3, bytes: mebibytes5 }],
  "wat/many-writes": [{ code: 3, bytes: mebibytes5 }],
  "wat/close-stderr": [{ code: 1, says: /invalid exit status/ }],
  // Without a directory it is an unknown descriptor (8); out of one it is not permitted (63).
  "wat/write-dot-dot": [{ code: 8 }],
};

const obstacle = wasmObstacle();
test("a wasmtime and the guests are there", (context) => need(context, obstacle));

if (obstacle === null) {
  let directory = "";
  beforeEach(() => {
    directory = mkdtempSync(join(tmpdir(), "prx-guest-"));
  });
  afterEach(() => rmSync(directory, { recursive: true, force: true }));

  const each = Object.entries(claims).flatMap(([name, list]) =>
    list.map((claim) => [name, [...(claim.options ?? []), ...(claim.args ?? [])].join(" "), claim] as const),
  );
  test.each(each)("%s %s", async (name, _, { code, says = /^/, bytes = 0, ...settings }) => {
    const ending = await runGuest(name, settings);
    expect([ending.code, ending.stdout.length]).toEqual([code, bytes]);
    expect(String(ending.stderr)).toMatch(says);
  });

  test("every text is asked here, and opens with what it shows", () => {
    const built = Object.keys(inventory()?.guests ?? {}).filter((name) => name.startsWith("wat/"));
    expect(built.sort()).toEqual(Object.keys(claims).sort());
    const texts = new URL("../fixtures/guests/wat/", import.meta.url);
    const mute = readdirSync(texts).filter((name) => !/^;; \S/.test(readFileSync(new URL(name, texts), "utf8")));
    expect(mute).toEqual([]);
  });

  test("write-dot-dot does not get out of its directory", async () => {
    mkdirSync(join(directory, "granted"));
    expect((await runGuest("wat/write-dot-dot", { directory: join(directory, "granted") })).code).toBe(63);
    expect(readdirSync(directory)).toEqual(["granted"]);
  });

  test("go", async () => {
    // Compiling it takes seconds, and there are seven runs.
    using guests = new CompiledGuests();
    const go = guests.compile("go");
    writeFileSync(join(directory, "present"), "here");
    const text = async (args: readonly string[], settings: GuestSettings = {}) =>
      String((await runGuest(go, { directory, args, ...settings })).stdout);
    expect(await text(["args", "a b", "", "中"])).toBe("a b\0\0中\0");
    expect(await text(["env"], { options: ["--env", "A=1"] })).toBe("A=1\0");
    expect(await text(["read", "/present"])).toBe("here");
    expect(await text(["write", "/written", "content"])).toBe("");
    expect(readFileSync(join(directory, "written"), "utf8")).toBe("content");
    expect(await text(["cat"], { input: "line\nno end" })).toBe("line\nno end");
    expect((await runGuest(go, { args: ["exit", "7"] })).code).toBe(7);
    const { code } = await runGuest(go, { args: ["yield"], until: (stdout) => String(stdout) === "ready\n" });
    expect(code).toBe(null);
  });
}
