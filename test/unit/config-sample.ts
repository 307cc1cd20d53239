/** One definition for the tests of the configuration, and every key that it has. */

import { fragments } from "../../adapters/fragments.ts";
import { parseConfig } from "../../src/config/toml.ts";
import { defineConfig } from "../../src/config.ts";
import { RuntimeError } from "../../src/errors.ts";

export const definition = defineConfig(fragments);

export const parse = (toml: string) => parseConfig(definition, toml, { origin: "config.toml" });

/** The value at a dotted path. */
export function at(config: unknown, path: string): unknown {
  return path.split(".").reduce((table, name) => (table as Record<string, unknown> | undefined)?.[name], config);
}

/** The message with which an action is refused as a wrong configuration. */
export function refusal(action: () => unknown): string {
  try {
    action();
  } catch (thrown) {
    if (thrown instanceof RuntimeError && thrown.code === "config_invalid") return thrown.message;
    throw thrown;
  }
  throw new Error("It was accepted");
}

/** Every key: its default, another value in TOML, and what that is once it is read. */
export const keys: readonly (readonly [path: string, fallback: unknown, written: string, value: unknown])[] = [
  ["runtime.backend", "auto", '"docker"', "docker"],
  ["runtime.default_timeout_secs", 60, "0.5", 0.5],
  ["runtime.max_timeout_secs", 0, "3600", 3600],
  ["runtime.max_output_bytes", 1_048_576, "4096", 4096],
  ["runtime.env_whitelist", ["PATH", "HOME", "TERM", "LANG", "USER"], '["PATH", "TZ"]', ["PATH", "TZ"]],
  ["runtime.kill_grace_secs", 2, "0", 0],
  ["runtime.native.shell", "/bin/bash", '"/bin/sh"', "/bin/sh"],
  ["runtime.native.env.RUSTFLAGS", undefined, '"-D warnings"', "-D warnings"],
  ["runtime.docker.image", "debian:bookworm-slim", '"alpine:3"', "alpine:3"],
  ["runtime.docker.socket", "/var/run/docker.sock", '"/run/user/1000/docker.sock"', "/run/user/1000/docker.sock"],
  ["runtime.docker.memory_limit", 268_435_456, '"1.5g"', 1_610_612_736],
  ["runtime.docker.cpu_limit", 1, '"500m"', 0.5],
  ["runtime.docker.pids_limit", 100, "32", 32],
  ["runtime.docker.network", "none", '"bridge"', "bridge"],
  ["runtime.docker.mount_workspace", true, "false", false],
  ["runtime.docker.workspace_mount_path", "/workspace", '"/project"', "/project"],
  ["runtime.docker.auto_pull", true, "false", false],
  ["runtime.docker.auto_remove", true, "false", false],
  ["runtime.docker.tool_images.python", undefined, '"python:3.13-slim"', "python:3.13-slim"],
  ["runtime.docker.user", "auto", '"1000:50"', "1000:50"],
  ["runtime.docker.read_only", true, "false", false],
  ["runtime.docker.tmpfs_size", 67_108_864, '"128m"', 134_217_728],
  ["runtime.docker.shm_size", 67_108_864, '"1m"', 1_048_576],
  ["runtime.docker.open_files_limit", 4096, "256", 256],
  ["runtime.docker.file_size_limit", undefined, '"1g"', 1_073_741_824],
  ["runtime.docker.runtime", undefined, '"runsc"', "runsc"],
  ["runtime.docker.platform", undefined, '"linux/arm64"', "linux/arm64"],
  ["runtime.docker.pull_timeout_secs", 300, "20", 20],
  ["runtime.docker.allowed_workspace_roots", [], '["/srv", "~/work"]', ["/srv", "~/work"]],
  ["runtime.docker.readonly_mounts", [], '["/srv/tools:/opt/tools"]', ["/srv/tools:/opt/tools"]],
  ["runtime.docker.target", "daemon", '"kubernetes"', "kubernetes"],
  ["runtime.kubernetes.kubeconfig", undefined, '"~/.kube/prod"', "~/.kube/prod"],
  ["runtime.kubernetes.context", undefined, '"prod"', "prod"],
  ["runtime.kubernetes.namespace", "prx", '"agents"', "agents"],
  [
    "runtime.kubernetes.image",
    "debian:bookworm-slim",
    `"reg.example:5000/a/b@sha256:${"ab".repeat(32)}"`,
    `reg.example:5000/a/b@sha256:${"ab".repeat(32)}`,
  ],
  ["runtime.kubernetes.tool_images.python", undefined, '"python:3.13-slim"', "python:3.13-slim"],
  ["runtime.kubernetes.memory_limit", 268_435_456, '"256Mi"', 268_435_456],
  ["runtime.kubernetes.cpu_limit", 1, "2", 2],
  ["runtime.kubernetes.ephemeral_storage_limit", 268_435_456, '"1Gi"', 1_073_741_824],
  ["runtime.kubernetes.network", "none", '"cluster"', "cluster"],
  ["runtime.kubernetes.workspace", "copy", '"none"', "none"],
  ["runtime.kubernetes.workspace_claim", undefined, '"data"\nworkspace = "pvc"', "data"],
  ["runtime.kubernetes.workspace_sub_path", undefined, '"a/b"\nworkspace = "pvc"\nworkspace_claim = "data"', "a/b"],
  ["runtime.kubernetes.workspace_size", 1_073_741_824, '"2g"\nworkspace = "ephemeral"', 2_147_483_648],
  ["runtime.kubernetes.start_timeout_secs", 120, "30", 30],
  ["runtime.kubernetes.ttl_secs", 300, "0", 0],
  ["runtime.kubernetes.runtime_class", undefined, '"gvisor"', "gvisor"],
  ["runtime.kubernetes.service_account", undefined, '"prx-runner"', "prx-runner"],
  ["runtime.kubernetes.node_selector.disk", undefined, '"ssd"', "ssd"],
  [
    "runtime.kubernetes.tolerations",
    [],
    '[{ key = "gpu", operator = "Equal", value = "yes", effect = "NoExecute", toleration_seconds = 5 }]',
    [{ key: "gpu", operator: "Equal", value: "yes", effect: "NoExecute", toleration_seconds: 5 }],
  ],
  ["runtime.kubernetes.priority_class", undefined, '"low"', "low"],
  ["runtime.kubernetes.image_pull_policy", undefined, '"Always"', "Always"],
  ["runtime.kubernetes.image_pull_secrets", [], '["regcred"]', ["regcred"]],
  ["runtime.kubernetes.queue_name", undefined, '"agents"', "agents"],
  ["runtime.kubernetes.labels.team", undefined, '"core"', "core"],
  ["runtime.kubernetes.annotations.note", undefined, '"free text, any"', "free text, any"],
  ["runtime.wasm.engine", "auto", '"wasmtime"', "wasmtime"],
  ["runtime.wasm.wasmtime_program", undefined, '"~/bin/wasmtime"', "~/bin/wasmtime"],
  ["runtime.wasm.module_path", "~/.local/share/openprx/wasm/", '"/srv/wasm"', "/srv/wasm"],
  ["runtime.wasm.timeout_secs", 30, "5", 5],
  ["runtime.wasm.max_memory_mb", 128, "64", 64],
  ["runtime.wasm.capabilities.filesystem_read", [], '["/workspace", "/srv/a::/a"]', ["/workspace", "/srv/a::/a"]],
  ["runtime.wasm.capabilities.filesystem_write", [], '["/tmp"]', ["/tmp"]],
  ["runtime.wasm.capabilities.network", false, "true", true],
  ["runtime.wasm.capabilities.env_vars", [], '["HOME"]', ["HOME"]],
  ["runtime.remote.url", undefined, '"https://prx.example/base"', "https://prx.example/base"],
  ["runtime.remote.token", undefined, '"s3cret"\nurl = "http://127.0.0.1:8080"', "s3cret"],
  ["security.accept_weaker", [], '["memory", "pids"]', ["memory", "pids"]],
  ["security.allowed_workspace_roots", [], '["/srv", "~/work"]', ["/srv", "~/work"]],
  ["security.sandbox.backend", "none", '"bubblewrap"', "bubblewrap"],
  ["security.sandbox.allow_network", false, "true", true],
  ["security.sandbox.writable_paths", [], '["/data"]', ["/data"]],
  ["security.sandbox.protected_paths", [], '[".git/hooks/"]', [".git/hooks/"]],
  ["security.sandbox.bubblewrap_program", undefined, '"/opt/bubblewrap/bin/bwrap"', "/opt/bubblewrap/bin/bwrap"],
  ["security.sandbox.firejail_program", undefined, '"/opt/firejail/bin/firejail"', "/opt/firejail/bin/firejail"],
  ["security.sandbox.readonly_paths", [], '["/etc/ssl"]', ["/etc/ssl"]],
  ["security.resources.max_memory_mb", undefined, "512", 512],
  ["security.resources.max_cpu_time_seconds", undefined, "60", 60],
  ["security.resources.max_subprocesses", undefined, "10", 10],
  ["security.resources.max_open_files", undefined, "256", 256],
];

/** A key of {@link keys} as TOML. */
export function toml(path: string, written: string): string {
  const steps = path.split(".");
  return `[${steps.slice(0, -1).join(".")}]\n${steps.at(-1)} = ${written}\n`;
}
