/** What is told of a wrong configuration: every problem, by table and key, and no secret. */

import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { shapeOf } from "../../src/config/shape.ts";
import { validateConfig } from "../../src/config.ts";
import { RuntimeError } from "../../src/errors.ts";
import { definition, keys, parse, refusal } from "./config-sample.ts";

/** What the error says of one wrong file. */
const said: readonly (readonly [toml: string, says: string])[] = [
  // A misspelt key
  ['[runtime.docker]\nnetwrok = "none"', "[runtime.docker] netwrok: Unknown key: the nearest right name is network"],
  [
    '[security.sandbox]\nbackand = "bubblewrap"',
    "[security.sandbox] backand: Unknown key: the nearest right name is backend",
  ],
  [
    "[runtime]\ndefaultTimeoutSecs = 1",
    "[runtime] defaultTimeoutSecs: Unknown key: the nearest right name is default_timeout_secs",
  ],
  [
    "[runtime]\ndefault_timeout = 1",
    "[runtime] default_timeout: Unknown key: the nearest right name is default_timeout_secs",
  ],
  [
    "[security.sandbox.bubblewrap]\nwriteable_paths = []",
    "[security.sandbox.bubblewrap] writeable_paths: Unknown key: the nearest right name is writable_paths",
  ],
  ["[runtime.wasm.capabilities]\ntimeout_sec = 1", "[runtime.wasm.capabilities] timeout_sec: Unknown key"],
  [
    "[security.resources]\nmemory_monitoring = true",
    "[security.resources] memory_monitoring: Unknown key: choose one of max_memory_mb, max_cpu_time_seconds",
  ],
  ["[runtime.memory]\nx = 1", "[runtime.memory] x: Unknown key: this table has no keys"],
  // A misspelt table
  ['[runtime.dokcer]\nimage = "x"', "[runtime.dokcer]: Unknown table: the nearest right name is docker"],
  ['[runtme]\nbackend = "docker"', "[runtme]: Unknown table: the nearest right name is runtime"],
  ["[securty.sandbox]", "[securty]: Unknown table: the nearest right name is security"],
  // A right key in the wrong table
  [
    '[runtime]\nimage = "x"',
    "[runtime] image: Unknown key: image belongs in [runtime.docker] or [runtime.kubernetes] or [tools.custom.<name>]",
  ],
  [
    'backend = "docker"',
    "backend: Unknown key: backend belongs in [runtime] or [tools.custom.<name>] or [security.sandbox]",
  ],
  ["[sandbox]\nallow_network = true", "[sandbox]: Unknown table: write [security.sandbox]"],
  [
    '[runtime.docker]\nIMAGE = "x"',
    "IMAGE: Unknown key: the nearest right name is image; IMAGE belongs in [runtime.kubernetes] or [tools.custom.<name>]",
  ],
  ["[runtime]\naccept_weaker = []", "[runtime] accept_weaker: Unknown key: accept_weaker belongs in [security]"],
  [
    '[tools.custom.x]\ntype = "wasm"\nmodule = "m"\nimage = "i"',
    "[tools.custom.x] image: Unknown key: image belongs in [runtime.docker]",
  ],
  // A wrong type
  [
    '[runtime.docker]\npids_limit = "100"',
    '[runtime.docker] pids_limit = "100": Give a whole number of processes, 1 or more',
  ],
  ['[runtime.docker]\nauto_pull = "no"', '[runtime.docker] auto_pull = "no": Give true or false'],
  ['[runtime]\nenv_whitelist = "PATH"', '[runtime] env_whitelist = "PATH": Give a list in square brackets'],
  ["[runtime]\ndocker = true", "[runtime] docker = true: Give a table"],
  ['[[runtime.docker]]\nimage = "x"', "[runtime] docker = […]: Give a table"],
  [
    "[runtime]\ndefault_timeout_secs = 2026-01-01",
    "[runtime] default_timeout_secs = a date or another object: Give a number of seconds",
  ],
  ["runtime = 1", "runtime = 1: Give a table"],
  ['[security]\nsandbox = "none"', '[security] sandbox = "none": Give a table'],
  ["[security.sandbox]\nbubblewrap = true", "[security.sandbox] bubblewrap = true: Give a table"],
  // A wrong value
  [
    '[runtime]\nbackend = "dokcer"',
    '[runtime] backend = "dokcer": Choose one of "auto", "native", "docker", "kubernetes", "wasm", "remote", "memory"; the nearest is "docker"',
  ],
  ['[runtime]\nkind = "podman"', '[runtime] kind = "podman": Choose one of "auto", "native"'],
  ['[runtime.docker]\nnetwork = "all"', '[runtime.docker] network = "all": Choose one of "none", "bridge", "host"'],
  ['[security]\naccept_weaker = ["memroy"]', '[security] accept_weaker[0] = "memroy": Choose one of'],
  [
    "[runtime]\ndefault_timeout_secs = -1",
    "[runtime] default_timeout_secs = -1: Give a number of seconds, 0 or more; 0 means no limit",
  ],
  [
    "[runtime]\ndefault_timeout_secs = inf",
    "[runtime] default_timeout_secs = Infinity: Give a number of seconds, 0 or more; 0 means no limit",
  ],
  ["[runtime]\ndefault_timeout_secs = nan", "[runtime] default_timeout_secs = NaN: Give a number of seconds"],
  ["[runtime]\nmax_output_bytes = 0", "[runtime] max_output_bytes = 0: Give a whole number of bytes, 1 to 268435456"],
  [
    "[runtime.docker]\npids_limit = -1",
    "[runtime.docker] pids_limit = -1: Give a whole number of processes, 1 or more",
  ],
  ["[runtime.docker]\npids_limit = 1.5", "[runtime.docker] pids_limit = 1.5: Give a whole number"],
  // A number where a size is needed, and sizes that are none
  [
    "[runtime.docker]\nmemory_limit = 256",
    '[runtime.docker] memory_limit = 256: Give a size such as "256m" or "1g", or a number of bytes, at least 6m',
  ],
  ['[runtime.docker]\nmemory_limit = "lots"', '[runtime.docker] memory_limit = "lots": Give a size'],
  [
    '[runtime.docker]\nmemory_limit_mb = "256m"',
    '[runtime.docker] memory_limit_mb = "256m": Give a whole number of mebibytes',
  ],
  ['[runtime.docker]\ncpu_limit = "half"', '[runtime.docker] cpu_limit = "half": Give a number of cores'],
  // Names and paths
  ['[runtime]\nenv_whitelist = ["PATH", ""]', '[runtime] env_whitelist[1] = "": Give the variable a name'],
  ['[runtime]\nenv_whitelist = ["LC_*"]', "Name each variable: patterns are not understood"],
  ['[runtime.native.env]\n"A=B" = "x"', '[runtime.native.env] "A=B": Leave "="'],
  ['[runtime.native.env]\n"" = "x"', '[runtime.native.env] "": Give the variable a name'],
  [
    '[security.sandbox]\nwritable_paths = ["data"]',
    '[security.sandbox] writable_paths[0] = "data": Give an absolute path',
  ],
  [
    '[security.sandbox]\nprotected_paths = ["/etc"]',
    '[security.sandbox] protected_paths[0] = "/etc": Give a relative path',
  ],
  [
    '[security.sandbox]\nprotected_paths = ["./a"]',
    '[security.sandbox] protected_paths[0] = "./a": Give a relative path without "." and empty parts',
  ],
  [
    '[security.sandbox.bubblewrap]\nreadonly_paths = ["~x"]',
    '[security.sandbox.bubblewrap] readonly_paths[0] = "~x": Give an absolute path',
  ],
  [
    '[security]\nallowed_workspace_roots = ["../up"]',
    '[security] allowed_workspace_roots[0] = "../up": Give an absolute path',
  ],
  [
    '[runtime.wasm.capabilities]\nfilesystem_read = ["~/data"]',
    '[runtime.wasm.capabilities] filesystem_read[0] = "~/data": Give an absolute directory',
  ],
  ['[runtime.docker]\nworkspace_mount_path = "/a/../b"', "workspace_mount_path"],
  ...["/bin", "/bin/", "/usr", "/usr/./local/bin", "//etc", "/lib64", "/sbin", "/var", "/run"].map(
    (path): readonly [string, string] => [
      `[runtime.docker]\nworkspace_mount_path = "${path}"`,
      'the image\'s own files are there: choose a path of its own, such as "/workspace"',
    ],
  ),
  ['[runtime.docker]\nworkspace_mount_path = "/home"', "/home/prx is not free: choose a path of its own"],
  ['[runtime.docker]\nworkspace_mount_path = "/dev//shm"', "/dev is not free: choose a path of its own"],
  ['[runtime.docker]\nreadonly_mounts = ["/srv:/home"]', "/home/prx is not free: choose a path of its own"],
  ['[runtime.docker]\nreadonly_mounts = ["/srv:/./tmp"]', "/tmp is not free: choose a path of its own"],
  ['[runtime.docker]\nreadonly_mounts = ["/srv:/a/../tmp"]', 'Leave ".." out of the path in the container'],
  [
    '[runtime.docker]\nreadonly_mounts = ["/srv:/opt/a", "/var:/opt//a/"]',
    "readonly_mounts[1]: /opt/a is taken by another of them",
  ],
  ['[runtime.docker]\nuser = "2147483648"', "Numbers of users and groups go up to 2147483647"],
  ['[runtime.docker]\nuser = "1000:4294967295"', "Numbers of users and groups go up to 2147483647"],
  ...[
    ...[
      "Debian",
      "library/Debian:latest",
      "a//b",
      "a/",
      "a:",
      "a:-x",
      "a:b:c",
      "a..b",
      "a@sha256:ab",
      "a@b",
      "a@sha256:",
    ],
    ...[`x:${"t".repeat(129)}`, `${"n".repeat(256)}`, "host:port/x", "-x"],
  ].map((image): readonly [string, string] => [
    `[runtime.docker]\nimage = "${image}"`,
    'Give an image such as "debian:bookworm-slim"',
  ]),
  [
    '[runtime.docker]\nsocket = "unix:///var/run/docker.sock"',
    '[runtime.docker] socket = "unix:///var/run/docker.sock": Give an absolute path',
  ],
  ['[tools.custom."bad name"]\ntype = "wasm"\nmodule = "m"', '[tools.custom] "bad name": Name a tool with'],
  // Tools
  ['[tools.custom.x]\ncommand = "ls"', '[tools.custom.x] type: Missing: give one of "command", "wasm"'],
  [
    '[tools.custom.x]\ntype = "comand"',
    '[tools.custom.x] type = "comand": Choose one of "command", "wasm"; the nearest is "command"',
  ],
  ['[tools.custom.x]\ntype = "command"', "[tools.custom.x] command: Missing: this key is required here"],
  ['[tools.custom.x]\ntype = "wasm"', "[tools.custom.x] module: Missing"],
  [
    '[tools.custom.x]\ntype = "command"\ncommand = "ls"\nbackend = "natve"',
    '[tools.custom.x] backend = "natve": Choose one of "native", "docker"',
  ],
  ["[tools.custom]\nx = 1", "[tools.custom] x = 1: Give a table"],
  ['[tools.x]\ntype = "wasm"', "[tools.x]: Unknown table"],
];

test.each([
  ...[
    "debian",
    "debian:bookworm-slim",
    "library/debian",
    "a_b/c--d/e.f:V1.2-x_y",
    "localhost/x",
    "Host.example:5000/a/b",
  ],
  ...[
    "f".repeat(64),
    `sha256:${"0".repeat(64)}`,
    `x:1@sha256:${"a".repeat(64)}`,
    "[::1]:5000/x",
    "127.0.0.1:1/no/such:1",
  ],
])("image %s is one", (image) => {
  const config = parse(`[runtime.docker]\nimage = "${image}"`);
  expect(config.runtime).toMatchObject({ docker: { image } });
});

test.each(said)("%j", (toml, says) => {
  expect(refusal(() => parse(toml))).toContain(says);
});

describe("a file that is wrong in many ways", () => {
  const wrong = `
    [runtime]
    backend = "dokcer"
    default_timeout_secs = -1
    [runtime.docker]
    netwrok = "none"
    memory_limit = "lots"
    [security.sandbox]
    backend = "jail"
    enabled = true
    [tools.custom.x]
    type = "wsm"
  `;

  test("is told all of them at once, one a line", () => {
    const lines = refusal(() => parse(wrong)).split("\n");
    expect(lines[0]).toBe("Correct 7 problems in config.toml:");
    expect(lines.slice(1).map((line) => line.trim().split(/[:=]/)[0]?.trim())).toEqual([
      "[runtime.docker] memory_limit",
      "[runtime.docker] netwrok",
      "[runtime] backend",
      "[runtime] default_timeout_secs",
      "[security.sandbox] backend",
      "[security.sandbox] enabled",
      "[tools.custom.x] type",
    ]);
  });

  test("ends no line with a full stop", () => {
    for (const line of refusal(() => parse(wrong)).split("\n")) expect(line).not.toMatch(/\.$/);
  });
});

describe("what is no TOML", () => {
  test.each([
    ["[runtime]\nbackend = ", "Line 2, column 11: Invalid value"],
    ['[runtime]\nbackend = "a"\nbackend = "b"', "Line 3, column 1: Trying to redefine an already defined"],
    ["[runtime]\n[security]\n[runtime]\n", "Line 3, column 2: Trying to redefine"],
    [
      "[runtime]\nmax_output_bytes = 9007199254740993",
      "Line 2, column 20: Integer value cannot be represented losslessly",
    ],
    ["nonsense", "Line 1, column"],
  ])("%j", (toml, says) => {
    expect(refusal(() => parse(toml))).toContain(`Correct a problem in config.toml:\n  ${says}`);
  });

  test("is not repeated: one of its lines may hold a secret", () => {
    const secret = "hunter2-hunter2";
    for (const toml of [
      `[runtime.remote]\ntoken = "${secret}" oops`,
      `[runtime.remote]\ntoken = "${secret}"\ntoken = "x"`,
    ]) {
      try {
        parse(toml);
        expect.unreachable();
      } catch (thrown) {
        expect(thrown).toBeInstanceOf(RuntimeError);
        const { message, cause, stack } = thrown as RuntimeError;
        expect(`${message}${stack}${String(cause)}`).not.toContain(secret);
      }
    }
  });
});

test("wrong secrets are named and not repeated", () => {
  const secret = "hunter2-hunter2";
  const wrong = [
    { runtime: { remote: { url: `https://user:${secret}@prx.example` } } },
    { runtime: { remote: { url: "https://prx.example", token: `${secret} ` } } },
    { runtime: { native: { env: { KEY: [secret] } } } },
    { runtime: { native: { env: secret } } },
    { runtime: { native: { env: { KEY: `${secret}\0` } } } },
    { tools: { custom: { x: { type: "command", command: "ls", env: { KEY: { secret } } } } } },
    { runtime: { remote: { tokn: secret } } },
  ];
  for (const input of wrong) expect(refusal(() => validateConfig(definition, input))).not.toContain(secret);
});

test("a value that is no table is refused whole", () => {
  for (const input of [null, 1, "x", [], undefined, new Map(), new Date()]) {
    expect(refusal(() => validateConfig(definition, input))).toBe(
      "Correct a problem in the configuration:\n  Give a table",
    );
  }
});

test("any unknown key is refused and named, whatever its table", () => {
  const tables = [...new Set(keys.map(([path]) => path.split(".").slice(0, -1).join(".")))].filter(
    (path) => !/env$|tool_images|node_selector|labels|annotations/.test(path),
  );
  const known = new Set(["kind", "memory_limit_mb", "bubblewrap", "timeout_secs", "max_memory_mb"]);
  const name = fc.stringMatching(/^[a-z][a-z_]{0,20}$/).filter((word) => !known.has(word));
  fc.assert(
    fc.property(fc.constantFrom(...tables), name, (path, word) => {
      const steps = path.split(".");
      let schema = definition.schema as Parameters<typeof shapeOf>[0];
      for (const step of steps) {
        const shape = shapeOf(schema);
        schema = shape.kind === "table" ? (shape.entries.get(step) ?? schema) : schema;
      }
      const shape = shapeOf(schema);
      fc.pre(shape.kind === "table" && !shape.entries.has(word));
      const input = steps.reduceRight<unknown>((inner, step) => ({ [step]: inner }), { [word]: 1 });
      expect(refusal(() => validateConfig(definition, input))).toContain(`[${path}] ${word}: Unknown key`);
    }),
  );
});

test("a known key with one letter wrong is answered with the right one", () => {
  const plain = keys
    .map(([path]) => path)
    .filter((path) => !/env\.|tool_images|selector|labels|annotations/.test(path));
  fc.assert(
    fc.property(fc.constantFrom(...plain), fc.nat(), (path, seed) => {
      const name = path.split(".").at(-1) ?? "";
      fc.pre(name.length >= 5);
      const index = seed % name.length;
      const misspelt = `${name.slice(0, index)}7${name.slice(index + 1)}`;
      const input = path
        .split(".")
        .slice(0, -1)
        .reduceRight<unknown>((inner, step) => ({ [step]: inner }), { [misspelt]: 1 });
      expect(refusal(() => validateConfig(definition, input))).toContain(
        `${misspelt}: Unknown key: the nearest right name is ${name}`,
      );
    }),
  );
});
