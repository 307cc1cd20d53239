/** Containment by cgroup: whatever a command begins is held, daemons included, and the kernel keeps its limits. */

import { type Branches, createLeafPool, openCell } from "./cgroup-cell.ts";
import { type Branch, openBranch } from "./cgroup-leaf.ts";
import type { Hierarchy } from "./cgroup-mounts.ts";
import { obstacleTo } from "./cgroup-obstacles.ts";
import type { CellLimits, Containment } from "./containment.ts";

/** Containment whose cgroups have to be known to whoever cleans up after a crash. */
export interface Cgroups extends Containment {
  readonly trunks: readonly string[];
}

/**
 * Containment in the given hierarchies, or `null` where none can hold processes.
 *
 * @param owner names the directory below which this host keeps its cgroups
 */
export function createCgroups(hierarchies: readonly Hierarchy[], owner: string): Cgroups | null {
  const opened = new Map<string, Branch | null>();
  const open = (wanted: (hierarchy: Hierarchy) => boolean): Branch | null => {
    for (const hierarchy of hierarchies.filter(wanted)) {
      const branch = opened.has(hierarchy.home) ? opened.get(hierarchy.home) : tryOpen(hierarchy, owner);
      opened.set(hierarchy.home, branch ?? null);
      if (branch) return branch;
    }
    return null;
  };
  const having = (controller: string) => open((hierarchy) => canHave(hierarchy, controller));
  // Version 1 is preferred where both are there: entering costs no grace period of the kernel's.
  const tree = having("pids") ?? open(({ version }) => version === 1) ?? open(({ version }) => version === 2);
  if (tree === null) return null;
  const branches: Branches = {
    tree,
    memory: having("memory"),
    pids: having("pids"),
    cpu: having("cpuacct") ?? open(({ version }) => version === 2),
  };
  const pool = createLeafPool(tree);
  const all = [...opened.values()].filter((branch) => branch !== null);
  return {
    kind: "cgroup",
    description: `cgroup v${tree.version}`,
    holdsDaemons: true,
    can: { memoryBytes: branches.memory !== null, pids: branches.pids !== null, cpuTimeMs: branches.cpu !== null },
    cannot: whyNot(branches, hierarchies),
    trunks: all.map(({ trunk }) => trunk),
    open: (id, limits, { monitored = false } = {}) => openCell({ branches, pool, id, limits, monitored }),
    close: () => {
      pool.close();
      return all.map((branch) => branch.close()).every((gone) => gone);
    },
  };
}

/** Version 2 counts CPU time without a controller; version 1 has one for it. */
function canHave({ version, controllers, home }: Hierarchy, controller: string): boolean {
  return version === 1 ? controllers.includes(controller) : obstacleTo(home, controller) === null;
}

/** Of version 2 where it is there: nobody takes the trouble to divide version 1 any more. */
function whyNot(
  { memory, pids }: Branches,
  hierarchies: readonly Hierarchy[],
): Partial<Record<keyof CellLimits, string>> {
  const home = hierarchies.find(({ version }) => version === 2)?.home;
  if (home === undefined) return {};
  const memoryBytes = memory === null ? obstacleTo(home, "memory") : null;
  const processes = pids === null ? obstacleTo(home, "pids") : null;
  return { ...(memoryBytes === null ? {} : { memoryBytes }), ...(processes === null ? {} : { pids: processes }) };
}

function tryOpen(hierarchy: Hierarchy, owner: string): Branch | null {
  try {
    return openBranch(hierarchy, owner);
  } catch {
    return null;
  }
}
