/** A daemon behind TLS: the certificates of `DOCKER_CERT_PATH`, in both directions, and a clear no where they do not do. */

import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { copyFileSync, mkdirSync, mkdtempSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import { dockerScene } from "../fixtures/docker-scene.ts";
import { missing, need } from "../fixtures/needed.ts";
import { rigSocket, run, testedHost } from "../rig/docker/place.ts";

/** One that can listen while it has ended to speak, whatever runs the tests. */
const node = fileURLToPath(new URL("../../node_modules/.bin/node", import.meta.url));
const scene = dockerScene();
const obstacle = missing("openssl") ?? (testedHost.startsWith("unix://") ? null : "it has no socket");

if (scene !== null) {
  const { open } = scene;
  const directory = mkdtempSync(join(tmpdir(), "prx-tls-"));
  const at = (name: string) => join(directory, name);
  let proxy: ChildProcess | null = null;
  let host = "";

  /** Signed by an authority of their own. */
  const certify = (place: string) => {
    mkdirSync(at(place));
    const [ca, caKey] = [at(`${place}/ca.pem`), at(`${place}/ca-key.pem`)];
    const key = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2"];
    run("openssl", ["req", "-x509", ...key, "-subj", "/CN=authority", "-keyout", caKey, "-out", ca]);
    for (const name of ["server", "client"]) {
      const [own, request] = [at(`${place}/${name}-key.pem`), at(`${place}/${name}.csr`)];
      run("openssl", ["req", ...key.slice(0, 5), "-subj", `/CN=${name}`, "-keyout", own, "-out", request]);
      writeFileSync(at(`${place}/names`), "subjectAltName=IP:127.0.0.1\n");
      const signing = ["-CA", ca, "-CAkey", caKey, "-CAcreateserial", "-days", "2", "-extfile", at(`${place}/names`)];
      run("openssl", ["x509", "-req", "-in", request, ...signing, "-out", at(`${place}/${name}-cert.pem`)]);
    }
    renameSync(at(`${place}/client-cert.pem`), at(`${place}/cert.pem`));
    renameSync(at(`${place}/client-key.pem`), at(`${place}/key.pem`));
  };

  beforeAll(async () => {
    if (obstacle !== null) return;
    for (const place of ["own", "foreign"]) certify(place);
    const program = fileURLToPath(new URL("../fixtures/tls-proxy.ts", import.meta.url));
    const socket = testedHost.replace("unix://", "") || rigSocket;
    const args = [program, socket, at("own/ca.pem"), at("own/server-cert.pem"), at("own/server-key.pem")];
    proxy = spawn(node, args, { stdio: ["ignore", "pipe", "inherit"] });
    const [port] = (await once(proxy.stdout as NodeJS.ReadableStream, "data")) as [Buffer];
    host = `tcp://127.0.0.1:${String(port).trim()}`;
  });
  afterAll(() => {
    proxy?.kill("SIGKILL");
    rmSync(directory, { recursive: true });
  });
  afterEach(() => {
    process.env["DOCKER_HOST"] = testedHost;
    delete process.env["DOCKER_TLS_VERIFY"];
    delete process.env["DOCKER_CERT_PATH"];
  });
  const reach = (certificates: string) => {
    process.env["DOCKER_HOST"] = host;
    process.env["DOCKER_TLS_VERIFY"] = "1";
    process.env["DOCKER_CERT_PATH"] = at(certificates);
  };

  test("a command runs, with its input to the end and its streams apart", { timeout: 60_000 }, async (context) => {
    need(context, obstacle);
    reach("own");
    const runtime = await open();
    const script = "cat; echo over >&2; exit 3";
    const stdin = "line\n".repeat(50_000);
    const output = await runtime.execute("sh", ["-c", script], { stdin });
    expect([output.exitCode, output.stdout === stdin, output.stderr]).toEqual([3, true, "over\n"]);
  });

  test("one whose certificate another authority signed is not spoken to", async (context) => {
    need(context, obstacle);
    reach("foreign");
    await expect(open()).rejects.toMatchObject({
      code: "backend_unavailable",
      message: expect.stringMatching(/cannot be reached: .*certificate.* \(over TLS\)\. Look whether ca\.pem/),
    });
  });

  test("one that wants a certificate is told apart from one that is not there", async (context) => {
    need(context, obstacle);
    mkdirSync(at("bare"));
    copyFileSync(at("own/ca.pem"), at("bare/ca.pem"));
    reach("bare");
    await expect(open()).rejects.toMatchObject({
      code: "backend_unavailable",
      message: expect.stringMatching(
        /\(over TLS, without a certificate of this side\)\. Look whether ca\.pem, cert\.pem/,
      ),
    });
  });

  test.for([
    ["DOCKER_CERT_PATH", "/nowhere"],
    ["DOCKER_HOST", "no address at all"],
  ])("%s of this process does not matter where the socket is configured", async ([name = "", value], context) => {
    need(context, obstacle);
    reach("own");
    process.env[name] = value;
    const runtime = await open({ socket: testedHost.replace("unix://", "") });
    expect((await runtime.execute("echo", ["there"])).stdout).toBe("there\n");
  });
}
