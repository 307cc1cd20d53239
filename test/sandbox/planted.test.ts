/** On the host no program runs that a command may have put on the PATH. */

import { chmodSync, mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { afterAll, afterEach, beforeEach, expect, test } from "vitest";
import { isolateState, setHostEnv } from "../fixtures/host-target.ts";
import { need } from "../fixtures/needed.ts";
import { obstacleTo, sandboxedRuntime } from "./ways.ts";

const obstacles = {
  none: await obstacleTo("none"),
  bubblewrap: await obstacleTo("bubblewrap"),
  firejail: await obstacleTo("firejail"),
};
const state = isolateState();
const path = process.env["PATH"];
const names = [
  ...["bwrap", "firejail", "mkfifo", "prlimit", "getent", "sh", "bash", "env", "setpriv", "setsid", "unshare", "tail"],
  ...["true", "rm", "mkdir", "ln", "nice", "id", "cat", "ps", "find", "which", "uname", "stat"],
];
let place = "";

beforeEach(() => {
  place = realpathSync(mkdtempSync(join(tmpdir(), "prx-planted-")));
  const bin = join(place, "node_modules", ".bin");
  mkdirSync(bin, { recursive: true });
  for (const name of names) {
    writeFileSync(join(bin, name), `#!/bin/sh\necho ${name} >> ${place}/ran\nexit 1\n`);
    chmodSync(join(bin, name), 0o755);
  }
  writeFileSync(join(place, "ran"), "");
  setHostEnv("PATH", [bin, path].join(delimiter));
});
afterEach(() => {
  setHostEnv("PATH", path);
  rmSync(place, { recursive: true, force: true });
});
afterAll(() => state.remove());

test.for(["none", "bubblewrap", "firejail"] as const)("by a host with %s", async (backend, context) => {
  need(context, obstacles[backend]);
  await using runtime = await sandboxedRuntime(backend);
  const { exitCode } = await runtime.execute("/bin/sh", ["-c", "exit 7"], {
    workingDir: place,
    limits: { openFiles: 100 },
  });
  expect([exitCode, readFileSync(join(place, "ran"), "utf8")]).toEqual([7, ""]);
});
