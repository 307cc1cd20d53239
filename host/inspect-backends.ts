/** What works here: every backend probed, and what each that can be used makes of every clause. Runs no command. */

import type { Backend, BackendEntry } from "../src/backend.ts";
import type { Config } from "../src/config.ts";
import { messageOf, RuntimeError } from "../src/errors.ts";
import type { Host } from "../src/host.ts";
import { buildPlan } from "../src/plan.ts";
import { checkRequest } from "../src/request.ts";
import type { Candidate, ClauseReport } from "../src/runtime-types.ts";
import { autoOrder, createProbe, describeCandidates, selectBackend } from "../src/select.ts";
import { findTool } from "../src/tools.ts";
import type { BackendName, Warning } from "../src/types.ts";
import { judge } from "../src/verdict.ts";

/** A backend that was looked at. */
export interface InspectedBackend extends Candidate {
  /** What it makes of every clause for a command that asks for every limit; `null` where it cannot be used. */
  readonly clauses: readonly ClauseReport[] | null;
}

/** What `createRuntime` would do here, and everything around it. */
export interface Inspection {
  /** `runtime.backend`. */
  readonly configured: BackendName;
  /** The backend that would run what nothing else is said of; `null` where there is none. */
  readonly chosen: BackendName | null;
  /** Why `createRuntime` would fail, or `null`. */
  readonly refused: string | null;
  readonly backends: readonly InspectedBackend[];
}

/** What is inspected. */
export interface InspectionParts {
  readonly config: Config;
  readonly host: Host;
  readonly entries: readonly BackendEntry[];
  /** Takes the place of `auto`. */
  readonly backend?: BackendName | undefined;
  readonly log?: ((message: Warning) => void) | undefined;
}

/** Probes every backend, whichever is configured. Throws nothing for one that cannot be used: that is what it tells. */
export async function inspectEntries({
  config,
  host,
  entries,
  backend,
  log = () => {},
}: InspectionParts): Promise<Inspection> {
  const probe = createProbe(
    entries,
    async ({ name, load }) => {
      const factory = await load?.();
      if (factory === undefined) throw new RuntimeError("internal", `Backend ${name} has no factory`);
      return factory({ config, host, log });
    },
    host.now,
  );
  const configured = config.runtime.backend === "auto" ? (backend ?? "auto") : config.runtime.backend;
  const choice = await selectBackend(configured, probe, host).catch(messageOf);
  const chosen = typeof choice === "string" ? null : choice.name;
  const names = [...autoOrder(host), ...entries.filter(isOffered).map(({ name }) => name)];
  const listed = [...new Set(configured === "auto" ? names : [configured, ...names])];
  const candidates = await describeCandidates(listed, chosen, configured, probe);
  const backends: InspectedBackend[] = [];
  for (const candidate of candidates) {
    const { backend } = await probe(candidate.backend);
    const isUsable = backend !== null && candidate.availability.available;
    const clauses = isUsable ? await judgeAll(backend, { config, host, name: candidate.backend }) : null;
    await backend?.adapter.close?.();
    backends.push({ ...candidate, clauses });
  }
  return { configured, chosen, refused: typeof choice === "string" ? choice : null, backends };
}

/** A test double that this build does not hold is no news. */
function isOffered({ name, load }: BackendEntry): boolean {
  return load !== null || name !== "memory";
}

async function judgeAll(
  backend: Backend,
  { config, host, name }: { config: Config; host: Host; name: BackendName },
): Promise<readonly ClauseReport[]> {
  const limits = { memoryBytes: 2 ** 28, cpus: 1, cpuTimeMs: 60_000, pids: 100, openFiles: 256 };
  const { policy, adapter } = backend;
  // `files` asks for a private working directory, so that no rule about directories gets in the way.
  const files = policy.filesystem === "host" && adapter.capabilities.files ? { files: {} } : {};
  const request = checkRequest("prx-runtime-inspection", [], { limits, ...files });
  const tool = findTool(config, request);
  const { plan } = await buildPlan({
    ...{ request, tool, policy, config, host, backend: name },
    capabilities: adapter.capabilities,
  });
  return judge(plan, adapter.lower(plan)).clauses;
}
