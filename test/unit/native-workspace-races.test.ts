/** Files in and outputs out of a directory in which another command puts a link in a directory's place and back, without end. */

import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { lstatSync, readdirSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { beforeEach, describe, expect, onTestFinished, test } from "vitest";
import { placeMissing } from "../../adapters/_native/sandbox/protected-paths.ts";
import { collectFiles, writeFiles } from "../../host/workspace-files.ts";
import { missing, need } from "../fixtures/needed.ts";
import { scratchDirectory } from "./native-scratch.ts";

const { at, write, makeDirectory } = scratchDirectory();
const program = fileURLToPath(new URL("../fixtures/exchange.py", import.meta.url));
const tries = 1500;

let rooms = 0;
let root = "";
let outside = "";

beforeEach((context) => {
  need(context, process.platform === "linux" ? missing("python3") : "names are exchanged on Linux");
  rooms += 1;
  root = makeDirectory(`${rooms}/root`);
  outside = makeDirectory(`${rooms}/outside`);
});

/** Swaps two names of the root until the test is over. */
async function exchange(one: string, two: string): Promise<void> {
  const child: ChildProcess = spawn("python3", [program, one, two], {
    cwd: root,
    stdio: ["ignore", "pipe", "inherit"],
  });
  onTestFinished(async () => {
    child.kill("SIGKILL");
    await once(child, "close");
  });
  if (child.stdout !== null) await once(child.stdout, "data");
}

describe("a directory that is a link half of the time", () => {
  test("lets no output out that lies where the link leads", async () => {
    write(`${rooms}/outside/file`, "outside");
    write(`${rooms}/root/directory/file`, "inside");
    symlinkSync(outside, join(root, "link"));
    await exchange("directory", "link");
    const told = new Set<string>();
    for (let round = 0; round < tries; round += 1) {
      for (const file of collectFiles(root, ["directory/file"]))
        told.add("bytes" in file ? new TextDecoder().decode(file.bytes) : file.missing);
    }
    expect(told).toContain("inside");
    expect(told).not.toContain("outside");
  });

  test("lets no file in where the link leads, and no directory be made there", async () => {
    makeDirectory(`${rooms}/root/directory`);
    symlinkSync(outside, join(root, "link"));
    await exchange("directory", "link");
    let written = 0;
    for (let round = 0; round < tries; round += 1) {
      for (const path of ["directory/file", `directory/${round}/file`]) {
        try {
          writeFiles(root, [{ path, bytes: 0, executable: false }], { bytes: new Map(), backend: "native" });
          written += 1;
        } catch {
          // The link stood there.
        }
      }
    }
    expect(written).toBeGreaterThan(0);
    expect(readdirSync(outside)).toEqual([]);
  });

  test("is no working directory while it is one", async () => {
    write(`${rooms}/outside/file`, "outside");
    write(`${rooms}/root/directory/file`, "inside");
    symlinkSync(outside, join(root, "link"));
    await exchange("directory", "link");
    const told = new Set<string>();
    for (let round = 0; round < tries; round += 1) {
      for (const file of collectFiles(join(root, "directory"), ["file"]))
        told.add("bytes" in file ? new TextDecoder().decode(file.bytes) : file.missing);
      try {
        writeFiles(join(root, "directory"), [{ path: "new", bytes: 0, executable: false }], {
          ...{ bytes: new Map(), backend: "native" },
        });
      } catch {
        // The link stood there.
      }
    }
    expect(told).toContain("inside");
    expect(told).not.toContain("outside");
    expect(readdirSync(outside)).toEqual(["file"]);
  });
});

test("a protected name is neither made nor taken away where a link leads that stands above it half of the time", async () => {
  makeDirectory(`${rooms}/outside/hooks`);
  makeDirectory(`${rooms}/root/directory`);
  symlinkSync(outside, join(root, "link"));
  await exchange("directory", "link");
  const record = { ownDirectory: at(`${rooms}/state/host`), id: "x" };
  let placed = 0;
  for (let round = 0; round < tries / 5; round += 1) {
    try {
      const { remove } = placeMissing(root, ["directory/hooks/", "directory/new"], record);
      placed += 1;
      remove();
    } catch {
      // The link stood there.
    }
  }
  expect(placed).toBeGreaterThan(0);
  expect(readdirSync(outside)).toEqual(["hooks"]);
});

test("a file in the place of a link, half of the time, is written to alone", async () => {
  const target = write(`${rooms}/outside/target`, "kept");
  write(`${rooms}/root/file`, "old");
  symlinkSync(target, join(root, "link"));
  await exchange("file", "link");
  for (let round = 0; round < tries; round += 1) {
    try {
      writeFiles(root, [{ path: "file", bytes: 0, executable: true }], { bytes: new Map(), backend: "native" });
    } catch {
      // The link stood there.
    }
  }
  expect([lstatSync(target).size, lstatSync(target).mode & 0o777]).toEqual([4, 0o644]);
});
