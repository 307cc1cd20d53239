/** What a host was started with does not reach its commands. */

import { spawn, spawnSync } from "node:child_process";
import { mkdtempSync, openSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { need } from "../fixtures/needed.ts";
import { tried } from "../sandbox/against.ts";

const root = fileURLToPath(new URL("../..", import.meta.url));
const work = mkdtempSync(join(tmpdir(), "prx-descriptors-"));
const secret = join(work, "secret");
const host = join(work, "host.mjs");

beforeAll(() => {
  writeFileSync(secret, "not for commands");
  writeFileSync(
    host,
    `import { createRuntime } from ${JSON.stringify(join(root, "mod.ts"))};
    const sandbox = process.env.SANDBOX ?? "none";
    const runtime = await createRuntime({ runtime: { backend: "native" }, security: { sandbox: { backend: sandbox } } });
    const { stdout } = await runtime.execute("sh", ["-c", 'for fd in /proc/self/fd/*; do readlink "$fd"; done']);
    console.log(stdout);
    await runtime.close();`,
  );
});
afterAll(() => rmSync(work, { recursive: true, force: true }));

const deno = ["deno", "run", "--allow-all", "--config", join(root, "deno.json")];

/** Starts the host with the secret open at the descriptors 5 and 17. */
function openDescriptors(runtime: readonly string[], sandbox = "none"): Promise<string> {
  const [program = "", ...args] = runtime;
  const fd = openSync(secret, "r");
  const stdio = Array.from({ length: 18 }, (_, place) => (place === 5 || place === 17 ? fd : ("ignore" as const)));
  stdio[1] = "pipe" as never;
  stdio[2] = "inherit" as never;
  const child = spawn(join(root, "node_modules", ".bin", program), [...args, host], {
    stdio,
    env: { ...process.env, SANDBOX: sandbox },
  });
  return new Promise((resolve, reject) => {
    let text = "";
    child.stdout?.on("data", (chunk) => {
      text += chunk;
    });
    child.once("error", reject);
    child.once("close", (code) => (code === 0 ? resolve(text) : reject(new Error(`The host exited with ${code}`))));
  });
}

test.each([["node"], ["bun"]])("%s passes on nothing that it inherited", async (program) => {
  const open = await openDescriptors([program]);
  expect(open).toMatch(/pipe|\/pipes\//);
  expect(open).not.toContain(secret);
});

test("a descriptor beyond the limit of open files does not keep node from starting commands", () => {
  const node = join(root, "node_modules", ".bin", "node");
  const limited = spawnSync("bash", ["-c", 'exec 150</dev/null; ulimit -n 140; exec "$@"', "bash", node, host], {
    encoding: "utf8",
  });
  expect([limited.status, limited.stderr]).toEqual([0, ""]);
  expect(limited.stdout).toMatch(/pipes/);
});

test("deno offers no way to keep inherited descriptors back: they are passed on", async () => {
  const open = await openDescriptors(deno);
  // When this fails, Deno has mended it, and the documentation is to say so.
  expect(open).toContain(secret);
});

describe.each(tried)("in %s", (sandbox, obstacle) => {
  beforeEach((context) => need(context, obstacle));

  test.each([[["node"]], [["bun"]], [deno]])(
    "%j starts commands, and passes on nothing that it inherited",
    async (host) => {
      const open = await openDescriptors(host, sandbox);
      expect(open).toMatch(/pipe|\/pipes\//);
      expect(open).not.toContain(secret);
    },
  );
});
