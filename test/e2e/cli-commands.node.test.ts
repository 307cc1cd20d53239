/** `doctor`, `explain`, `config` and help: what they say, what they exit with, and what they never say. */

import { mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { loadedBy, readImportGraph } from "../../scripts/import-graph.ts";
import { makePlace, prx, runtimeNames, textOf } from "./cli-process.ts";

const secret = "hunter2-do-not-print";
const { folder, config, env } = makePlace(`
[runtime]
backend = "native"
env_whitelist = ["PATH", "HOST_SECRET"]

[runtime.native.env]
API_KEY = "${secret}"

[runtime.remote]
url = "https://prx.example"
token = "${secret}"

[tools.custom.greet]
type = "command"
command = "echo"
env = { TOOL_KEY = "${secret}" }
`);

function writeConfig(name: string, toml: string): string {
  const path = join(folder, name);
  writeFileSync(path, toml);
  return path;
}

const wrong = writeConfig("wrong.toml", `[runtime]\nbackedn = "native"\n\n[runtime.docker]\nnetwrok = "none"\n`);
const unusable = writeConfig(
  "unusable.toml",
  '[runtime]\nbackend = "remote"\n[runtime.remote]\nurl = "https://prx.invalid"\n',
);

describe.each(runtimeNames)("on %s", (runtime) => {
  const cli = async (...words: string[]) => textOf(await prx(runtime, words, { env: { ...env, HOST_SECRET: secret } }));

  test("doctor says what works, what is used, and what to do about the rest", async () => {
    const { code, stdout, stderr } = await cli("doctor");
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    expect(stdout).toContain(config);
    expect(stdout).toMatch(/runs on +(Node|Bun|Deno) \d/);
    expect(stdout).toMatch(/→ +native +works +\d+ ms/);
    expect(stdout).toMatch(/Local processes, held by (cgroup|process group)/);
    expect(stdout).toMatch(/memory +(enforced|weaker|impossible) /);
    const { stdout: json } = await cli("doctor", "--json");
    expect(JSON.parse(json)).toMatchObject({
      configured: "native",
      chosen: "native",
      refused: null,
      config: { path: config },
    });
    expect(JSON.parse(json).backends.map(({ backend }: { backend: string }) => backend)).toContain("docker");
  });

  test("doctor still says everything where nothing can be used or the file is wrong", async () => {
    const refused = await cli("doctor", "--config", unusable);
    expect(refused).toMatchObject({ code: 69, stdout: expect.stringContaining("Backend remote cannot be used") });
    expect(refused.stdout).toMatch(/native +works/);
    const invalid = await cli("doctor", "--config", wrong);
    expect(invalid).toMatchObject({ code: 78, stdout: expect.stringContaining("the nearest right name is backend") });
    expect(invalid.stdout).toMatch(/native +works/);
  });

  test("explain says what run would do, and runs nothing", async () => {
    const file = join(folder, `never-${runtime}`);
    const { code, stdout, stderr } = await cli("explain", "-e", `A=${secret}`, "--", "touch", file);
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    expect(readdirSync(folder)).not.toContain(`never-${runtime}`);
    expect(stdout).toContain(`"touch" "${file}"`);
    expect(stdout).toMatch(/^ {2}A\n {2}API_KEY\n {2}HOST_SECRET\n {2}PATH$/m);
    expect(stdout).toMatch(/network +demanded +enforced/);
    expect(stdout).toContain("It would run");
    const refused = await cli("explain", "--json", "--network", "none", "--", "true");
    expect(refused.code).toBe(77);
    expect(JSON.parse(refused.stdout)).toMatchObject({
      refused: expect.stringContaining("network"),
      plan: { network: "none" },
    });
  });

  test("config check lists every problem", async () => {
    expect(await cli("config", "check")).toEqual({ code: 0, stdout: `OK: ${config}\n`, stderr: "" });
    const { code, stdout, stderr } = await cli("config", "check", wrong);
    expect({ code, stdout }).toEqual({ code: 78, stdout: "" });
    expect(stderr).toContain(`2 problems in ${wrong}`);
    expect(stderr).toContain("[runtime] backedn");
    expect(stderr).toContain("[runtime.docker] netwrok");
    expect(await cli("config", "check", "/no/such.toml")).toMatchObject({ code: 78 });
    expect(await cli("run", "--config", wrong, "--", "true")).toMatchObject({ code: 78, stderr });
  });

  test("config show, schema and path", async () => {
    const shown = await cli("config", "show", "--written");
    expect(shown.stdout).toBe(
      [
        ...["[runtime]", 'backend = "native"', 'env_whitelist = ["PATH", "HOST_SECRET"]', ""],
        ...["[runtime.native.env]", 'API_KEY = "<redacted>"', ""],
        ...["[runtime.remote]", 'url = "https://prx.example"', 'token = "<redacted>"', ""],
        ...["[tools.custom.greet]", 'type = "command"', 'command = "echo"', ""],
        ...["[tools.custom.greet.env]", 'TOOL_KEY = "<redacted>"', ""],
      ].join("\n"),
    );
    expect((await cli("config", "show")).stdout).toMatch(/^# default_timeout_secs = 60$/m);
    expect(JSON.parse((await cli("config", "show", "--json", "--written")).stdout)).toMatchObject({
      runtime: { backend: "native", remote: { token: "<redacted>" } },
    });
    const defaults = (await cli("config", "show", "--defaults")).stdout;
    expect(defaults).toMatch(/^# backend = "auto"$/m);
    expect(await cli("config", "check", writeConfig(`defaults-${runtime}.toml`, defaults))).toMatchObject({ code: 0 });
    expect(JSON.parse((await cli("config", "schema")).stdout)).toHaveProperty("properties.runtime");
    expect((await cli("config", "path")).stdout.split("\n")[0]).toBe(config);
  });

  test("the configuration is found in the working directory and in the user's own place", async () => {
    const cwd = join(folder, `cwd-${runtime}`);
    const xdg = join(folder, `xdg-${runtime}`);
    mkdirSync(join(xdg, "prx-runtime"), { recursive: true });
    mkdirSync(cwd);
    const found = async () => {
      const options = { env: { ...env, PRX_CONFIG: "", XDG_CONFIG_HOME: xdg }, cwd };
      return JSON.parse((await prx(runtime, ["config", "path", "--json"], options)).stdout.toString());
    };
    expect(await found()).toMatchObject({ path: null, origin: null });
    writeFileSync(join(xdg, "prx-runtime/config.toml"), "");
    expect(await found()).toMatchObject({ path: join(xdg, "prx-runtime/config.toml"), origin: "user" });
    writeFileSync(join(cwd, "config.toml"), "[package]\n");
    expect(await found()).toMatchObject({ origin: "user" });
    writeFileSync(join(cwd, "prx-runtime.toml"), "");
    expect(await found()).toMatchObject({ path: join(cwd, "prx-runtime.toml"), origin: "project" });
  });

  test("no secret is said, whatever is asked", async () => {
    const questions = [
      ["doctor"],
      ["doctor", "--json"],
      ["explain", "-e", `A=${secret}`, "--", "greet"],
      ["explain", "--json", "-e", `A=${secret}`, "-e", "HOST_SECRET", "--", "greet"],
      ["config", "show"],
      ["config", "show", "--json"],
      ["config", "check", writeConfig(`secret-${runtime}.toml`, `[runtime.remote]\ntoken = ["${secret}"]\n`)],
      ["config", "check", writeConfig(`broken-${runtime}.toml`, `[runtime.remote]\ntoken = "${secret}\n`)],
    ];
    for (const words of questions) {
      const { stdout, stderr } = await cli(...words);
      expect(`${stdout}${stderr}`.length, words.join(" ")).toBeGreaterThan(0);
      expect(`${stdout}${stderr}`, words.join(" ")).not.toContain(secret);
    }
  });

  test("help, version and mistakes", async () => {
    expect((await cli("--version")).stdout).toMatch(/^\d+\.\d+\.\d+\n$/);
    const help = await cli("--help");
    expect(help).toMatchObject({ code: 0, stdout: expect.stringContaining("Examples:"), stderr: "" });
    for (const name of ["run", "explain", "doctor", "tools", "config", "completion"])
      expect(help.stdout).toContain(`\n  ${name} `);
    expect((await cli("run", "--help")).stdout).toContain("Exit codes:");
    expect(await cli("help", "run")).toEqual(await cli("run", "-h"));
    expect(await cli()).toMatchObject({ code: 64, stdout: "", stderr: expect.stringContaining("Usage:") });
    expect(await cli("rnu")).toMatchObject({
      code: 64,
      stderr: "prx-runtime: Unknown command 'rnu': did you mean run?\n",
    });
    expect(await cli("config", "shwo")).toMatchObject({
      code: 64,
      stderr: expect.stringContaining("did you mean show?"),
    });
  });

  test("colours only where they are wanted", async () => {
    const bold = "\x1b[1m";
    expect((await cli("doctor")).stdout).not.toContain("\x1b");
    const forced = await prx(runtime, ["doctor"], { env: { ...env, FORCE_COLOR: "1" } });
    expect(forced.stdout.toString()).toContain(bold);
    const json = await prx(runtime, ["doctor", "--json"], { env: { ...env, FORCE_COLOR: "1" } });
    expect(json.stdout.toString()).not.toContain("\x1b");
  });
});

test("run loads nothing that only other commands need", () => {
  const loaded = loadedBy(readImportGraph(process.cwd()), "cli/run.ts").map(({ edge }) => edge.to);
  expect(loaded).toContain("mod.ts");
  const others =
    /^cli\/(doctor|explain|config-|complet|cursor)|config-(json-schema|reference|show|redact|toml|find)|smol-toml|tab$/;
  expect(loaded.filter((path) => others.test(path))).toEqual([]);
});
