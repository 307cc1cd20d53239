/** Sandboxes around engines, for what engines do not keep by themselves: one for each set of directories that is granted. */

import type { Backend, BackendContext, BackendFactory } from "../../src/backend.ts";
import { amendConfig } from "../../src/config.ts";
import { messageOf } from "../../src/errors.ts";
import { grantedDirectories } from "../../src/grants.ts";
import type { ExecutionPlan, GrantedDirectory, RuntimeAdapter } from "../../src/types.ts";
import type { WasmSettings } from "../wasm.fragment.ts";

/** What can be put around an engine for a plan, or why nothing can. */
export type Guard =
  | { readonly adapter: RuntimeAdapter; readonly why: null }
  | { readonly adapter: null; readonly why: string };

export interface Guards {
  readonly adapters: readonly RuntimeAdapter[];
  of(plan: Pick<ExecutionPlan, "grants" | "network">): Guard;
}

export interface GuardParts extends BackendContext {
  readonly settings: WasmSettings;
  readonly processes: BackendFactory;
}

type Granted = Pick<ExecutionPlan, "grants" | "network">;

/**
 * @param parts `null` where no engine needs any
 * @param shown what an engine needs besides what guests are granted: its program, and what it has compiled
 */
export async function prepareGuards(parts: GuardParts | null, shown: readonly string[]): Promise<Guards> {
  const guards = new Map<string, Guard>();
  for (const granted of parts === null ? [] : everyGrant(parts)) {
    if (guards.has(keyOf(granted)) || granted.grants.every(({ writable }) => writable)) continue;
    guards.set(keyOf(granted), await prepareGuard(parts as GuardParts, granted, shown));
  }
  return {
    adapters: [...guards.values()].flatMap(({ adapter }) => (adapter === null ? [] : [adapter])),
    of: (plan) => guards.get(keyOf(plan)) ?? { adapter: null, why: "none was prepared for what is granted" },
  };
}

/** Of a command that no tool is named for, and of each tool; with the network and, as a request may narrow it, without. */
function everyGrant({ config, settings: { capabilities } }: GuardParts): readonly Granted[] {
  const tools = Object.values(config.tools.custom).flatMap((tool) => (tool.type === "wasm" ? [tool.capabilities] : []));
  const networks = capabilities.network ? (["all", "none"] as const) : (["none"] as const);
  return [{}, ...tools].flatMap((tool) =>
    networks.map((network) => ({ grants: grantedDirectories(capabilities, tool), network })),
  );
}

function keyOf({ grants, network }: Granted): string {
  const of = (writable: boolean) => grants.filter((grant) => grant.writable === writable).map(({ host }) => host);
  return JSON.stringify([of(false).sort(), of(true).sort(), network]);
}

async function prepareGuard(parts: GuardParts, { grants, network }: Granted, shown: readonly string[]): Promise<Guard> {
  const hosts = (wanted: (grant: GrantedDirectory) => boolean) => grants.filter(wanted).map(({ host }) => host);
  const amend = (config: GuardParts["config"], key: string, value: unknown) =>
    amendConfig(config, ["security", "sandbox", key], value);
  try {
    const { backend } = parts.config.security.sandbox;
    const sandbox = {
      backend: backend === "none" ? "auto" : backend,
      allow_network: network === "all",
      readonly_paths: [...hosts(({ writable }) => !writable), ...shown],
      writable_paths: hosts(({ writable }) => writable),
      protected_paths: [],
    };
    const config = Object.entries(sandbox).reduce((made, [key, value]) => amend(made, key, value), parts.config);
    const made: Backend = await parts.processes({ ...parts, config });
    const available = await made.adapter.isAvailable();
    if (available.available) return { adapter: made.adapter, why: null };
    await made.adapter.close?.();
    return { adapter: null, why: available.reason };
  } catch (error) {
    return { adapter: null, why: messageOf(error) };
  }
}
