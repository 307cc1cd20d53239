/** Why a daemon cannot be used: each cause apart, each with its remedy, and no exception. */

import { execFileSync } from "node:child_process";
import { chmodSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { fileURLToPath } from "node:url";
import { afterAll, expect, test } from "vitest";
import { inspectBackends } from "../../mod.ts";
import { runScript } from "../fixtures/runtimes.ts";

const base = realpathSync(mkdtempSync(join(tmpdir(), "prx-probe-")));
afterAll(() => rmSync(base, { recursive: true, force: true }));

async function findingOf(socket: string) {
  const { backends } = await inspectBackends({ runtime: { backend: "docker", docker: { socket } } });
  const { availability } = backends.find(({ backend }) => backend === "docker") ?? {};
  return availability?.available === false ? availability : null;
}

test("there is no socket", async () => {
  const finding = await findingOf(join(base, "none.sock"));
  expect(finding?.reason).toBe(`There is no docker socket at ${base}/none.sock`);
  expect(finding?.remedy).toContain("DOCKER_HOST");
});

test("what is there is no socket", async () => {
  writeFileSync(join(base, "file"), "");
  expect((await findingOf(join(base, "file")))?.reason).toBe(`${base}/file is no socket`);
});

test("a socket that nobody listens at", async () => {
  const path = join(base, "stale.sock");
  // A process that is killed leaves its socket behind.
  const script = `require("node:net").createServer().listen(${JSON.stringify(path)}, () => process.kill(process.pid, "SIGKILL"))`;
  try {
    execFileSync("node", ["-e", script], { stdio: "ignore" });
  } catch {
    // As it was meant to.
  }
  const finding = await findingOf(path);
  expect(finding?.reason).toMatch(/^No daemon answers at .*stale.sock \(runtime.docker.socket\)$/);
  expect(finding?.remedy).toContain("Start it");
});

test("something else answers there", async () => {
  const path = join(base, "other.sock");
  const server = createServer((socket) => {
    socket.on("error", () => {});
    socket.once("data", () =>
      socket.end("HTTP/1.1 403 Forbidden\r\nContent-Length: 4\r\nConnection: close\r\n\r\nkeep"),
    );
  });
  await new Promise<void>((resolve) => server.listen(path, resolve));
  const finding = await findingOf(path);
  server.close();
  expect(finding?.reason).toMatch(/^What answers at .*other.sock .* refuses: .*keep/);
});

test("a user who may not use the socket", async ({ skip }) => {
  if (process.getuid?.() !== 0) skip("only root can become another user");
  const path = join(base, "locked.sock");
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(path, resolve));
  chmodSync(path, 0o600);
  chmodSync(base, 0o755);
  const probe = fileURLToPath(new URL("../../adapters/_docker/probe.ts", import.meta.url));
  const script = join(base, "ask.mjs");
  const endpoint = JSON.stringify({ kind: "socket", path, from: "here" });
  writeFileSync(
    script,
    `const { probeDaemon } = await import(${JSON.stringify(probe)});
const { availability } = await probeDaemon({ endpoint: ${endpoint}, connect: () => { throw new Error("not to be asked"); }, images: [] });
console.log(JSON.stringify(availability));`,
  );
  const [program, ...before] = runScript;
  const env = { ...process.env, HOME: base, DENO_DIR: process.env["DENO_DIR"] ?? "" };
  const said = execFileSync(program, [...before, script], { encoding: "utf8", uid: 65534, gid: 65534, cwd: "/", env });
  server.close();
  expect(JSON.parse(said)).toMatchObject({
    available: false,
    reason: `This user may not use the docker socket ${path}`,
    remedy: expect.stringContaining("group docker"),
  });
});
