/** Which backend runs what: detection for `auto`, once, with every candidate's probe kept for `explain`. */

import type { Backend, BackendEntry } from "./backend.ts";
import { messageOf, RuntimeError } from "./errors.ts";
import type { Host } from "./host.ts";
import type { Candidate } from "./runtime-types.ts";
import type { Availability, BackendName } from "./types.ts";

/** Loads and probes a backend once; later calls answer the same. Never throws. */
export type Probe = (name: BackendName) => Promise<Probed>;

export interface Probed {
  readonly backend: Backend | null;
  readonly availability: Availability;
  readonly probeMs: number;
}

/** A probe over the registry's entries. */
export function createProbe(
  entries: readonly BackendEntry[],
  load: (entry: BackendEntry) => Promise<Backend>,
  now: () => number,
): Probe {
  const known = new Map<BackendName, Promise<Probed>>();
  const probe = async (name: BackendName): Promise<Probed> => {
    const entry = entries.find((candidate) => candidate.name === name);
    if (entry === undefined || entry.load === null) {
      const reason = entry?.absent ?? `No backend is called ${JSON.stringify(name)}`;
      const remedy = `Choose one of ${entries
        .filter(({ load }) => load !== null)
        .map((one) => one.name)
        .join(", ")}`;
      return { backend: null, availability: { available: false, reason, remedy }, probeMs: 0 };
    }
    const since = now();
    try {
      const backend = await load(entry);
      const availability = await backend.adapter.isAvailable();
      return { backend, availability, probeMs: now() - since };
    } catch (error) {
      const reason = `It could not be made ready: ${messageOf(error)}`;
      return {
        backend: null,
        availability: { available: false, reason, remedy: "Mend that, or choose another backend" },
        probeMs: now() - since,
      };
    }
  };
  return (name) => {
    const before = known.get(name);
    if (before !== undefined) return before;
    const found = probe(name);
    known.set(name, found);
    return found;
  };
}

/** The order of `auto`. WASM is for the tools that are modules, so it is never the default for commands. */
export function autoOrder(host: Host): readonly BackendName[] {
  return isInCluster(host) ? ["kubernetes", "docker", "wasm", "native"] : ["docker", "wasm", "native"];
}

/** The backend that runs what nothing else is said of, and everything that was looked at on the way. */
export interface Choice {
  readonly name: BackendName;
  readonly candidates: readonly Candidate[];
}

/**
 * @param hasModules whether a tool is a WASM module: without one nobody waits for a look at engines
 * @throws RuntimeError `backend_unavailable` with the reason and the remedy.
 */
export async function selectBackend(
  configured: BackendName,
  probe: Probe,
  host: Host,
  hasModules = true,
): Promise<Choice> {
  if (configured !== "auto") {
    const { availability } = await probe(configured);
    if (!availability.available) throw unavailable(configured, availability);
    return { name: configured, candidates: await describeCandidates([configured], configured, configured, probe) };
  }
  const order = autoOrder(host).filter((name) => name !== "wasm" || hasModules);
  const name = await firstAvailable(order, probe);
  const candidates = await describeCandidates(order, name, configured, probe);
  if (name === null) {
    const reasons = candidates.map(({ backend, note }) => `${backend}: ${note}`).join("; ");
    throw new RuntimeError("backend_unavailable", `No backend can be used here: ${reasons}`);
  }
  return { name, candidates };
}

/** Every candidate with its probe, for `explain` and `doctor`. */
export async function describeCandidates(
  names: readonly BackendName[],
  chosen: BackendName | null,
  configured: BackendName,
  probe: Probe,
): Promise<readonly Candidate[]> {
  const candidates: Candidate[] = [];
  for (const backend of names) {
    const { availability, probeMs } = await probe(backend);
    candidates.push({
      backend,
      chosen: backend === chosen,
      availability,
      probeMs,
      note: note(backend, availability, chosen, configured),
    });
  }
  return candidates;
}

export function unavailable(
  name: BackendName,
  availability: Availability & { readonly available: false },
): RuntimeError {
  return new RuntimeError(
    "backend_unavailable",
    `Backend ${name} cannot be used: ${availability.reason}. ${availability.remedy}`,
    {
      backend: name,
    },
  );
}

async function firstAvailable(order: readonly BackendName[], probe: Probe): Promise<BackendName | null> {
  for (const name of order) {
    if (name !== "wasm" && (await probe(name)).availability.available) return name;
  }
  return null;
}

function note(
  name: BackendName,
  availability: Availability,
  chosen: BackendName | null,
  configured: BackendName,
): string {
  const explicit = configured !== "auto";
  if (name === chosen) return explicit ? "Chosen by runtime.backend" : "The first of the order that can be used";
  if (!availability.available) return `${availability.reason}. ${availability.remedy}`;
  if (name === "wasm") return 'Runs the tools of type wasm; runtime.backend = "wasm" would make it the default';
  return `Can be used; runtime.backend = ${JSON.stringify(name)} would choose it`;
}

function isInCluster(host: Host): boolean {
  return host.env["KUBERNETES_SERVICE_HOST"] !== undefined;
}
