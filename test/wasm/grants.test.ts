/** What guests are granted, and nothing besides: escapes from directories, read-only ones, variables, the network, tools. */

import {
  existsSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  unlinkSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeEach, describe, expect, it, test } from "vitest";
import { need } from "../fixtures/needed.ts";
import { guest, wasmObstacle } from "../rig/wasm/place.ts";
import { engines, scratchDirectory, type WasmConfig, wasmRuntime } from "./backend-target.ts";

const obstacle = wasmObstacle();
test("an engine and guests are there", (context) => need(context, obstacle));

const scratch = scratchDirectory();
afterAll(() => scratch.remove());
let round = 0;
let home = "";
let granted = "";
let secret = "";
beforeEach(() => {
  round += 1;
  home = scratch.make(`round-${round}`);
  granted = scratch.make(`round-${round}/granted`);
  secret = join(home, "secret");
  writeFileSync(secret, "the host's own");
  writeFileSync(join(granted, "file"), "content");
});

describe.skipIf(obstacle !== null).each(engines)("%s", (engine) => {
  /** One run on a runtime of its own. */
  const attempt = async (words: readonly string[], config: WasmConfig = {}, options = {}, kind = "escape/wasip1") => {
    await using runtime = await wasmRuntime(engine, config);
    return await runtime.execute(guest(kind), words, options);
  };
  const reading = () => ({ wasm: { capabilities: { filesystem_read: [granted] } } });
  const writing = () => ({ wasm: { capabilities: { filesystem_write: [granted] } } });

  const escapes = () =>
    [
      ["read-absolute", secret],
      ["read-dot-dot", "../secret"],
      ["own-link", secret],
      ["own-link", "../secret"],
      ["dot-link", "../secret"],
      ["hard-link", secret],
      ["rename-out", "../stolen"],
      ["rename-in", "../secret"],
      ["write-outside", "../new"],
    ] as const;

  it.each(["escape/wasip1", "escape/wasip2"])(
    "no way leads out of a directory that is granted to be written: %s",
    async (kind) => {
      await using runtime = await wasmRuntime(engine, writing());
      for (const words of escapes()) {
        const { stdout } = await runtime.execute(guest(kind), words, { workingDir: granted });
        expect(`${words[0]}: ${stdout}`).not.toContain("ESCAPED");
        expect(stdout).toMatch(/blocked|not tried/);
      }
      expect(readFileSync(secret, "utf8")).toBe("the host's own");
      expect([existsSync(join(home, "stolen")), existsSync(join(home, "new"))]).toEqual([false, false]);
    },
  );

  it("links that the host has made lead out neither", async () => {
    symlinkSync(secret, join(granted, "absolute"));
    symlinkSync("../secret", join(granted, "relative"));
    symlinkSync(home, join(granted, "directory"));
    for (const path of ["absolute", "relative", "directory/secret"]) {
      const { stdout, exitCode } = await attempt(
        ["read-file", path],
        writing(),
        { workingDir: granted },
        "contract/wasip1",
      );
      expect([stdout, exitCode]).toEqual(["", 1]);
    }
  });

  it("what is granted to be read can be read, and in no way be changed", async () => {
    await using runtime = await wasmRuntime(engine, reading());
    const file = join(granted, "file");
    const ways = ["write", "append", "create", "truncate", "rename", "unlink", "set-times"];
    for (const way of [...ways, "make-directory", "make-link", "make-hard-link"]) {
      const { stdout } = await runtime.execute(guest("escape/wasip1"), [way, file]);
      expect(`${way}: ${stdout}`).toMatch(/: blocked/);
    }
    expect((await runtime.execute(guest("contract/wasip1"), ["read-file", file])).stdout).toBe("content");
    const inside = { workingDir: granted };
    expect((await runtime.execute(guest("contract/wasip1"), ["read-file", "file"], inside)).stdout).toBe("content");
    expect((await runtime.execute(guest("escape/wasip1"), ["write", "file"], inside)).stdout).toMatch(/blocked/);
    const refused = runtime.execute(guest("contract/wasip1"), ["cat"], { ...inside, files: { a: "b" } });
    await expect(refused).rejects.toThrow("is granted to be read");
    expect(readFileSync(file, "utf8")).toBe("content");
  });

  it("without a grant there is no directory and no variable", async () => {
    await using runtime = await wasmRuntime(engine);
    const run = (...words: string[]) => runtime.execute(guest("escape/wasip1"), words);
    expect((await run("read-absolute", secret)).stdout).toMatch(/blocked/);
    expect((await run("preopens")).stdout).not.toMatch(/^sees /m);
    expect((await run("environment")).stdout).not.toMatch(/^sees /m);
    await expect(runtime.execute(guest("contract/wasip1"), ["cat"], { workingDir: granted })).rejects.toMatchObject({
      code: "working_dir_not_allowed",
    });
  });

  it("no guest writes where this program is, or what it has compiled", async () => {
    const root = fileURLToPath(new URL("../..", import.meta.url)).replace(/\/$/, "");
    for (const place of [root, join(root, "node_modules"), "/"]) {
      const config = { wasm: { capabilities: { filesystem_write: [place] } } };
      await expect(attempt(["preopens"], config)).rejects.toThrow("can change this program itself");
    }
  });

  it("a variable of the host needs the whitelist and the grant; the request's own pass", async () => {
    const config = { wasm: { capabilities: { env_vars: ["HOME"] } }, runtime: { env_whitelist: ["HOME", "PATH"] } };
    const { stdout } = await attempt(
      ["print-env"],
      config,
      { env: { OWN: "x=y", RUST_LOG: "off" } },
      "contract/wasip1",
    );
    expect(
      stdout
        .split("\0")
        .filter((line) => line !== "")
        .sort(),
    ).toEqual([`HOME=${process.env["HOME"]}`, "OWN=x=y", "RUST_LOG=off"]);
  });

  it("the network is there only where it is granted", async () => {
    // The guest is content with the connection, and breaks it off.
    const server = createServer((socket) => socket.on("error", () => {}).end("hello"));
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const { port } = server.address() as { port: number };
    const connect = (network: boolean) =>
      attempt(["connect", `127.0.0.1:${port}`], { wasm: { capabilities: { network } } }, {}, "escape/wasip2");
    try {
      expect((await connect(false)).stdout).toMatch(/blocked/);
      expect((await connect(true)).stdout).toMatch(/ESCAPED/);
    } finally {
      server.close();
    }
  });

  it("times and names that no program expects are only odd", async () => {
    for (const [name, time] of [
      ["epoch", 0],
      ["before", -86_400],
      ["after", 7_258_118_400],
    ] as const) {
      writeFileSync(join(granted, name), name);
      utimesSync(join(granted, name), time, time);
      const { stdout } = await attempt(["read-file", join(granted, name)], writing(), {}, "contract/wasip1");
      expect(stdout).toBe(name);
    }
    writeFileSync(Buffer.concat([Buffer.from(`${granted}/odd`), Buffer.from([0xff, 0xfe])]), "x");
    expect((await attempt(["read-file", join(granted, "file")], writing(), {}, "contract/wasip1")).stdout).toBe(
      "content",
    );
  });

  it("a directory that another guest can exchange for a link is the one that is granted, or none", async () => {
    const inner = join(granted, "inner");
    const outside = scratch.make(`round-${round}/outside`);
    writeFileSync(join(outside, "file"), "the host's own");
    const config = {
      wasm: { capabilities: { filesystem_write: [granted] } },
      tools: { inner: { type: "wasm", module: guest("contract/wasip1"), capabilities: { filesystem_write: [inner] } } },
    };
    await using runtime = await wasmRuntime(engine, config);
    symlinkSync(outside, inner);
    const throughLink = runtime.execute("inner", ["read-file", join(inner, "file")]);
    await expect(throughLink).rejects.toThrow("it leads out of what is granted");
    unlinkSync(inner);
    mkdirSync(inner);
    writeFileSync(join(inner, "file"), "content");
    expect((await runtime.execute("inner", ["read-file", join(inner, "file")])).stdout).toBe("content");
    const seen = new Set<string>();
    for (let turn = 0; turn < 20; turn += 1) {
      const running = runtime.execute("inner", ["read-file", join(inner, "file")]).then(
        ({ stdout }) => stdout,
        (error: Error) => error.message,
      );
      // In the middle of a start, which takes the engines between 10 and some hundred milliseconds.
      await new Promise((resolve) => setTimeout(resolve, turn ** 2));
      renameSync(inner, `${inner}-moved`);
      symlinkSync(outside, inner);
      seen.add(await running);
      unlinkSync(inner);
      renameSync(`${inner}-moved`, inner);
    }
    expect([...seen].filter((text) => text.includes("the host's own"))).toEqual([]);
  });

  it("a grant inside of another that guests can write is no way out, whoever asks for it", async () => {
    const inner = join(granted, "inner");
    const outside = scratch.make(`round-${round}/outside`);
    writeFileSync(join(outside, "file"), "the host's own");
    symlinkSync(outside, inner);
    await using runtime = await wasmRuntime(engine, { wasm: { capabilities: { filesystem_write: [granted, inner] } } });
    for (const asked of [
      {},
      { workingDir: inner },
      { workingDir: outside },
      { workingDir: inner, files: { x: "y" } },
    ]) {
      const running = runtime.execute(guest("contract/wasip1"), ["read-file", join(inner, "file")], asked);
      await expect(running).rejects.toThrow(
        /leads out of what is granted|cannot be used|cannot keep the policy|is granted to/,
      );
    }
    expect(existsSync(join(outside, "x"))).toBe(false);
    unlinkSync(inner);
    mkdirSync(inner);
    writeFileSync(join(inner, "file"), "content");
    const { stdout } = await runtime.execute(guest("contract/wasip1"), ["read-file", join(inner, "file")]);
    expect(stdout).toBe("content");
  });

  it("a tool has its arguments, its directories and its limits, whatever the default backend is", async () => {
    const out = scratch.make(`round-${round}/out`);
    const modules = scratch.make(`round-${round}/modules`);
    const config = {
      backend: "native",
      wasm: { module_path: modules, capabilities: { filesystem_write: [granted, out], filesystem_read: [home] } },
      tools: {
        show: {
          ...{ type: "wasm", module: "show.wasm", args: ["read-file"], timeout_secs: 5, env: { A: "b" } },
          capabilities: { filesystem_read: [], filesystem_write: [granted] },
        },
      },
    };
    await using runtime = await wasmRuntime(engine, config);
    await expect(runtime.execute("show", ["x"])).rejects.toMatchObject({ code: "command_not_found" });
    // A module that is dropped into the directory is there at once.
    writeFileSync(join(modules, "show.wasm"), readFileSync(guest("contract/wasip1")));
    const shown = await runtime.execute("show", [join(granted, "file")]);
    expect([shown.stdout, shown.backend]).toEqual(["content", "wasm"]);
    expect((await runtime.execute("show", [secret])).exitCode).toBe(1);
    expect((await runtime.execute("sh", ["-c", "echo native"])).backend).toBe("native");
    const { plan, lowering, clauses } = await runtime.explain("show", ["x"], { env: { TOKEN: "s3cret" } });
    expect(plan.grants).toEqual([{ host: granted, guest: granted, writable: true }]);
    expect(lowering).toMatch(new RegExp(`by ${engine}`));
    expect(lowering).not.toContain("s3cret");
    expect(clauses.every(({ verdict }) => verdict.grade !== "impossible")).toBe(true);
    rmSync(join(modules, "show.wasm"));
  });
});
