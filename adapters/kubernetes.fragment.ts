/** `[runtime.kubernetes]`: a Job for each command. */

import * as v from "valibot";
import {
  alias,
  cores,
  type FragmentCheck,
  fragment,
  homePath,
  image,
  key,
  list,
  mebibytes,
  named,
  oneOf,
  relativePath,
  type Section,
  size,
  someSeconds,
  table,
  text,
  textLike,
  toolImages,
  whole,
} from "../src/config/fragment.ts";

const label = "[A-Za-z0-9](?:[A-Za-z0-9._-]{0,61}[A-Za-z0-9])?";
const subdomain = "[a-z0-9](?:[a-z0-9.-]{0,251}[a-z0-9])?";
const objectName = textLike(new RegExp(`^${subdomain}$`), "Give a name of lower-case letters, digits, dashes and dots");
const namespaceName = textLike(
  /^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$/,
  "Give a name of at most 63 lower-case letters, digits and dashes",
);
const labelKey = textLike(
  new RegExp(`^(?:${subdomain}/)?${label}$`),
  "Give a label's key: at most 63 letters, digits, dashes, dots and underscores, after a domain and a slash if there is one",
);
const labelValue = textLike(
  new RegExp(`^(?:${label})?$`),
  "Give a label's value: at most 63 letters, digits, dashes, dots and underscores, the first and last a letter or digit",
);
const quantity = (least: string, fallback: string) => v.optional(size(least), fallback);

const toleration = table({
  key: key(v.exactOptional(labelKey), "The taint's key; without one, and with `Exists`, every taint is tolerated"),
  operator: key(
    v.exactOptional(oneOf(["Exists", "Equal"])),
    "Whether the taint's value counts; Kubernetes takes `Equal`",
  ),
  value: key(v.exactOptional(labelValue), "The taint's value, with `Equal`"),
  effect: key(
    v.exactOptional(oneOf(["NoSchedule", "PreferNoSchedule", "NoExecute"])),
    "The taint's effect; without one, every effect",
  ),
  toleration_seconds: key(
    v.exactOptional(whole("seconds", 0)),
    "How long a pod stays after the taint came, with `NoExecute`",
  ),
});

const schema = table({
  kubeconfig: key(
    v.exactOptional(homePath),
    "A kubeconfig file. Without it: the pod's own service account, else `KUBECONFIG`, else `~/.kube/config`. A leading `~` is the host user's home",
  ),
  context: key(v.exactOptional(text), "The kubeconfig's context; without it, its current one"),
  namespace: key(v.optional(namespaceName, "prx"), "Where the Jobs are"),
  image: key(v.optional(image, "debian:bookworm-slim"), "Image of commands that no tool gives another"),
  tool_images: key(v.optional(toolImages, {}), "Images by tool, in place of `image`", { namesTools: true }),
  memory_limit: key(quantity("1m", "256m"), "Memory of one pod", {
    unit: "size",
    aliases: [alias("memory_limit_mb", mebibytes)],
  }),
  cpu_limit: key(v.optional(cores("0.01"), "1.0"), "Processors of one pod, in cores"),
  ephemeral_storage_limit: key(quantity("1m", "256m"), "What one pod may write to its node's disk", { unit: "size" }),
  network: key(
    v.optional(oneOf(["none", "cluster", "all"]), "none"),
    "Reach of a pod: nothing, the `cluster`, or `all` but the cloud's metadata address",
  ),
  workspace: key(
    v.optional(oneOf(["none", "copy", "pvc", "ephemeral"]), "copy"),
    "How a pod gets the workspace: not at all, as a `copy`, on an existing claim (`pvc`), or as an empty volume of its own (`ephemeral`)",
  ),
  workspace_claim: key(v.exactOptional(objectName), 'The claim, with `workspace = "pvc"`'),
  workspace_sub_path: key(v.exactOptional(relativePath), 'The directory on the claim, with `workspace = "pvc"`'),
  workspace_size: key(quantity("1m", "1g"), 'Size of the volume, with `workspace = "ephemeral"`', { unit: "size" }),
  start_timeout_secs: key(v.optional(someSeconds, 120), "Seconds from the Job's creation to the command's begin"),
  ttl_secs: key(
    v.optional(whole("seconds", 0), 300),
    "Seconds after which the cluster removes a finished Job, should we not have done it",
  ),
  runtime_class: key(v.exactOptional(objectName), "The pods' runtime class, such as gVisor's"),
  service_account: key(v.exactOptional(objectName), "The pods' service account; its token is never mounted"),
  node_selector: key(v.optional(named(labelKey, labelValue), {}), "Labels that a node must have"),
  tolerations: key(v.optional(list(toleration), []), "Taints that the pods tolerate"),
  priority_class: key(v.exactOptional(objectName), "The pods' priority class"),
  image_pull_policy: key(
    v.exactOptional(oneOf(["Always", "IfNotPresent", "Never"])),
    "When a node pulls the image; without it, as Kubernetes decides by the tag",
  ),
  image_pull_secrets: key(v.optional(list(objectName), []), "Names of secrets with which images are pulled"),
  queue_name: key(v.exactOptional(objectName), "The Kueue queue in which the Jobs wait"),
  labels: key(v.optional(named(labelKey, labelValue), {}), "Labels of Jobs and pods besides ours"),
  annotations: key(
    v.optional(named(labelKey, v.string("Give a string in quotes")), {}),
    "Annotations of Jobs and pods besides ours",
  ),
});

/** Keys that mean something with one kind of workspace only. */
const workspaceKeys = [
  ["workspace_claim", "pvc"],
  ["workspace_sub_path", "pvc"],
  ["workspace_size", "ephemeral"],
] as const;

function checkWorkspace({ values, isChanged, report }: FragmentCheck<Section<typeof schema>>): void {
  for (const [name, mode] of workspaceKeys) {
    if (isChanged(name) && values.workspace !== mode) {
      report(
        [name],
        `It means nothing with workspace = "${values.workspace}": leave it out, or write workspace = "${mode}"`,
      );
    }
  }
  if (values.workspace === "pvc" && values.workspace_claim === undefined) {
    report(["workspace_claim"], 'It is required with workspace = "pvc": name an existing claim');
  }
}

function checkTolerations({ values, report }: FragmentCheck<Section<typeof schema>>): void {
  for (const [index, { key: taint, operator, value, effect, toleration_seconds }] of values.tolerations.entries()) {
    const at = (name: string) => ["tolerations", index, name];
    if (operator === "Exists" && value !== undefined) report(at("value"), 'Leave it out with operator = "Exists"');
    if (taint === undefined && operator !== "Exists")
      report(at("key"), 'Name the taint, or write operator = "Exists" for every taint');
    if (toleration_seconds !== undefined && effect !== "NoExecute") {
      report(at("toleration_seconds"), 'It means nothing without effect = "NoExecute"');
    }
  }
}

export const kubernetesFragment = fragment({
  name: "kubernetes",
  place: "runtime",
  schema: key(schema, "Commands in Jobs of a cluster"),
  check(check) {
    checkWorkspace(check);
    checkTolerations(check);
  },
});
