/** A request cannot put another program in the place of a configured tool's. */

import { chmodSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createRuntime } from "../../mod.ts";

const elsewhere = mkdtempSync(join(tmpdir(), "prx-tool-path-"));
const config = {
  runtime: { backend: "native" },
  tools: {
    custom: {
      hello: { type: "command", command: "echo", args: ["hello"] },
      absolute: { type: "command", command: "/bin/echo", args: ["absolute"] },
    },
  },
};

beforeAll(() => {
  writeFileSync(join(elsewhere, "echo"), "#!/bin/sh\nprintf replaced\n");
  chmodSync(join(elsewhere, "echo"), 0o755);
});
afterAll(() => rmSync(elsewhere, { recursive: true, force: true }));

describe("a configured tool", () => {
  test.each(["PATH", "Path"])("is not looked up in a %s of the request's", async (name) => {
    await using runtime = await createRuntime(config);
    const run = runtime.execute("hello", [], { env: { [name]: elsewhere } });
    await expect(run).rejects.toMatchObject({ code: "invalid_request", started: "no" });
    await expect(run).rejects.toThrow("Tool hello is looked up in the operator's PATH");
  });

  test("runs with the operator's, and with its own path whatever PATH is", async () => {
    await using runtime = await createRuntime(config);
    expect((await runtime.execute("hello", [])).stdout).toBe("hello\n");
    expect((await runtime.execute("absolute", [], { env: { PATH: elsewhere } })).stdout).toBe("absolute\n");
  });

  test("does not keep other commands from having a PATH of their own", async () => {
    await using runtime = await createRuntime(config);
    expect((await runtime.execute("echo", [], { env: { PATH: elsewhere } })).stdout).toBe("replaced");
  });
});

test("the option backend takes the place of auto, and of nothing else", async () => {
  await using chosen = await createRuntime({}, { backend: "native" });
  expect(chosen.name).toBe("native");
  const { candidates } = await chosen.explain("true");
  expect(candidates.find(({ backend }) => backend === "native")).toMatchObject({ chosen: true });
  await expect(createRuntime({}, { backend: "docker" })).rejects.toMatchObject({ code: "backend_unavailable" });
  await using configured = await createRuntime({ runtime: { backend: "native" } }, { backend: "docker" });
  expect(configured.name).toBe("native");
});
