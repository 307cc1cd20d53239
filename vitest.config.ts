/** One configuration for Node, Bun and Deno: scripts/test.ts starts vitest under each and says which in PRX_TEST_RUNTIME. */

import { defineConfig } from "vitest/config";

const runtime = process.env["PRX_TEST_RUNTIME"] ?? "node";

export default defineConfig({
  test: {
    include: ["test/**/*.test.ts"],
    // What judges the checkout, or starts the other runtimes itself, runs once.
    exclude: runtime === "node" ? [] : ["test/**/*.node.test.ts"],
    // Workers of the runtime's own kind on all three; threads fail on Deno.
    pool: "forks",
    fileParallelism: false,
    // No test meets a Docker daemon that nobody named for it: `auto` would take the machine's own.
    env: { DOCKER_HOST: "unix:///nonexistent/no-daemon-was-named.sock", DOCKER_CONTEXT: "" },
    testTimeout: 30_000,
    hookTimeout: 30_000,
    retry: 0,
    allowOnly: false,
  },
});
