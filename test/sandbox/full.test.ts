/** A full file system in memory stops no sandbox: whatever it needs there it can have elsewhere. */

import { execFileSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import { afterAll, expect, test } from "vitest";
import { isolateState } from "../fixtures/host-target.ts";
import { missing, need } from "../fixtures/needed.ts";
import { runScript } from "../fixtures/runtimes.ts";
import { tried } from "./against.ts";

const state = isolateState();
afterAll(() => state.remove());

const script = fileURLToPath(new URL("../fixtures/one-command.ts", import.meta.url));

test.for(tried)("%s", ([backend, obstacle], context) => {
  need(context, obstacle);
  need(context, process.getuid?.() === 0 ? missing("unshare") : "only root can mount a file system of its own");
  const fill = "mount -t tmpfs -o size=64k none /dev/shm && ! head -c 1M /dev/zero 2>/dev/null >/dev/shm/full";
  const words = [...runScript, script, backend, "/bin/echo", "ran"];
  const said = execFileSync("unshare", ["--mount", "sh", "-c", `${fill} && exec "$@"`, "sh", ...words], {
    cwd: fileURLToPath(new URL("../..", import.meta.url)),
    encoding: "utf8",
  });
  expect(JSON.parse(said)).toEqual({ outcome: "completed", exitCode: 0, stdout: "ran\n" });
});
