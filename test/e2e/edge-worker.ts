/** A worker that runs a command on the core alone: what test/e2e/edge.node.test.ts starts in workerd. */

import { memoryFragment } from "../../adapters/memory.fragment.ts";
import { memory } from "../../adapters/memory.ts";
import { assembleRuntime, defineConfig, type Host, validateConfig } from "../../src/core.ts";

const host: Host = {
  owner: "edge",
  workingDir: "/",
  env: {},
  now: () => performance.now(),
  inspect: async (path) => ({ kind: "directory", realPath: path }),
};

async function runOne(): Promise<string> {
  const config = validateConfig(defineConfig([memoryFragment]), { runtime: { backend: "memory" } });
  const greet = memory({
    programs: {
      greet: async ({ argv, stdout }) => {
        await stdout.write(`hello ${argv[1]}\n`);
        return 7;
      },
    },
  });
  const runtime = await assembleRuntime({ config, host, entries: [{ name: "memory", load: async () => greet }] });
  const { stdout, exitCode, outcome } = await runtime.execute("greet", ["edge"]);
  await runtime.close();
  return JSON.stringify({ stdout, exitCode, outcome });
}

export default {
  async test(): Promise<void> {
    const found = await runOne();
    const wanted = '{"stdout":"hello edge\\n","exitCode":7,"outcome":"completed"}';
    if (found !== wanted) throw new Error(`Ran to ${found}`);
    console.log("the core ran a command");
  },
};
