/** Where the daemon is looked for: the order, contexts, and what is refused. */

import { createHash } from "node:crypto";
import { describe, expect, test } from "vitest";
import { type EndpointSources, findEndpoint } from "../../adapters/_docker/endpoint.ts";

const idOf = (name: string) => createHash("sha256").update(name).digest("hex");
const meta = (name: string) => `/c/contexts/meta/${idOf(name)}/meta.json`;

function find(given: Partial<EndpointSources> & { readonly files?: Readonly<Record<string, string>> } = {}) {
  const { files = {}, ...rest } = given;
  return findEndpoint({
    ...{ socket: null, env: {}, dockerConfig: "/c", isWindows: false, readText: (path) => files[path] ?? null },
    ...rest,
  });
}

const contextFiles = {
  "/c/config.json": JSON.stringify({ currentContext: "desktop" }),
  [meta("desktop")]: JSON.stringify({ Endpoints: { docker: { Host: "unix:///desktop.sock" } } }),
  [meta("far")]: JSON.stringify({ Endpoints: { docker: { Host: "tcp://far:2376" } } }),
  [`/c/contexts/tls/${idOf("far")}/docker/ca.pem`]: "CA",
};

describe("the order", () => {
  const files = contextFiles;
  const env = { DOCKER_HOST: "unix:///env.sock" };
  test.each([
    ["the key of the configuration", { socket: "/key.sock", env, files }, "/key.sock"],
    ["DOCKER_HOST", { env, files }, "/env.sock"],
    ["the context", { files }, "/desktop.sock"],
    ["an empty DOCKER_HOST is none", { env: { DOCKER_HOST: "" }, files }, "/desktop.sock"],
    ["the default", {}, "/var/run/docker.sock"],
    ["the context called default", { env: { DOCKER_CONTEXT: "default" }, files }, "/var/run/docker.sock"],
  ])("%s", (_, sources, path) => {
    expect(find(sources)).toMatchObject({ kind: "socket", path });
  });

  test("DOCKER_CONTEXT stands before the one in the settings, and brings its certificates", () => {
    expect(find({ env: { DOCKER_CONTEXT: "far" }, files })).toMatchObject({
      ...{ kind: "tcp", host: "far", port: 2376, tls: { ca: "CA", verified: true } },
    });
  });
});

test.each([
  ["tcp://10.0.0.1:2375", { kind: "tcp", host: "10.0.0.1", port: 2375, tls: null }],
  ["tcp://[::1]:99", { kind: "tcp", host: "::1", port: 99 }],
  ["example:5", { kind: "tcp", host: "example", port: 5 }],
  ["tcp://example", { port: 2375 }],
])("DOCKER_HOST=%s", (DOCKER_HOST, expected) => {
  expect(find({ env: { DOCKER_HOST } })).toMatchObject(expected);
});

test("with DOCKER_TLS_VERIFY the certificates of DOCKER_CERT_PATH are taken", () => {
  const env = { DOCKER_HOST: "tcp://h:1", DOCKER_TLS_VERIFY: "1", DOCKER_CERT_PATH: "/certs" };
  const files = { "/certs/ca.pem": "CA", "/certs/cert.pem": "CERT", "/certs/key.pem": "KEY" };
  expect(find({ env, files })).toMatchObject({ tls: { ca: "CA", cert: "CERT", key: "KEY", verified: true } });
});

test.each([
  ["ssh://user:pw@host", "forward its socket"],
  ["ftp://host", "ftp is no way to a daemon"],
  ["tcp://host:port", "no address"],
  ["tcp://host:1/path", "more than a host and a port"],
])("%s is refused, with the remedy and no password", (DOCKER_HOST, reason) => {
  const fault = find({ env: { DOCKER_HOST } });
  expect(fault).toMatchObject({ reason: expect.stringContaining(reason), remedy: expect.stringContaining("unix:///") });
  expect(JSON.stringify(fault)).not.toContain("pw");
});

test("a context that is not there is a fault, and never passed over for the default", () => {
  const files = { "/c/config.json": JSON.stringify({ currentContext: "gone" }) };
  expect(find({ files })).toMatchObject({ reason: expect.stringContaining('"gone"') });
});
