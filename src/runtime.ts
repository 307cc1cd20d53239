/** The runtime: request → plan → adapter → supervise → result. */

import type { Backend, BackendEntry } from "./backend.ts";
import type { Config } from "./config.ts";
import { RuntimeError } from "./errors.ts";
import { explainPlan } from "./explain.ts";
import type { Host } from "./host.ts";
import { createCollector } from "./output.ts";
import { buildPlan, type Planned } from "./plan.ts";
import { type CheckedRequest, checkRequest } from "./request.ts";
import type { ExecuteOptions, ExecutionOutput, Runtime } from "./runtime-types.ts";
import { autoOrder, createProbe, describeCandidates, type Probed, selectBackend, unavailable } from "./select.ts";
import { streamEvents } from "./stream-events.ts";
import { type Ending, type Listener, supervise } from "./supervise.ts";
import { findTool } from "./tools.ts";
import type { BackendName, RuntimeAdapter, Warning } from "./types.ts";
import { type Judgement, judge, refuseUnenforceable } from "./verdict.ts";

/** What a runtime is made of. */
export interface RuntimeParts {
  readonly config: Config;
  readonly host: Host;
  readonly entries: readonly BackendEntry[];
  /** Takes the place of `auto`. */
  readonly backend?: BackendName | undefined;
  /** Told once what was chosen and why, and of what no single execution can carry. @default nothing is told */
  readonly log?: ((message: Warning) => void) | undefined;
}

/** A request on its way: planned, lowered and judged. */
interface Prepared {
  readonly request: CheckedRequest;
  readonly planned: Planned;
  readonly adapter: RuntimeAdapter;
  readonly judgement: Judgement;
  /** What stands in the result whatever happens. */
  readonly warnings: readonly Warning[];
}

/**
 * Chooses and verifies the backend, then answers the runtime.
 *
 * @throws RuntimeError `backend_unavailable` with the reason and the remedy.
 */
export async function assembleRuntime({
  config,
  host,
  entries,
  backend,
  log = () => {},
}: RuntimeParts): Promise<Runtime> {
  const make = async ({ name, load }: BackendEntry): Promise<Backend> => {
    const factory = await load?.();
    if (factory === undefined) throw new RuntimeError("internal", `Backend ${name} has no factory`);
    return factory({ config, host, log });
  };
  /** All that were made, those that were only looked at included: each may hold something of the machine. */
  const made: Promise<Backend>[] = [];
  const closeBackends = () => Promise.allSettled(made.map(async (backend) => (await backend).adapter.close?.()));
  const probe = createProbe(
    entries,
    (entry) => {
      const backend = make(entry);
      made.push(backend);
      return backend;
    },
    host.now,
  );
  const used = new Map<BackendName, Probed>();
  const configured = config.runtime.backend === "auto" ? (backend ?? "auto") : config.runtime.backend;
  const hasModules = Object.values(config.tools.custom).some(({ type }) => type === "wasm");
  const choice = await selectBackend(configured, probe, host, hasModules).catch(async (error: unknown) => {
    await closeBackends();
    throw error;
  });
  log({
    code: "backend_chosen",
    message: choice.candidates.map(({ backend, note }) => `${backend}: ${note}`).join("; "),
  });

  const closing = new AbortController();
  const running = new Set<Promise<unknown>>();

  const reach = async (name: BackendName): Promise<Probed> => {
    const probed = await probe(name);
    if (!probed.availability.available) throw unavailable(name, probed.availability);
    used.set(name, probed);
    return probed;
  };
  await reach(choice.name);

  const prepare = async (command: string, args: readonly string[], options: ExecuteOptions): Promise<Prepared> => {
    if (closing.signal.aborted) throw new RuntimeError("closed", "The runtime is closed: create another one");
    const request = checkRequest(command, args, options);
    const tool = findTool(config, request);
    const name = chooseFor(options.backend, tool.backend ?? choice.name);
    const { backend } = used.get(name) ?? (await reach(name));
    if (backend === null) throw new RuntimeError("internal", `Backend ${name} is not loaded`);
    const { adapter, policy } = backend;
    const planned = await buildPlan({
      ...{ request, tool, policy, config, host, backend: name },
      capabilities: adapter.capabilities,
    });
    const lowering = adapter.lower(planned.plan);
    const judgement = judge(planned.plan, lowering);
    const warnings = [...planned.warnings, ...judgement.warnings, ...lowering.warnings];
    return { request, planned, adapter, judgement, warnings };
  };

  const run = async (prepared: Prepared, listener: Listener, left?: AbortSignal): Promise<Ending> => {
    const { request, planned, adapter, judgement, warnings } = prepared;
    refuseUnenforceable(judgement, planned.plan.backend);
    const { stdin, signal } = request.options;
    const cancels = [closing.signal, ...(signal ? [signal] : []), ...(left ? [left] : [])];
    const supervised = supervise({
      plan: planned.plan,
      adapter,
      io: { files: request.fileBytes, ...(request.stdinBytes === null ? {} : { stdin: request.stdinBytes }) },
      stdin: stdin instanceof ReadableStream ? stdin : undefined,
      cancels,
      listener,
      now: host.now,
    });
    running.add(supervised);
    try {
      const ending = await supervised;
      return { ...ending, warnings: [...warnings, ...ending.warnings] };
    } finally {
      running.delete(supervised);
    }
  };

  const runtime: Runtime = {
    name: choice.name,
    isAvailable: async () => (await used.get(choice.name)?.backend?.adapter.isAvailable())?.available ?? false,
    execute: async (command, args = [], options = {}) => {
      const prepared = await prepare(command, args, options);
      const cap = prepared.planned.plan.limits.maxOutputBytes;
      const stdout = createCollector(cap);
      const stderr = createCollector(cap);
      const ending = await run(prepared, { stdout: stdout.push, stderr: stderr.push });
      return assembleOutput(ending, stdout, stderr);
    },
    stream: (command, args = [], options = {}) =>
      streamEvents(async (listener, left) => {
        const prepared = await prepare(command, args, options);
        const { id, backend } = prepared.planned.plan;
        return run(prepared, { ...listener, started: () => listener.started?.({ id, backend }) }, left);
      }, closing.signal),
    explain: async (command, args = [], options = {}) => {
      const { planned, adapter, judgement, warnings } = await prepare(command, args, options);
      const order = [...new Set([...autoOrder(host), choice.name, planned.plan.backend])];
      const candidates = await describeCandidates(order, choice.name, configured, probe);
      return explainPlan({ planned, lowering: adapter.lower(planned.plan), judgement, warnings, candidates });
    },
    close: async () => {
      closing.abort();
      await Promise.allSettled([...running]);
      await closeBackends();
    },
    [Symbol.asyncDispose]: () => runtime.close(),
  };
  return runtime;
}

/** Moving a command of its own accord to a backend that isolates less would widen the operator's policy. */
function chooseFor(requested: BackendName | undefined, own: BackendName): BackendName {
  if (requested === undefined || requested === own) return own;
  if (requested !== "native") return requested;
  throw new RuntimeError(
    "backend_not_allowed",
    `Backend native isolates less than ${own}, which applies here: leave out the option backend, or configure the tool's own`,
    { backend: requested },
  );
}

function assembleOutput(
  ending: Ending,
  stdout: ReturnType<typeof createCollector>,
  stderr: ReturnType<typeof createCollector>,
): ExecutionOutput {
  return {
    ...ending,
    stdout: stdout.text(),
    stderr: stderr.text(),
    stdoutBytes: stdout.bytes(),
    stderrBytes: stderr.bytes(),
    stdoutTruncated: stdout.truncated,
    stderrTruncated: stderr.truncated,
    stdoutTotalBytes: stdout.totalBytes,
    stderrTotalBytes: stderr.totalBytes,
  };
}
