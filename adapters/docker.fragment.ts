/** `[runtime.docker]`: a container for each command. */

import * as v from "valibot";
import {
  absolutePath,
  alias,
  cores,
  type FragmentCheck,
  flag,
  fragment,
  image,
  innerPath,
  key,
  mebibytes,
  oneOf,
  type Section,
  size,
  table,
  toolImages,
  whole,
} from "../src/config/fragment.ts";

/** The daemon takes no less: moby's `linuxMinMemory`. */
const leastMemory = "6m";

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
  target: key(
    v.optional(oneOf(["daemon", "kubernetes"]), "daemon"),
    "`daemon`, or `kubernetes`: the same policy run as Jobs of the Kubernetes backend",
  ),
});

/** What only a daemon has. */
function checkTarget({ values, isChanged, report }: FragmentCheck<Section<typeof schema>>): void {
  if (values.target === "daemon") return;
  if (isChanged("socket")) report(["socket"], 'It means nothing with target = "kubernetes": leave it out');
  if (values.network === "host")
    report(["network"], 'No Job gets the host\'s network: choose "none" or "bridge" with target = "kubernetes"');
}

export const dockerFragment = fragment({
  name: "docker",
  place: "runtime",
  schema: key(schema, "Commands in containers of their own"),
  check: checkTarget,
});
