/** Marks on every container of ours: whose it is, in words that hold after its host's death. They never change. */

import { readFileSync } from "node:fs";
import { hostname } from "node:os";
import process from "node:process";
import { currentWorld, isKnownOver } from "../../host/process-name.ts";
import { findProcess } from "../../host/process-table.ts";
import type { ExecutionPlan } from "../../src/types.ts";

const prefix = "prx-runtime.";

/** Of every container of ours, whoever began it. */
export const ownerLabel = `${prefix}owner`;
/** `"true"` where the container is to stay. */
export const keptLabel = `${prefix}kept`;
/** The working directory, also where it is copied: it is changed in the end all the same. */
export const directoryLabel = `${prefix}directory`;

/** Who this process is, for whoever finds its containers. */
export type HostMark = Readonly<Record<"host" | "machine" | "boot" | "namespace" | "pid" | "started", string>>;

export function markOfThisHost(): HostMark {
  return {
    ...currentWorld(),
    host: hostname(),
    machine: machineId(),
    pid: String(process.pid),
    started: findProcess(process.pid)?.startedAt ?? "",
  };
}

/** Many machines have the same host name (machine-id(5)). Empty where there is none, as in most containers. */
function machineId(): string {
  try {
    return readFileSync("/etc/machine-id", "utf8").trim();
  } catch {
    return "";
  }
}

/** Pure: the labels of one execution's container. */
export function labelsOf(plan: ExecutionPlan, mark: HostMark, isKept: boolean): Readonly<Record<string, string>> {
  const { id, owner, limits, workspace } = plan;
  const directory = workspace.root === null ? {} : { directory: workspace.root };
  const own = { id, owner, ...mark, "backstop-ms": String(limits.backstopMs), kept: String(isKept), ...directory };
  return Object.fromEntries(Object.entries(own).map(([name, value]) => [prefix + name, value]));
}

/** A container of ours as a list shows it. */
export interface MarkedContainer {
  readonly id: string;
  /** The execution's, which is also in the container's name: labels alone can be inherited from an image. */
  readonly execution: string;
  readonly owner: string;
  readonly mark: HostMark;
  readonly backstopMs: number;
  readonly isKept: boolean;
  readonly isRunning: boolean;
  /** Milliseconds since 1970, by the daemon's clock. */
  readonly createdAt: number;
}

/** An entry of `GET /containers/json`. */
export interface ListedContainer {
  readonly Id: string;
  readonly Names?: readonly string[] | null;
  readonly Labels?: Readonly<Record<string, string>> | null;
  readonly State?: string;
  readonly Created?: number;
  readonly Mounts?: readonly { readonly Type?: string; readonly Source?: string; readonly RW?: boolean }[] | null;
}

export function containerName(execution: string): string {
  return `prx-${execution}`;
}

/** `null` for a container that only looks like one of ours. */
export function readMarks(listed: ListedContainer): MarkedContainer | null {
  const label = (name: string) => listed.Labels?.[prefix + name] ?? "";
  const execution = label("id");
  if (execution === "" || !listed.Names?.some((name) => name === `/${containerName(execution)}`)) return null;
  return {
    id: listed.Id,
    execution,
    owner: label("owner"),
    mark: {
      ...{ host: label("host"), machine: label("machine"), boot: label("boot") },
      ...{ namespace: label("namespace"), pid: label("pid"), started: label("started") },
    },
    backstopMs: Number(label("backstop-ms")) || 0,
    isKept: label("kept") === "true",
    isRunning: listed.State !== "exited" && listed.State !== "created" && listed.State !== "dead",
    createdAt: (listed.Created ?? 0) * 1000,
  };
}

/** Whether the process that began it is known to be over: a pid means something on its own machine, boot and namespace only. */
export function isOrphan({ mark }: MarkedContainer, here: HostMark): boolean {
  if (mark.host !== here.host || mark.machine !== here.machine || mark.pid === "") return false;
  // Another boot is an earlier one only of a machine that is certainly this one.
  if (mark.boot !== here.boot) return here.machine !== "" && mark.boot !== "" && here.boot !== "";
  return mark.namespace === here.namespace && isKnownOver({ pid: Number(mark.pid), startedAt: mark.started });
}
