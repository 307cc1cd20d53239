/** Rules between keys, and tools. */

import { describe, expect, test } from "vitest";
import { toolNames } from "../../src/config.ts";
import { parse, refusal } from "./config-sample.ts";

/** What the error says of keys each of which is right by itself. */
const said: readonly (readonly [toml: string, says: string])[] = [
  [
    "[runtime]\ndefault_timeout_secs = 90\nmax_timeout_secs = 30",
    "[runtime] default_timeout_secs: It is more than runtime.max_timeout_secs, which is 30",
  ],
  [
    '[runtime]\nmax_timeout_secs = 30\n[tools.custom.x]\ntype = "command"\ncommand = "x"\ntimeout_secs = 31',
    "[tools.custom.x] timeout_secs: It is more than",
  ],
  [
    '[tools.custom.x]\ntype = "command"\ncommand = "x"\nmax_output_bytes = 2000000',
    "[tools.custom.x] max_output_bytes: It is more than runtime.max_output_bytes, which is 1048576",
  ],
  [
    "[runtime]\nmax_timeout_secs = 10\n[runtime.wasm.capabilities]\ntimeout_secs = 20",
    "[runtime.wasm.capabilities] timeout_secs: It is more than",
  ],
  ['[runtime.docker]\ntarget = "kubernetes"\nsocket = "/run/d.sock"', "[runtime.docker] socket: It means nothing"],
  [
    '[runtime.docker]\ntarget = "kubernetes"\nnetwork = "host"',
    "[runtime.docker] network: No Job gets the host's network",
  ],
  ['[runtime.kubernetes]\nworkspace = "pvc"', "[runtime.kubernetes] workspace_claim: It is required"],
  [
    '[runtime.kubernetes]\nworkspace_claim = "data"',
    '[runtime.kubernetes] workspace_claim: It means nothing with workspace = "copy"',
  ],
  [
    '[runtime.kubernetes]\nworkspace_size = "2g"',
    '[runtime.kubernetes] workspace_size: It means nothing with workspace = "copy"',
  ],
  [
    '[runtime.kubernetes]\ntolerations = [{ key = "a" }, { effect = "NoExecute" }]',
    "[runtime.kubernetes] tolerations[1].key: Name the taint",
  ],
  ['[runtime.kubernetes]\ntolerations = [{ operator = "Exists", value = "x" }]', "tolerations[0].value: Leave it out"],
  [
    '[runtime.kubernetes]\ntolerations = [{ key = "a", toleration_seconds = 1 }]',
    'tolerations[0].toleration_seconds: It means nothing without effect = "NoExecute"',
  ],
  ['[runtime]\nbackend = "remote"', "[runtime.remote] url: It is required by the backend remote"],
  [
    '[tools.custom.x]\ntype = "command"\ncommand = "x"\nbackend = "remote"',
    "[runtime.remote] url: It is required by the backend remote",
  ],
  ['[runtime.remote]\ntoken = "x"', "[runtime.remote] token: It means nothing without url"],
];

test.each(said)("%j", (toml, says) => {
  expect(refusal(() => parse(toml))).toContain(says);
});

test("a default above its maximum is no contradiction: it is narrowed", () => {
  expect(parse("runtime.max_timeout_secs = 10").runtime).toMatchObject({
    max_timeout_secs: 10,
    default_timeout_secs: 60,
  });
});

describe("the remote endpoint", () => {
  test.each([
    "https://prx.example",
    "https://prx.example:8443/base/",
    "http://localhost:8080",
    "http://127.0.0.1",
    "http://127.1",
    "http://[::1]:80",
  ])("%s is safe", (url) => {
    expect(parse(`[runtime.remote]\nurl = "${url}"`).runtime.remote.url).toBe(url);
  });

  test.each([
    ["http://prx.example", "begins with https://"],
    ["http://10.0.0.1", "begins with https://"],
    ["http://localhost.example", "begins with https://"],
    ["http://evil.localhost", "begins with https://"],
    ["http://127.0.0.1.example", "begins with https://"],
    ["ftp://prx.example", "begins with https://"],
    ["prx.example", "whole URL"],
    ["", "whole URL"],
    ["https://user:pass@prx.example", "Leave user name"],
    ["https://prx.example/?token=x", "Leave user name"],
    ["https://prx.example/#x", "Leave user name"],
  ])("%s is not", (url, says) => {
    expect(refusal(() => parse(`[runtime.remote]\nurl = "${url}"`))).toContain(`[runtime.remote] url: `);
    expect(refusal(() => parse(`[runtime.remote]\nurl = "${url}"`))).toContain(says);
  });

  test.each(["", "two words", "line\\nbreak", "ünïcode", "<redacted>"])("%j is no token", (token) => {
    expect(refusal(() => parse(`[runtime.remote]\nurl = "https://x"\ntoken = "${token}"`))).toContain(
      "[runtime.remote] token: Give",
    );
  });
});

describe("a tool's capabilities", () => {
  const granted = `
    [runtime.wasm.capabilities]
    filesystem_read = ["/srv/data"]
    filesystem_write = ["/srv/out::/out"]
    env_vars = ["LANG"]
    [tools.custom.x]
    type = "wasm"
    module = "x.wasm"
    [tools.custom.x.capabilities]
  `;

  test.each([
    'filesystem_read = ["/srv/data"]',
    'filesystem_read = ["/srv/data/part::/part"]',
    'filesystem_read = ["/srv/out/"]',
    'filesystem_write = ["/srv/out"]',
    "filesystem_read = []",
    "network = false",
    'env_vars = ["LANG"]',
  ])("%s is less than the backend's", (line) => {
    expect(parse(granted + line).tools.custom["x"]).toMatchObject({ type: "wasm" });
  });

  test.each([
    ['filesystem_read = ["/srv"]', 'capabilities.filesystem_read: "/srv" is more than'],
    ['filesystem_read = ["/srv/database"]', "capabilities.filesystem_read"],
    ['filesystem_write = ["/srv/data"]', 'capabilities.filesystem_write: "/srv/data" is more than'],
    ["network = true", "capabilities.network: It is more than"],
    ['env_vars = ["HOME"]', "capabilities.env_vars: HOME is more than"],
  ])("%s is more", (line, says) => {
    const message = refusal(() => parse(granted + line));
    const [key = "", rest = ""] = says.split("capabilities.").slice(1).join("").split(/:(.*)/s);
    expect(message).toContain(`[tools.custom.x.capabilities] ${key}:${rest}`);
  });

  test("climbing out of a granted directory is no way around", () => {
    for (const path of [
      "/srv/data/../../etc",
      "/srv/data/../../etc::/etc",
      "/srv/data::/../etc",
      "/srv/data::/a::/b",
    ]) {
      expect(refusal(() => parse(`${granted}filesystem_read = ["${path}"]`))).toContain('without ".."');
    }
  });
});

describe("tools", () => {
  const config = parse(`
    [runtime.docker.tool_images]
    python = "python:3.13-slim"
    [tools.custom.lint]
    type = "command"
    command = "eslint"
    args = ["--fix-dry-run"]
    env = { CI = "1" }
    timeout_secs = 5
    max_output_bytes = 1024
    backend = "docker"
    image = "node:24-slim"
    network = "none"
    memory_limit = "64m"
    cpu_limit = "250m"
    pids_limit = 16
    max_open_files = 64
    max_cpu_time_seconds = 4
    [tools.custom.resize]
    type = "wasm"
    module = "resize.wasm"
    memory_limit_mb = 32
  `);

  test("are read with everything that narrows them", () => {
    expect(config.tools.custom).toEqual({
      lint: {
        type: "command",
        command: "eslint",
        args: ["--fix-dry-run"],
        env: { CI: "1" },
        timeout_secs: 5,
        max_output_bytes: 1024,
        backend: "docker",
        image: "node:24-slim",
        network: "none",
        memory_limit: 64 * 2 ** 20,
        cpu_limit: 0.25,
        pids_limit: 16,
        max_open_files: 64,
        max_cpu_time_seconds: 4,
      },
      resize: { type: "wasm", module: "resize.wasm", args: [], env: {}, capabilities: {}, memory_limit: 32 * 2 ** 20 },
    });
  });

  test("are known by name, those that only have an image too", () => {
    expect([...toolNames(config)].toSorted()).toEqual(["lint", "python", "resize"]);
  });
});
