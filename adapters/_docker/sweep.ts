/** Removes the containers of hosts that are no more, and nothing else. */

import { messageOf } from "../../src/errors.ts";
import type { Leftover, SweepReport } from "../../src/types.ts";
import { containerCalls } from "./containers.ts";
import type { DaemonClient } from "./daemon.ts";
import {
  containerName,
  type HostMark,
  isOrphan,
  type ListedContainer,
  type MarkedContainer,
  ownerLabel,
  readMarks,
} from "./labels.ts";
import { removeContainer } from "./remove.ts";

export interface SweepOptions {
  readonly mark: HostMark;
  /** Our own owner's name, and its executions that still run: what else bears it is left over. */
  readonly owner: string;
  readonly isActive: (execution: string) => boolean;
  /** Asked of owners whose process cannot be seen from here. @default nobody is presumed dead */
  readonly isAlive?: ((owner: string) => Promise<boolean>) | undefined;
  /** Milliseconds since 1970. */
  readonly now: number;
}

/** Beyond a command's own limit and grace, for clocks that differ. */
const clockMarginMs = 10 * 60_000;
/** At one time. */
const atOnce = 8;

/** Every container of ours on the daemon, whoever began it. */
export async function listMarked(client: DaemonClient, owner?: string): Promise<readonly MarkedContainer[]> {
  const label = owner === undefined ? ownerLabel : `${ownerLabel}=${owner}`;
  const query = { all: true, filters: JSON.stringify({ label: [label] }) };
  const listed = (await client.ask({ method: "GET", path: "/containers/json", query })) as readonly ListedContainer[];
  return listed.map(readMarks).filter((marked) => marked !== null);
}

/** @throws DaemonError when the daemon does not answer at all; a single container that stays is named. */
export async function sweepContainers(client: DaemonClient, options: SweepOptions): Promise<SweepReport> {
  const marked = await listMarked(client);
  const leftovers: MarkedContainer[] = [];
  for (const container of marked) if (await isLeft(container, options)) leftovers.push(container);
  const failed: Leftover[] = [];
  for (let at = 0; at < leftovers.length; at += atOnce) {
    const batch = leftovers.slice(at, at + atOnce).map((container) => endContainer(client, container));
    failed.push(...(await Promise.all(batch)).filter((left) => left !== null));
  }
  return { found: leftovers.length, removed: leftovers.length - failed.length, failed };
}

async function isLeft(container: MarkedContainer, options: SweepOptions): Promise<boolean> {
  const { owner, isActive, isAlive, mark, now } = options;
  // What is to be kept is only ended.
  if (container.isKept && !container.isRunning) return false;
  if (container.owner === owner) return !isActive(container.execution);
  if (isOrphan(container, mark)) return true;
  if (container.backstopMs > 0 && now > container.createdAt + container.backstopMs + clockMarginMs) return true;
  return isAlive !== undefined && !(await isAlive(container.owner));
}

async function endContainer(client: DaemonClient, container: MarkedContainer): Promise<Leftover | null> {
  const calls = containerCalls(client, container.id);
  const name = containerName(container.execution);
  if (!container.isKept) return removeContainer(calls, name);
  try {
    await calls.kill("SIGKILL");
    return null;
  } catch (error) {
    return { kind: "container", name, reason: messageOf(error) };
  }
}
