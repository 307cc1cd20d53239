/** The wasmtime program: its words, and what it says of how a guest ended. Pure. */

import type { ExecutionPlan, ExitKind } from "../../src/types.ts";
import type { Engine, EngineCommand, EngineRun, GuestEnd } from "./engine.ts";
import { exitModuleName, redirectExit } from "./exit-note.ts";
import { trapped } from "./trap.ts";

/** Tables hold numbers of the host's size: this many elements in all take 16 MiB. */
const mostTableElements = 1_000_000;
/** wasmtime(1) itself, and the libraries in it, act on them: the guest gets them all the same. */
const actsOnEngine = /^(?:LD_|GLIBC_|MALLOC_|RUST_|RUSTC?_?LOG|WASMTIME_|TOKIO_|RAYON_|RES_|LOCALDOMAIN$|HOSTALIASES$)/;
/** A trap ends the program as abort(3) would. */
const abortCode = 134;

/** @param exitArtifact the compiled module that takes the place of `proc_exit` */
export function wasmtimeEngine(program: string, version: string, exitArtifact: string): Engine {
  return {
    ...{ name: "wasmtime", program, version },
    ...{ keepsReadOnly: false, opensDescriptors: true, handsOver: false },
    refuses: () => null,
    keyOf: ({ digest }) => `wasmtime-${version}-${digest}`,
    prepared: redirectExit,
    compile: () => compileCommand(program),
    command: (run) => commandOf(program, exitArtifact, run),
    ending: endingOf,
  };
}

/** Compiles `module.wasm` of its working directory into `module.bin`. */
export function compileCommand(program: string): EngineCommand {
  return { argv: [program, "compile", "-C", "cache=n", "module.wasm", "-o", "module.bin"], env: {} };
}

function commandOf(program: string, exitArtifact: string, run: EngineRun): EngineCommand {
  const { plan, artifact, binary, preopens } = run;
  const { env, engineEnv } = variablesOf(plan);
  return {
    argv: [
      ...([program, "run", "-C", "cache=n", "--allow-precompiled"] as const),
      ...["-W", limitsOf(run)],
      ...["-S", networkOf(plan)],
      ...preopens.flatMap(({ host, guest }) => [`--dir=${host}::${guest}`]),
      ...env,
      `--argv0=${plan.argv[0]}`,
      ...(binary.kind === "module" ? ["--preload", `${exitModuleName}=${exitArtifact}`] : []),
      ...[artifact, ...plan.argv.slice(1)],
    ],
    env: engineEnv,
  };
}

/** What memories and tables have in common is shared out evenly among them. */
function limitsOf({ plan, binary: { kind, memories, tables } }: EngineRun): string {
  const each = (sum: number, count: number) => Math.floor(sum / Math.max(1, count));
  // As many as are declared: a component could make one module many times. The module that stands for the exit has one more.
  const own = kind === "module" ? 1 : 0;
  const limits = [`max-memories=${memories.length + own}`, `max-tables=${tables + own}`];
  if (plan.limits.memoryBytes !== null)
    limits.push(`max-memory-size=${each(plan.limits.memoryBytes, memories.length)}`);
  return [...limits, `max-table-elements=${each(mostTableElements, tables)}`].join(",");
}

function networkOf({ network }: ExecutionPlan): string {
  const given = network === "all" ? "y" : "n";
  return `inherit-network=${given},allow-ip-name-lookup=${given},tcp=${given},udp=${given},cli-exit-with-code=y`;
}

/**
 * A guest's variables by the environment of the program, because everybody on the machine sees its arguments; those that
 * would act on the program itself by its arguments.
 */
function variablesOf({ env }: ExecutionPlan): {
  readonly env: readonly string[];
  readonly engineEnv: EngineCommand["env"];
} {
  const words: string[] = [];
  const engineEnv: Record<string, string> = {};
  for (const [name, value] of Object.entries(env)) {
    if (actsOnEngine.test(name)) {
      words.push(`--env=${name}=${value}`);
      continue;
    }
    words.push(`--env=${name}`);
    engineEnv[name] = value;
  }
  return { env: words, engineEnv };
}

function endingOf({ exit, kind, note, lastWords }: GuestEnd): ReturnType<Engine["ending"]> {
  if (exit.kind !== "exited") return exit;
  if (note !== null) return { kind: "exited", code: note };
  // A component can exit with this code; only a trap is told of besides.
  if (exit.code === abortCode && (kind === "module" || /wasm trap: |wasm backtrace:/.test(lastWords)))
    return trapped(/wasm trap: (.*)/.exec(lastWords)?.[1] ?? "for a reason that the engine does not tell", lastWords);
  return exit satisfies ExitKind;
}
