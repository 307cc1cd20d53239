/** The process that runs a guest is held to what the guest was given, as far as each runtime can be. */

import { join } from "node:path";
import { expect, test } from "vitest";
import { hostProgram, jcoCommand } from "../../adapters/_wasm/jco/command.ts";
import { memoryEvidence } from "../../adapters/_wasm/jco/memory-evidence.ts";

const own = {
  executable: "/bin/it",
  program: "/pkg/dist/adapters/_wasm/jco/host.js",
  descriptionFile: "/runs/1.json",
  memoryLimitBytes: 64 * 2 ** 20,
} as const;

const nothing = { directory: "/cache/a", preopens: [], network: false } as const;
const directories = {
  ...nothing,
  preopens: [
    { host: "/data", guest: "/d", writable: false },
    { host: "/work", guest: "/w", writable: true },
  ],
} as const;

const command = (runtime: "node" | "bun" | "deno", description: typeof nothing | typeof directories) =>
  jcoCommand({ ...own, runtime, description });

test("Node may read and write what the guest may, and its own program", () => {
  const argv = command("node", directories);
  const granted = (kind: string) =>
    argv.filter((arg) => arg.startsWith(`--allow-fs-${kind}=`)).map((arg) => arg.split("=")[1]);
  expect(argv).toContain("--permission");
  expect(argv).toContain("--single-threaded");
  expect(granted("read")).toEqual(
    expect.arrayContaining(["/pkg/dist/", "/cache/a/", "/runs/1.json", "/data/", "/work/"]),
  );
  expect(granted("write")).toEqual(expect.arrayContaining(["/runs/1.json", "/work/"]));
  expect(granted("write")).not.toContain("/data/");
  expect(argv).not.toContain("--allow-worker");
  expect(argv.slice(-2)).toEqual([own.program, own.descriptionFile]);
});

test("Node is told the outermost of directories alone: with one inside of another it takes neither", () => {
  const preopens = ["/work", "/work/part", "/works"].map((host) => ({ host, guest: host, writable: true }));
  const argv = jcoCommand({ ...own, runtime: "node", description: { ...nothing, preopens } });
  const written = argv.filter((arg) => arg.startsWith("--allow-fs-write=/work"));
  expect(written).toEqual(["--allow-fs-write=/work/", "--allow-fs-write=/works/"]);
});

test("Deno has no permission but for its program, and holds directories where there are any", () => {
  const argv = command("deno", nothing);
  expect(argv.filter((arg) => arg.startsWith("--allow"))).toEqual([
    "--allow-read=/pkg/dist/,/cache/a/,/runs/1.json",
    "--allow-write=/runs/1.json",
  ]);
  expect(command("deno", directories)).toContain("--allow-all");
});

test("Bun installs nothing", () => {
  expect(command("bun", nothing)).toEqual(["/bin/it", "--no-install", own.program, own.descriptionFile]);
});

test("the network comes with what serves it", () => {
  const argv = jcoCommand({ ...own, runtime: "node", description: { ...nothing, network: true } });
  expect(argv).toContain("--allow-worker");
  expect(argv.some((arg) => arg.startsWith("--allow-fs-read=") && arg.endsWith("node_modules/"))).toBe(true);
});

test("the host program is found beside the command", () => {
  expect(hostProgram()).toMatch(new RegExp(`${join("adapters", "_wasm", "jco", "host.ts").replaceAll("\\", "\\\\")}$`));
});

test("a trap for want of memory has evidence: a full memory, or a word of the guest's", () => {
  const limitBytes = 64 * 2 ** 20;
  expect(memoryEvidence({ bytes: limitBytes / 2, limitBytes, said: "index out of bounds" })).toBe(null);
  expect(memoryEvidence({ bytes: 63 * 2 ** 20, limitBytes, said: "" })).toBe(
    "the guest had 63 of 64 MiB and could not get more",
  );
  expect(memoryEvidence({ bytes: 2 ** 20, limitBytes, said: "memory allocation of 99 bytes failed" })).toContain(
    "1 of 64 MiB",
  );
});
