/** `[runtime.docker]`: a container for each command. */

import * as v from "valibot";
import {
  absolutePath,
  alias,
  cores,
  type FragmentCheck,
  flag,
  fragment,
  homePath,
  image,
  innerPath,
  key,
  list,
  mebibytes,
  oneOf,
  type Section,
  size,
  someSeconds,
  table,
  textLike,
  toolImages,
  whole,
} from "../src/config/fragment.ts";

/** The daemon takes no less: moby's `linuxMinMemory`. */
const leastMemory = "6m";

/** Two absolute paths with a colon between them, or one. */
const mount = textLike(
  /^\/[^:]*(:\/[^:]*)?$/,
  'Give "/path/there:/path/in/the/container", or one absolute path for both',
);

const schema = table({
  image: key(v.optional(image, "debian:bookworm-slim"), "Image of commands that no tool gives another"),
  socket: key(
    v.optional(absolutePath, "/var/run/docker.sock"),
    "The daemon's socket, without `unix://`. Looked for in this order: this key where written, `DOCKER_HOST`, the docker context, the default",
  ),
  memory_limit: key(v.optional(size(leastMemory), "256m"), "Memory of one container, swap included", {
    unit: "size",
    aliases: [alias("memory_limit_mb", mebibytes)],
  }),
  cpu_limit: key(v.optional(cores("0.01"), "1.0"), "Processors of one container, in cores"),
  pids_limit: key(v.optional(whole("processes", 1), 100), "Processes and threads of one container at one time"),
  network: key(
    v.optional(oneOf(["none", "bridge", "host"]), "none"),
    "The container's network: `none`, docker's `bridge`, or the `host`'s own",
  ),
  mount_workspace: key(v.optional(flag, true), "Whether the working directory's root is mounted, read-write"),
  workspace_mount_path: key(v.optional(innerPath, "/workspace"), "Where the container sees the workspace"),
  auto_pull: key(v.optional(flag, true), "Whether a missing image is pulled; else it is an error"),
  auto_remove: key(
    v.optional(flag, true),
    "Whether the container is removed after the execution; else it stays, and the result names it",
  ),
  tool_images: key(v.optional(toolImages, {}), "Images by tool, in place of `image`", { namesTools: true }),
  user: key(
    v.optional(
      textLike(/^(auto|image|\d{1,10}(:\d{1,10})?)$/, 'Give "auto", "image", or numbers such as "1000" or "1000:1000"'),
      "auto",
    ),
    "Who the command is: `auto` is the workspace's owner, or nobody (65534) where that is root; `image` is whom the image names; or a number, with its group",
  ),
  read_only: key(
    v.optional(flag, true),
    "Whether the image's files cannot be changed; /tmp and the home directory can",
  ),
  tmpfs_size: key(
    v.optional(size("64k"), "64m"),
    "Size of /tmp, of the home directory and of a private workspace, each; they are in memory and count as the container's",
    { unit: "size" },
  ),
  shm_size: key(v.optional(size("64k"), "64m"), "Size of /dev/shm", { unit: "size" }),
  open_files_limit: key(v.optional(whole("files", 16), 4096), "Open files of one process"),
  file_size_limit: key(v.exactOptional(size("4k")), "Size of the largest file a command may write", { unit: "size" }),
  runtime: key(
    v.exactOptional(textLike(/^[A-Za-z0-9][A-Za-z0-9._-]*$/, "Give the name of a runtime that the daemon knows")),
    "The daemon's runtime for containers, such as gVisor's `runsc`; the daemon's own default where nothing is said",
  ),
  platform: key(
    v.exactOptional(textLike(/^[a-z0-9]+\/[a-z0-9_]+(\/[a-z0-9]+)?$/, 'Give a platform such as "linux/arm64"')),
    "The platform of images; the daemon's own where nothing is said",
  ),
  pull_timeout_secs: key(
    v.optional(someSeconds, 300),
    "The most seconds that a pull may take; it does not count for the command's own limit",
  ),
  allowed_workspace_roots: key(
    v.optional(list(homePath), []),
    "Directories in which a workspace may be, besides `security.allowed_workspace_roots`. Empty: anywhere",
  ),
  readonly_mounts: key(
    v.optional(list(mount), []),
    'Further directories of the daemon\'s machine that every command can read, such as `"/srv/tools:/opt/tools"`: the path there and the path in the container, or one for both',
  ),
  target: key(
    v.optional(oneOf(["daemon", "kubernetes"]), "daemon"),
    "`daemon`, or `kubernetes`: the same policy run as Jobs of the Kubernetes backend",
  ),
});

/** Where commands find a home of their own. */
export const containerHome = "/home/prx";

/** Paths of a container that are ours or the kernel's. */
const reserved = ["/tmp", "/proc", "/sys", "/dev", containerHome];

/** Without these hardly a program of an image can be run, the init among them. */
const ofImages = [
  ...["/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32", "/etc", "/run", "/var/lib"],
  ...["bin", "sbin", "lib", "libexec", "share"].flatMap((name) => [`/usr/${name}`, `/usr/local/${name}`]),
];

/** As the daemon reads a path, which has no `..` in it. */
function plain(path: string): string {
  return `/${path
    .split("/")
    .filter((part) => part !== "" && part !== ".")
    .join("/")}`;
}

function isAtOrBelow(path: string, other: string): boolean {
  return path === other || path.startsWith(other === "/" ? "/" : `${other}/`);
}

/** What keeps a path from being mounted over: what is at it, above it or below it. */
function clash(path: string, others: readonly string[]): string | undefined {
  if (path === "/") return path;
  return others.find((other) => isAtOrBelow(path, other) || isAtOrBelow(other, path));
}

function checkPlaces({ values, report }: FragmentCheck<Section<typeof schema>>): void {
  const workspace = plain(values.workspace_mount_path);
  const taken = clash(workspace, reserved);
  if (taken !== undefined) report(["workspace_mount_path"], `${taken} is not free: choose a path of its own`);
  else if (ofImages.some((path) => isAtOrBelow(path, workspace)))
    report(
      ["workspace_mount_path"],
      'the image\'s own files are there: choose a path of its own, such as "/workspace"',
    );
  const seen = new Set<string>();
  for (const [index, written] of values.readonly_mounts.entries()) {
    const refuse = (why: string) => report(["readonly_mounts", index], why);
    const { from, to } = parseMount(written);
    const place = plain(to);
    const other = clash(place, reserved) ?? (isAtOrBelow(place, workspace) ? workspace : undefined);
    if (to.split("/").includes("..")) refuse('Leave ".." out of the path in the container');
    else if (other !== undefined) refuse(`${other} is not free: choose a path of its own`);
    else if (seen.has(place)) refuse(`${place} is taken by another of them: choose a path of its own`);
    if (/^\/+$/.test(from)) refuse("The whole machine is not for commands to read: name a part");
    seen.add(place);
  }
}

/** A value of `readonly_mounts`. */
export function parseMount(written: string): { readonly from: string; readonly to: string } {
  const [from = "", to = from] = written.split(":");
  return { from, to };
}

/** What only a daemon has. */
const daemonKeys = ["socket", "runtime", "user", "platform", "readonly_mounts"];

/** The most that the low-level runtime takes (opencontainers/runc, libcontainer/user). */
const mostId = 2 ** 31 - 1;

function checkUser({ values: { user }, report }: FragmentCheck<Section<typeof schema>>): void {
  if (/\d/.test(user) && user.split(":").some((id) => Number(id) > mostId))
    report(["user"], `Numbers of users and groups go up to ${mostId}`);
}

function checkTarget({ values, isChanged, report }: FragmentCheck<Section<typeof schema>>): void {
  if (values.target === "daemon") return;
  for (const key of daemonKeys) {
    if (isChanged(key)) report([key], 'It means nothing with target = "kubernetes": leave it out');
  }
  if (values.network === "host")
    report(["network"], 'No Job gets the host\'s network: choose "none" or "bridge" with target = "kubernetes"');
}

export const dockerFragment = fragment({
  name: "docker",
  place: "runtime",
  schema: key(schema, "Commands in containers of their own"),
  check: (check) => {
    checkPlaces(check);
    checkUser(check);
    checkTarget(check);
  },
});

/** `[runtime.docker]` once it is read. */
export type DockerSettings = Section<typeof schema>;
