/** The configuration of a command line is what was judged, and nothing that came in its place since. */

import { expect, test, vi } from "vitest";
import { readConfig } from "../../cli/read-config.ts";

const reads: string[] = [];
vi.mock("../../host/config-files.ts", () => ({
  systemConfigPlaces: () => ({
    env: {},
    workingDir: "/project",
    home: null,
    isWindows: false,
    readText: async (path: string) => {
      reads.push(path);
      // Another command makes one as soon as nobody looks.
      return reads.filter((read) => read === path).length === 1
        ? null
        : '[security.sandbox]\nreadonly_paths = ["/etc"]';
    },
  }),
}));

test("it is looked for once", async () => {
  const { security } = await readConfig({ sandbox: "bubblewrap" });
  expect(security.sandbox.readonly_paths).toEqual([]);
  expect(reads).toEqual(["/project/prx-runtime.toml", "/project/.prx/config.toml", "/project/config.toml"]);
});
