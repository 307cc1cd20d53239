/** A configuration as it is shown: no secret in it, and the same meaning. */

import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { redactConfig } from "../../src/config/redact.ts";
import { showConfig } from "../../src/config/show.ts";
import { defaultConfig, validateConfig, writtenKeys } from "../../src/config.ts";
import { definition, keys, parse, refusal, toml } from "./config-sample.ts";

function withSecrets(secret: string) {
  return validateConfig(definition, {
    runtime: {
      native: { env: { API_KEY: secret, "odd name": secret } },
      remote: { url: "https://prx.example", token: secret },
    },
    tools: {
      custom: {
        lint: { type: "command", command: "lint", env: { TOKEN: secret } },
        resize: { type: "wasm", module: "resize.wasm", env: { TOKEN: secret } },
      },
    },
  });
}

describe("what is shown of a configuration", () => {
  test("holds no secret, whatever it is", () => {
    const secret = fc.stringMatching(/^[!-~]{12,40}$/).map((text) => `s3cr3t${text}`);
    fc.assert(
      fc.property(secret, (text) => {
        const config = withSecrets(text);
        const shown = showConfig(definition, config) + JSON.stringify(redactConfig(definition, config));
        return !shown.includes(text) && !shown.includes(JSON.stringify(text).slice(1, -1)) && !shown.includes("s3cr3t");
      }),
    );
  });

  test("says that there is one, and under which name", () => {
    const config = redactConfig(definition, withSecrets("hunter2"));
    expect(config.runtime.remote).toEqual({ url: "https://prx.example", token: "<redacted>" });
    expect({ ...config.runtime.native.env }).toEqual({ API_KEY: "<redacted>", "odd name": "<redacted>" });
    expect(config.tools.custom["resize"]?.env).toEqual({ TOKEN: "<redacted>" });
  });

  test("is all the rest, unchanged", () => {
    const defaults = defaultConfig(definition);
    expect(redactConfig(definition, defaults)).toEqual(defaults);
    expect(redactConfig(definition, defaults).runtime.remote).not.toHaveProperty("token");
  });

  test("hides what no schema knows: it cannot be told from a secret", () => {
    const odd = { ...defaultConfig(definition), unknown: { token: "hunter2", list: ["hunter2"] } };
    expect(redactConfig(definition, odd)).toMatchObject({ unknown: { token: "<redacted>", list: ["<redacted>"] } });
  });

  test("leaves the configuration itself as it is", () => {
    const config = withSecrets("hunter2");
    redactConfig(definition, config);
    expect(config.runtime.remote.token).toBe("hunter2");
  });

  test("is refused should it be read again, with its secrets gone", () => {
    const shown = showConfig(definition, withSecrets("hunter2"));
    expect(refusal(() => parse(shown))).toContain(
      "[runtime.native.env] API_KEY: Give the value itself in place of the mark <redacted>",
    );
    expect(refusal(() => parse(shown))).toContain("[runtime.remote] token: Give the value itself");
  });
});

describe("as TOML", () => {
  test("defaults are comments, and what was written is not", () => {
    const lines = showConfig(definition, parse("[runtime.docker]\nmemory_limit_mb = 512\ncpu_limit = 0.5")).split("\n");
    expect(lines).toContain('memory_limit = "512m"');
    expect(lines).toContain("cpu_limit = 0.5");
    expect(lines).toContain("# pids_limit = 100");
    expect(lines).toContain('# backend = "auto"');
  });

  test.each(keys.filter(([path]) => !/token|env\.RUST/.test(path)))(
    "%s means the same when it is read again",
    (path, _, written) => {
      const config = parse(toml(path, written));
      const again = parse(showConfig(definition, config));
      expect(again).toEqual(config);
      expect(writtenKeys(again)).toEqual(writtenKeys(config));
    },
  );

  test("the defaults, no longer comments, mean the same", () => {
    const defaults = defaultConfig(definition);
    const shown = showConfig(definition, defaults).replaceAll("# ", "");
    expect(parse(shown)).toEqual(defaults);
  });

  test("tools and odd names mean the same", () => {
    const config = parse(`
      [runtime.kubernetes.annotations]
      "prx.example/note" = "line\\nbreak \\u007f \\"quoted\\""
      [tools.custom."a.b"]
      type = "command"
      command = "x"
      args = ["", "-v", "\\t"]
    `);
    expect(parse(showConfig(definition, config))).toEqual(config);
  });
});
