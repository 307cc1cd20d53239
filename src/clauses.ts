/** The terms of a policy: what can be demanded, how much of it, and how well it is kept. */

/** What a plan can demand. The first four isolate; the rest are resources. */
export type Clause = IsolationClause | ResourceClause;
export type IsolationClause = "network" | "filesystem" | "privilege" | "environment";
export type ResourceClause = "cpu" | "cpu_time" | "memory" | "pids" | "files";

/** Every clause, in the order in which verdicts are shown. */
export const clauses: readonly Clause[] = [
  "network",
  "filesystem",
  "privilege",
  "environment",
  "cpu",
  "cpu_time",
  "memory",
  "pids",
  "files",
];

/** How well a lowering keeps a clause. */
export type Grade = "enforced" | "stronger" | "weaker" | "impossible";

/** A clause's grade and, in one sentence without a full stop, what makes it so. */
export interface Verdict {
  readonly grade: Grade;
  readonly because: string;
}

/** Reach of the network, from nothing to whatever the host reaches. Narrower comes first. */
export type NetworkMode = "none" | "cluster" | "all";

/** What of the host's file system is seen, narrower first: nothing, the workspace, everything the host's user sees. */
export type FilesystemMode = "none" | "workspace" | "host";

/** What the command may do with the host's privileges, narrower first: none of them and no new ones, or what the host's user may. */
export type PrivilegeMode = "none" | "host";

/** Limits of one execution. `null` means that nobody asked for a limit; times are in milliseconds, sizes in bytes. */
export interface Limits {
  /** From the command's first instruction to the request to stop; 0 means no limit. */
  readonly timeoutMs: number;
  /** A platform's own deadline, behind ours, for the case that we die; 0 means none. */
  readonly backstopMs: number;
  /** Between the polite and the forced stop. */
  readonly killGraceMs: number;
  /** Kept of each stream by `execute`; what is beyond is counted and dropped. */
  readonly maxOutputBytes: number;
  readonly memoryBytes: number | null;
  /** Cores, fractions included. */
  readonly cpus: number | null;
  readonly cpuTimeMs: number | null;
  readonly pids: number | null;
  readonly openFiles: number | null;
}

/** Which clause each limit of a resource belongs to. */
export const resourceLimitNames = {
  memoryBytes: "memory",
  cpus: "cpu",
  cpuTimeMs: "cpu_time",
  pids: "pids",
  openFiles: "files",
} as const satisfies Partial<Record<keyof Limits, ResourceClause>>;

/** The limits of resources, as opposed to those of time and output. */
export type ResourceLimits = Pick<Limits, keyof typeof resourceLimitNames>;
