/** What a case works with, and the cleaning up after it. */

import type { Runtime } from "../../src/runtime-types.ts";
import { ContractViolation, check } from "./check.ts";
import type {
  ContractCase,
  ContractConfig,
  ContractContext,
  ContractDirectory,
  ContractScale,
  ContractTarget,
} from "./target.ts";

const defaultScale: ContractScale = { parallel: 50, rapid: 500, slackMs: 3000 };
const pollMs = 20;

/** Runs one case, closes what it opened, and checks that no process of it is left. */
export async function runCase(contractCase: ContractCase, target: ContractTarget): Promise<void> {
  const opened: Opened = { runtimes: [], directories: [] };
  const context = createContext(target, opened);
  try {
    await contractCase.run(context);
  } finally {
    for (const runtime of opened.runtimes) await runtime.close();
    for (const directory of opened.directories) await directory.remove();
  }
  await context.until(async () => (await context.survivors()) === 0, "Marked processes are left after the case");
}

interface Opened {
  readonly runtimes: Runtime[];
  readonly directories: ContractDirectory[];
}

function createContext(target: ContractTarget, opened: Opened): ContractContext {
  const marker = { name: "PRX_CONTRACT_MARKER", value: crypto.randomUUID() };
  let shared: Promise<Runtime> | null = null;

  const context: ContractContext = {
    target,
    marker,
    scale: { ...defaultScale, ...target.scale },
    async runtime(config: ContractConfig = {}) {
      const runtime = await target.createRuntime(config);
      opened.runtimes.push(runtime);
      return runtime;
    },
    async execute(fixture, args, options) {
      shared ??= context.runtime();
      return context.executeOn(await shared, fixture, args, options);
    },
    executeOn(runtime, fixture, args = [], options = {}) {
      const invocation = context.invoke(fixture, args);
      return runtime.execute(invocation.command, invocation.args, context.marked(options));
    },
    streamOn(runtime, fixture, args = [], options = {}) {
      const invocation = context.invoke(fixture, args);
      return runtime.stream(invocation.command, invocation.args, context.marked(options));
    },
    invoke(fixture, args = []) {
      const invocation = target.invoke(fixture, args);
      check(invocation !== null, `${target.name} has no fixture ${fixture}: name the case in "skip"`);
      return invocation;
    },
    marked: (options = {}) => ({ ...options, env: { ...options.env, [marker.name]: marker.value } }),
    async directory() {
      check(target.directory !== undefined, `${target.name} has no directories`);
      const directory = await target.directory();
      opened.directories.push(directory);
      return directory;
    },
    survivors: async () => (await target.survivors?.(marker.name, marker.value)) ?? 0,
    endMarked: async () => target.endMarked?.(marker.name, marker.value),
    until,
  };
  return context;
}

async function until(claim: () => boolean | Promise<boolean>, what: string, withinMs = 5000): Promise<void> {
  const deadline = performance.now() + withinMs;
  while (!(await claim())) {
    if (performance.now() > deadline) throw new ContractViolation(what);
    await new Promise((resolve) => setTimeout(resolve, pollMs));
  }
}
