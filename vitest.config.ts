/** One configuration for Node, Bun and Deno: scripts/test.ts starts vitest under each and says which in PRX_TEST_RUNTIME. */

import { availableParallelism } from "node:os";
import { defineConfig } from "vitest/config";
import { BaseSequencer, type TestSpecification } from "vitest/node";

const runtime = process.env["PRX_TEST_RUNTIME"] ?? "node";

/** Files that take away what others stand on, a daemon for instance, or tell of all that is on the machine. */
const alone = "test/**/*.alone*.test.ts";
// What judges the checkout, or starts the other runtimes itself, runs once.
const excluded = runtime === "node" ? [] : ["test/**/*.node.test.ts"];

/** The suites of the longest files, which are not to be what is waited for in the end. */
const long = ["sandbox", "contract", "docker", "e2e"];

class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const rank = ({ moduleId }: TestSpecification) => {
      const found = long.findIndex((suite) => moduleId.includes(`/test/${suite}/`));
      return found === -1 ? long.length : found;
    };
    return files.toSorted((one, other) => rank(one) - rank(other));
  }
}

export default defineConfig({
  test: {
    // Workers of the runtime's own kind on all three; threads fail on Deno.
    pool: "forks",
    sequence: { sequencer: LongestFirst },
    // No test meets a Docker daemon that nobody named for it: `auto` would take the machine's own.
    env: { DOCKER_HOST: "unix:///nonexistent/no-daemon-was-named.sock", DOCKER_CONTEXT: "" },
    // Only what hangs is ended: how long something takes beside others is no test's business.
    testTimeout: 120_000,
    hookTimeout: 120_000,
    retry: 0,
    allowOnly: false,
    projects: [
      {
        extends: true,
        test: {
          name: "together",
          include: ["test/**/*.test.ts"],
          exclude: [...excluded, alone],
          // Most of the time is spent waiting.
          maxWorkers: Math.ceil(availableParallelism() * 1.5),
          sequence: { groupOrder: 0 },
        },
      },
      {
        extends: true,
        test: { name: "alone", include: [alone], exclude: excluded, maxWorkers: 1, sequence: { groupOrder: 1 } },
      },
    ],
  },
});
