/**
 * `npm run test:cgroup-v2 -- [--runtime node,bun,deno] [--only NAME,…]`: containment in cgroup version 2, on a kernel where nothing else
 * is mounted. Most development machines and containers have no cgroup of version 2 that may be divided, so a machine is
 * emulated. Takes a minute or two for each runtime.
 */

import {
  chmodSync,
  copyFileSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { homedir, tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { build } from "esbuild";
import { boot, ensureBase, ensureEmulator, ensureKernel, pack, Unavailable } from "./machine.ts";

const root = fileURLToPath(new URL("../../..", import.meta.url));
const here = fileURLToPath(new URL(".", import.meta.url));
const cache = join(process.env["XDG_CACHE_HOME"] || join(homedir(), ".cache"), "prx-runtime", "cgroup-v2");
/** For each runtime. Deno takes the longest to start, and other work may keep the processors busy. */
const limitMs = 20 * 60_000;

/** The files of the runtimes themselves, as the dev dependencies bring them, and what stands before a script. */
const runtimes: Readonly<Record<string, { readonly program: string; readonly words: string }>> = {
  node: { program: "node/bin/node", words: "" },
  bun: { program: "bun/bin/bun.exe", words: "" },
  deno: { program: "deno/deno", words: "run --allow-all --quiet" },
};

interface InitrdParts {
  readonly base: string;
  readonly busybox: string;
  readonly words: string;
  readonly only: string;
}

/** What the machine's memory holds at first: the runtime, and the guest program as it is in the checkout now. */
async function makeInitrd(scratch: string, parts: InitrdParts): Promise<string> {
  const { base, busybox, words, only } = parts;
  const tree = join(scratch, "tree");
  mkdirSync(tree);
  const outfile = join(tree, "guest.mjs");
  await build({ entryPoints: [join(here, "guest.ts")], outfile, bundle: true, format: "esm", platform: "node" });
  copyFileSync(join(here, "init.sh"), join(tree, "init"));
  chmodSync(join(tree, "init"), 0o755);
  writeFileSync(join(tree, "guest-command"), `export RIG_ONLY=${only}\nset -- /bin/runtime ${words} /guest.mjs all\n`);
  const overlay = join(scratch, "overlay.cpio");
  pack(busybox, tree, overlay);
  const initrd = join(scratch, "initrd");
  // The kernel takes several archives one after another.
  writeFileSync(initrd, Buffer.concat([readFileSync(base), readFileSync(overlay)]));
  return initrd;
}

/** Answers how many cases passed and failed. */
async function runOn(name: string, only: string): Promise<{ passed: number; failed: number }> {
  const runtime = runtimes[name];
  if (runtime === undefined) throw new Unavailable(`There is no runtime ${name}`);
  const { kernel, busybox } = ensureKernel(cache);
  const base = ensureBase(cache, { program: realpathSync(join(root, "node_modules", runtime.program)), busybox });
  const scratch = mkdtempSync(join(tmpdir(), "prx-cgroup-v2-"));
  process.once("exit", () => rmSync(scratch, { recursive: true, force: true }));
  const initrd = await makeInitrd(scratch, { base, busybox, words: runtime.words, only });
  const say = (line: string) => console.log(`${name.padEnd(4)}  ${line.trimEnd()}`);
  let summary: RegExpExecArray | null = null;
  const onLine = (line: string) => {
    summary ??= /^(\d+) passed, (\d+) failed\s*$/.exec(line);
    say(line);
  };
  const log = join(cache, `${name}.console.log`);
  const byItself = await boot({ kernel, initrd, log, limitMs, onLine });
  if (summary === null) {
    say(`FAILED ${byItself ? "The machine ended early" : "The machine hung"}: see ${log}`);
    return { passed: 0, failed: 1 };
  }
  const [, passed, failed] = summary as RegExpExecArray;
  return { passed: Number(passed), failed: Number(failed) };
}

const { values } = parseArgs({
  options: {
    runtime: { type: "string", default: Object.keys(runtimes).join(",") },
    only: { type: "string", default: "" },
  },
});
for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => process.exit(130));
let passed = 0;
let failed = 0;
try {
  mkdirSync(cache, { recursive: true });
  ensureEmulator();
  for (const name of values.runtime.split(",")) {
    const result = await runOn(name, values.only);
    passed += result.passed;
    failed += result.failed;
  }
} catch (error) {
  if (!(error instanceof Unavailable)) throw error;
  console.log(`This cannot be run here. ${error.message}`);
}
console.log(`${passed} passed, ${failed} failed`);
process.exitCode = failed > 0 || passed === 0 ? 1 : 0;
