/** A plan as the body of a create request. Pure. */

import type { ExecutionPlan } from "../../src/types.ts";
import { containerHome, type DockerSettings, parseMount } from "../docker.fragment.ts";
import type { DaemonFacts } from "./facts.ts";
import { containerName, type HostMark, labelsOf } from "./labels.ts";
import type { MountSources } from "./readonly-mounts.ts";

/** How a working directory is made in the container: bound from the host, a volume that is filled and read, or empty memory. */
export type Reach = "mount" | "copy" | "scratch";

/** What a lowering rests on besides the plan. */
export interface LowerContext {
  readonly settings: DockerSettings;
  readonly facts: DaemonFacts;
  readonly mark: HostMark;
  /** Where `readonly_mounts` lead, once that is known. */
  readonly sources?: MountSources;
}

export interface Mount {
  readonly Type: "bind" | "volume";
  readonly Source?: string;
  readonly Target: string;
  readonly ReadOnly?: boolean;
  readonly BindOptions?: { readonly Propagation: "rprivate" };
  readonly VolumeOptions?: { readonly NoCopy: boolean; readonly Labels: Readonly<Record<string, string>> };
}

/** The body of `POST /containers/create`. */
export type CreateBody = ReturnType<typeof bodyOf>;

/** What a container is made and begun with. */
export interface DockerArtifact {
  readonly name: string;
  readonly platform: string | null;
  readonly reach: Reach;
  readonly user: { readonly uid: number; readonly gid: number } | null;
  readonly body: CreateBody;
}

/** Nobody, by the number that Linux has for it. */
const nobody = { uid: 65534, gid: 65534 };

/** The least that daemon and kernel keep (`docker run --cpus`): 0 would be no limit. */
const leastNanoCpus = 1e7;

/** @param reach where it has been found out; else as the plan and the daemon let expect */
export function artifactOf(
  plan: ExecutionPlan,
  context: LowerContext,
  reach = expectedReach(plan, context),
): DockerArtifact {
  const user = userOf(plan, context.settings, reach);
  const { settings } = context;
  return {
    name: containerName(plan.id),
    platform: settings.platform ?? null,
    reach,
    user,
    body: bodyOf(plan, context, { reach, user }),
  };
}

function expectedReach(plan: ExecutionPlan, { settings, facts }: LowerContext): Reach {
  const { root, owner } = plan.workspace;
  if (root === null) return plan.files.length + plan.outputs.length > 0 ? "copy" : "scratch";
  // Root's files are nobody's to write, and other numbers than the host's are nobody's at all.
  const isOwnable = owner !== undefined && owner.uid !== 0;
  return facts.isLocal && facts.sameUsers && (isOwnable || settings.user !== "auto") ? "mount" : "copy";
}

/** `null`: whom the image names. */
function userOf(plan: ExecutionPlan, { user }: DockerSettings, reach: Reach): DockerArtifact["user"] {
  if (user === "image") return null;
  if (user !== "auto") {
    const [uid = nobody.uid, gid = uid] = user.split(":").map(Number);
    return { uid, gid };
  }
  const { owner } = plan.workspace;
  if (reach !== "mount" || owner === undefined || owner.uid === 0) return nobody;
  return { uid: owner.uid, gid: owner.gid === 0 ? nobody.gid : owner.gid };
}

interface Placed {
  readonly reach: Reach;
  readonly user: DockerArtifact["user"];
}

function bodyOf(plan: ExecutionPlan, context: LowerContext, { reach, user }: Placed) {
  const { settings, mark, facts } = context;
  const [command, ...args] = plan.argv;
  const { limits } = plan;
  const labels = labelsOf(plan, mark, !settings.auto_remove);
  const takesInput = plan.stdin !== "none";
  const home = plan.env["HOME"] === undefined ? { HOME: containerHome } : {};
  return {
    Image: plan.image ?? settings.image,
    // The image's own entry point never stands in front of the command.
    Entrypoint: [command],
    Cmd: args,
    Env: Object.entries({ ...home, ...plan.env }).map(([name, value]) => `${name}=${value}`),
    WorkingDir: settings.workspace_mount_path,
    ...(user === null ? {} : { User: `${user.uid}:${user.gid}` }),
    Labels: labels,
    ...{ AttachStdin: takesInput, OpenStdin: takesInput, StdinOnce: takesInput },
    ...{ AttachStdout: true, AttachStderr: true, Tty: false },
    Healthcheck: { Test: ["NONE"] },
    StopSignal: "SIGTERM",
    HostConfig: {
      Init: true,
      AutoRemove: false,
      RestartPolicy: { Name: "no" },
      // What is attached is read; a log on the daemon's disk would only fill it.
      LogConfig: { Type: "none" },
      NetworkMode: plan.network === "all" ? networkOf(settings) : "none",
      ReadonlyRootfs: settings.read_only,
      CapDrop: ["ALL"],
      SecurityOpt: ["no-new-privileges"],
      IpcMode: "private",
      ...(limits.memoryBytes === null ? {} : { Memory: limits.memoryBytes, MemorySwap: limits.memoryBytes }),
      ...(limits.cpus === null ? {} : { NanoCpus: Math.max(leastNanoCpus, Math.round(limits.cpus * 1e9)) }),
      // One more for the init, which is ours.
      ...(limits.pids === null ? {} : { PidsLimit: limits.pids + 1 }),
      Ulimits: ulimitsOf(plan, settings),
      ShmSize: settings.shm_size,
      Tmpfs: tmpfsOf(settings, { reach, user: facts.isPodman ? null : user }),
      Mounts: mountsOf(plan, context, reach, labels),
      ...(settings.runtime === undefined ? {} : { Runtime: settings.runtime }),
    },
  };
}

function networkOf({ network }: DockerSettings): string {
  return network === "none" ? "none" : network;
}

function ulimitsOf({ limits }: ExecutionPlan, { file_size_limit }: DockerSettings) {
  const both = (name: string, value: number) => ({ Name: name, Soft: value, Hard: value });
  return [
    // A dump of memory would land on the daemon's disk.
    both("core", 0),
    ...(limits.openFiles === null ? [] : [both("nofile", limits.openFiles)]),
    ...(limits.cpuTimeMs === null ? [] : [both("cpu", Math.ceil(limits.cpuTimeMs / 1000))]),
    ...(file_size_limit === undefined ? [] : [both("fsize", file_size_limit)]),
  ];
}

/** Programs may be run from them: tools unpack themselves there. */
function tmpfsOf(
  { tmpfs_size, workspace_mount_path }: DockerSettings,
  { reach, user }: Placed,
): Record<string, string> {
  const base = `rw,exec,nosuid,nodev,size=${tmpfs_size}`;
  // Owned by the user as well: the low-level runtime gives a mount the mode of what the image has in its place.
  const owned = user === null ? "" : `,uid=${user.uid},gid=${user.gid}`;
  const own = `${base},mode=${user === null ? "1777" : "0700"}${owned}`;
  return {
    "/tmp": `${base},mode=1777${owned}`,
    [containerHome]: own,
    ...(reach === "scratch" ? { [workspace_mount_path]: own } : {}),
  };
}

function mountsOf(
  { workspace }: ExecutionPlan,
  { settings, sources }: LowerContext,
  reach: Reach,
  labels: Readonly<Record<string, string>>,
): readonly Mount[] {
  const Target = settings.workspace_mount_path;
  const BindOptions = { Propagation: "rprivate" } as const;
  const further = settings.readonly_mounts.map(parseMount).map(({ from, to }): Mount => {
    const Source = sources?.get(from) ?? from;
    return { Type: "bind", Source, Target: to, ReadOnly: true, BindOptions };
  });
  if (reach === "copy") {
    // Without a name: it goes with the container.
    return [{ Type: "volume", Target, VolumeOptions: { NoCopy: true, Labels: labels } }, ...further];
  }
  if (reach === "scratch" || workspace.root === null) return further;
  return [{ Type: "bind", Source: workspace.root, Target, BindOptions }, ...further];
}
