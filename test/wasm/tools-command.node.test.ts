/** `prx-runtime tools`: what is listed, and what is told of a module. */

import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { makePlace, prx, runtimeNames, textOf } from "../e2e/cli-process.ts";
import { componentOf, moduleOf } from "../fixtures/wasm-modules.ts";
import { scratchDirectory } from "./backend-target.ts";

const scratch = scratchDirectory();
afterAll(() => scratch.remove());
const modules = join(scratch.path, "modules");
mkdirSync(modules);
const wasi = "wasi_snapshot_preview1";
const imports = [[wasi, "path_open"] as const, [wasi, "environ_get"] as const];
writeFileSync(join(modules, "resize.wasm"), moduleOf({ imports, memories: [2] }));
writeFileSync(join(modules, "other.wasm"), componentOf({ imports: ["wasi:sockets/tcp@0.2.6"] }));
writeFileSync(join(modules, "library.wasm"), moduleOf({ exports: ["run"] }));
const config = join(scratch.path, "config.toml");
writeFileSync(
  config,
  `[runtime.wasm]
module_path = ${JSON.stringify(modules)}
[tools.custom.lint]
type = "command"
command = "eslint"
args = ["--fix"]
[tools.custom.shrink]
type = "wasm"
module = "resize.wasm"
[tools.custom.gone]
type = "wasm"
module = "gone.wasm"
`,
);

const { env } = makePlace();

describe.each(runtimeNames)("tools on %s", (runtime) => {
  const cli = async (...words: string[]) => textOf(await prx(runtime, words, { env }));

  test("list names what is configured and what lies there, and says what is wrong with it", async () => {
    const { code, stdout } = await cli("tools", "list", "--json", "--config", config);
    const { module_path, tools } = JSON.parse(stdout);
    expect([code, module_path]).toEqual([0, modules]);
    expect(tools.map(({ name, type, runs }: Record<string, string>) => [name, type, runs])).toEqual([
      ["lint", "command", "eslint --fix"],
      ["shrink", "wasm", "resize.wasm"],
      ["gone", "wasm", "gone.wasm"],
      ["library", "module", "library.wasm"],
      ["other", "module", "other.wasm"],
      ["resize", "module", "resize.wasm"],
    ]);
    const problems = tools.map(({ problem }: { problem: string | null }) => problem);
    expect(problems.map((problem: string | null) => problem === null)).toEqual([true, true, false, false, true, true]);
    expect((await cli("tools", "list", "--config", config)).stdout).toMatch(
      /shrink +wasm +resize\.wasm +sha256:[0-9a-f]{64}/,
    );
  });

  test("inspect tells what a tool's module is and asks for", async () => {
    const { code, stdout } = await cli("tools", "inspect", "shrink", "--json", "--config", config);
    expect(code).toBe(0);
    expect(JSON.parse(stdout)).toEqual({
      ...{ name: "resize.wasm", path: join(modules, "resize.wasm"), digest: expect.stringMatching(/^sha256:/) },
      ...{ kind: "module", world: "WASI preview 1", memory_bytes: 131_072, exports: ["_start"], problem: null },
      imports: [`${wasi}.path_open`, `${wasi}.environ_get`],
      wants: ["directories", "variables"],
    });
    const component = await cli("tools", "inspect", "other", "--config", config);
    expect(component.stdout).toMatch(/world +wasi:cli\/command@0\.2\.6[\s\S]*wants +network/);
  });

  test("inspect exits with 126 for what cannot be run, and 127 for what is not there", async () => {
    const library = await cli("tools", "inspect", "library", "--config", config);
    expect([library.code, library.stdout]).toEqual([126, expect.stringContaining("exports no _start")]);
    expect((await cli("tools", "inspect", "nothing", "--config", config)).code).toBe(127);
  });
});
