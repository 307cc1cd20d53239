/** The equivalent `docker run` line and the body of the create request, for a person's eyes: no value of the environment. */

import type { DockerArtifact } from "./artifact.ts";
import { keptLabel } from "./labels.ts";

const hidden = "<redacted>";

export function describeRun(artifact: DockerArtifact): string {
  const { body, name, platform } = artifact;
  const shown = { ...body, Env: body.Env.map((entry) => `${entry.slice(0, entry.indexOf("="))}=${hidden}`) };
  const query = platform === null ? `name=${name}` : `name=${name}&platform=${platform}`;
  return `${runLine(artifact)}\n\nPOST /containers/create?${query}\n${JSON.stringify(shown, null, 2)}`;
}

function runLine({ body, name, platform }: DockerArtifact): string {
  const host = body.HostConfig;
  const flag = (text: string, value: string | number | undefined) => (value === undefined ? [] : [text, String(value)]);
  const words = [
    ...[
      "docker",
      "run",
      ...(body.Labels[keptLabel] === "true" ? [] : ["--rm"]),
      "--init",
      "--name",
      name,
      "--log-driver",
      "none",
      "--network",
      host.NetworkMode,
    ],
    ...(host.ReadonlyRootfs ? ["--read-only"] : []),
    ...["--cap-drop", "ALL", "--security-opt", "no-new-privileges", "--ipc", "private", "--no-healthcheck"],
    ...flag("--user", body.User),
    ...flag("--memory", host.Memory),
    ...flag("--memory-swap", host.MemorySwap),
    ...flag("--cpus", host.NanoCpus === undefined ? undefined : host.NanoCpus / 1e9),
    ...flag("--pids-limit", host.PidsLimit),
    ...host.Ulimits.flatMap(({ Name, Soft, Hard }) => ["--ulimit", `${Name}=${Soft}:${Hard}`]),
    ...["--shm-size", String(host.ShmSize)],
    ...Object.entries(host.Tmpfs).flatMap(([path, options]) => ["--tmpfs", `${path}:${options}`]),
    ...host.Mounts.flatMap((mount) => ["--mount", mountWord(mount)]),
    ...flag("--runtime", host.Runtime),
    ...flag("--platform", platform ?? undefined),
    ...Object.entries(body.Labels).flatMap(([label, value]) => ["--label", `${label}=${value}`]),
    ...body.Env.flatMap((entry) => ["--env", entry.slice(0, entry.indexOf("="))]),
    ...(body.OpenStdin ? ["--interactive"] : []),
    ...["--workdir", body.WorkingDir, "--entrypoint", body.Entrypoint[0] ?? "", body.Image, ...body.Cmd],
  ];
  return words.map(quoted).join(" ");
}

/** `--mount` is read as a line of comma separated values. */
function csvField(text: string): string {
  return /[",\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

function mountWord(mount: DockerArtifact["body"]["HostConfig"]["Mounts"][number]): string {
  const { Type, Source, Target, ReadOnly } = mount;
  return [
    `type=${Type}`,
    ...(Source === undefined ? [] : [csvField(`source=${Source}`)]),
    csvField(`target=${Target}`),
    ...(ReadOnly ? ["readonly"] : []),
    ...(Type === "volume" ? ["volume-nocopy"] : ["bind-propagation=rprivate"]),
  ].join(",");
}

/** As a POSIX shell reads it. */
function quoted(word: string): string {
  return /^[\w./:=,@%+-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
}
