/** `npm test`: every suite on Node, then Bun, then Deno; the last line is the sum. */

import { spawn } from "node:child_process";
import { existsSync, globSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import type { TestReport } from "./test-report.ts";

const root = fileURLToPath(new URL("..", import.meta.url));
const bin = join(root, "node_modules", ".bin");
const vitest = join("node_modules", "vitest", "vitest.mjs");

const runtimes: Readonly<Record<string, readonly [string, ...string[]]>> = {
  node: [join(bin, "node"), vitest],
  bun: [join(bin, "bun"), "--bun", vitest],
  deno: [join(bin, "deno"), "run", "--allow-all", vitest],
};

const usage = `usage: npm test -- [--runtime node,bun,deno] [--suite unit,contract,…] [--limit-minutes N] [FILE …]

FILE is a part of a test file's path. A suite is a folder under test/. Files named *.node.test.ts run on Node only.`;

interface RuntimeRun extends TestReport {
  readonly runtime: string;
  readonly seconds: number;
}

function testFiles(runtime: string, suites: readonly string[], parts: readonly string[]): readonly string[] {
  return globSync("test/**/*.test.ts", { cwd: root })
    .map((path) => path.replaceAll("\\", "/"))
    .filter((path) => runtime === "node" || !path.endsWith(".node.test.ts"))
    .filter((path) => suites.length === 0 || suites.some((suite) => path.startsWith(`test/${suite}/`)))
    .filter((path) => parts.length === 0 || parts.some((part) => path.includes(part.replace(/^\.\//, ""))))
    .sort();
}

async function runOn(runtime: string, files: readonly string[], limitMs: number): Promise<RuntimeRun> {
  const began = performance.now();
  const folder = mkdtempSync(join(tmpdir(), "prx-test-"));
  const target = join(folder, "report.json");
  try {
    const reporters = ["--reporter=default", "--reporter=./scripts/test-report.ts"];
    const [program, ...args] = runtimes[runtime] ?? ["false"];
    const ending = await runLimited(
      [program, ...args, "run", ...reporters, ...files],
      { ...process.env, PRX_TEST_RUNTIME: runtime, PRX_TEST_REPORT: target },
      limitMs,
    );
    const report = readReport(target, ending);
    return { ...report, runtime, seconds: (performance.now() - began) / 1000 };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** A run that crashed, hung or miscounted failed, whatever its report says. */
function readReport(target: string, ending: string): TestReport {
  const empty: TestReport = { passed: 0, failed: [], skipped: [] };
  const report: TestReport = existsSync(target) ? JSON.parse(readFileSync(target, "utf8")) : empty;
  const ran = report.passed + report.failed.length + report.skipped.length;
  if (ending === "exit 0" && ran > 0 && report.failed.length === 0) return report;
  if (ending === "exit 1" && report.failed.length > 0) return report;
  const said = existsSync(target) ? `reported ${ran} tests` : "left no report";
  return { ...report, failed: [...report.failed, `The vitest process itself: ${ending}, ${said}`] };
}

/** Runs in a process group of its own, so that a hang can be ended with everything under it. */
async function runLimited(argv: readonly string[], env: NodeJS.ProcessEnv, limitMs: number): Promise<string> {
  const [program = "", ...args] = argv;
  const child = spawn(program, args, { cwd: root, env, stdio: ["ignore", "inherit", "inherit"], detached: true });
  const endGroup = (signal: NodeJS.Signals): void => {
    try {
      if (child.pid) process.kill(-child.pid, signal);
    } catch {
      // Nobody is left in the group.
    }
  };
  const interrupt = (signal: NodeJS.Signals): void => {
    endGroup(signal);
    process.exit(130);
  };
  process.on("SIGINT", interrupt).on("SIGTERM", interrupt);
  const ended = Promise.withResolvers<string>();
  child.on("error", (error) => ended.resolve(`could not be started (${error.message})`));
  child.on("exit", (code, signal) => ended.resolve(signal ? `ended by ${signal}` : `exit ${code}`));
  const limit = setTimeout(() => {
    endGroup("SIGKILL");
    ended.resolve(`still running after ${limitMs / 60_000} minutes`);
  }, limitMs);
  try {
    return await ended.promise;
  } finally {
    clearTimeout(limit);
    endGroup("SIGKILL");
    process.off("SIGINT", interrupt).off("SIGTERM", interrupt);
  }
}

function count({ passed, failed, skipped }: TestReport): string {
  const extra = skipped.length > 0 ? `, ${skipped.length} skipped` : "";
  return `${passed} passed, ${failed.length} failed${extra}`;
}

function readOptions() {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: {
      runtime: { type: "string", default: Object.keys(runtimes).join(",") },
      suite: { type: "string", default: "" },
      "limit-minutes": { type: "string", default: "35" },
    },
  });
  const chosen = values.runtime.split(",");
  const suites = values.suite.split(",").filter((suite) => suite !== "");
  const limitMs = Number(values["limit-minutes"]) * 60_000;
  for (const name of chosen) if (!(name in runtimes)) throw new Error(`There is no runtime ${JSON.stringify(name)}`);
  for (const name of suites) {
    if (!existsSync(join(root, "test", name))) throw new Error(`There is no suite ${JSON.stringify(name)}`);
  }
  if (!(limitMs > 0)) throw new Error("--limit-minutes takes a number above 0");
  return { chosen, suites, limitMs, parts: positionals };
}

async function main(): Promise<number> {
  let options: ReturnType<typeof readOptions>;
  try {
    options = readOptions();
  } catch (error) {
    console.error(`${error instanceof Error ? error.message : error}\n${usage}`);
    return 64;
  }
  const runs: RuntimeRun[] = [];
  for (const runtime of options.chosen) {
    const files = testFiles(runtime, options.suites, options.parts);
    console.log(`\n── ${runtime}: ${files.length} test files`);
    if (files.length > 0) runs.push(await runOn(runtime, files, options.limitMs));
  }
  const all = {
    passed: runs.reduce((sum, run) => sum + run.passed, 0),
    failed: runs.flatMap((run) => run.failed.map((name) => `[${run.runtime}] ${name}`)),
    skipped: runs.flatMap((run) => run.skipped.map((test) => ({ ...test, name: `[${run.runtime}] ${test.name}` }))),
  };
  console.log("");
  for (const { name, reason } of all.skipped) console.log(`skipped  ${name}: ${reason}`);
  for (const name of all.failed) console.log(`failed   ${name}`);
  for (const run of runs) console.log(`${run.runtime.padEnd(4)}  ${count(run)} (${run.seconds.toFixed(1)} s)`);
  if (all.passed === 0) console.log("No test passed: that is a failure too");
  console.log(count(all));
  return all.failed.length > 0 || all.passed === 0 ? 1 : 0;
}

process.exitCode = await main();
