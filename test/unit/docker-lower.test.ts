/** A plan as the body of a create request: hardened by default, the command in nobody's way, and each verdict true. */

import { describe, expect, test } from "vitest";
import { artifactOf } from "../../adapters/_docker/artifact.ts";
import { lowerDocker } from "../../adapters/_docker/lower.ts";
import { contextWith, dockerPlan, ownedBy } from "./docker-plan.ts";

const bodyOf = (plan = {}, context = {}) => artifactOf(dockerPlan(plan), contextWith(context)).body;

describe("the body", () => {
  test("is hardened by default", () => {
    const { HostConfig, User, Healthcheck } = bodyOf();
    expect(HostConfig).toMatchObject({
      ...{ Init: true, AutoRemove: false, NetworkMode: "none", ReadonlyRootfs: true, IpcMode: "private" },
      ...{ CapDrop: ["ALL"], SecurityOpt: ["no-new-privileges"], LogConfig: { Type: "none" } },
      ...{ Memory: 2 ** 28, MemorySwap: 2 ** 28, NanoCpus: 1e9, PidsLimit: 101 },
      RestartPolicy: { Name: "no" },
    });
    expect(HostConfig.Ulimits).toEqual([
      { Name: "core", Soft: 0, Hard: 0 },
      { Name: "nofile", Soft: 4096, Hard: 4096 },
    ]);
    expect(JSON.stringify(HostConfig)).not.toMatch(/Privileged|CapAdd|seccomp|Devices/);
    expect([User, Healthcheck.Test]).toEqual(["65534:65534", ["NONE"]]);
    expect(HostConfig.Mounts).toEqual([]);
  });

  test("has the command for its entry point and the arguments for its command, also where there are none", () => {
    expect(bodyOf({ argv: ["printf", "ok", "", "-n"] })).toMatchObject({
      Entrypoint: ["printf"],
      Cmd: ["ok", "", "-n"],
    });
    expect(bodyOf({ argv: ["true"] })).toMatchObject({ Entrypoint: ["true"], Cmd: [] });
  });

  test("has the plan's variables, and a home of its own unless the plan names one", () => {
    expect(bodyOf({ env: { A: "1=2\n" } }).Env).toEqual(["HOME=/home/prx", "A=1=2\n"]);
    expect(bodyOf({ env: { HOME: "/tmp" } }).Env).toEqual(["HOME=/tmp"]);
  });

  test("asks for an input only where the plan has one", () => {
    expect(bodyOf()).toMatchObject({ AttachStdin: false, OpenStdin: false, StdinOnce: false });
    expect(bodyOf({ stdin: "inline" })).toMatchObject({ AttachStdin: true, OpenStdin: true, StdinOnce: true });
  });

  test.each([
    ["none", "all", "none"],
    ["bridge", "all", "bridge"],
    ["bridge", "none", "none"],
    ["bridge", "cluster", "none"],
    ["host", "all", "host"],
  ] as const)("with network = %s and a plan for %s it is %s", (network, asked, expected) => {
    expect(bodyOf({ network: asked }, { docker: { network } }).HostConfig.NetworkMode).toBe(expected);
  });

  test("has a limit of processors also where next to nothing is asked for", () => {
    const { limits } = dockerPlan();
    expect(bodyOf({ limits: { ...limits, cpus: 1e-10 } }).HostConfig.NanoCpus).toBe(1e7);
  });

  test("takes every further key", () => {
    const docker = {
      ...{ read_only: false, tmpfs_size: "1m", shm_size: "2m", file_size_limit: "1g", runtime: "runsc", user: "7:8" },
      ...{ readonly_mounts: ["/srv:/opt"], workspace_mount_path: "/project", platform: "linux/arm64" },
    };
    const { body, platform } = artifactOf(dockerPlan(), contextWith({ docker }));
    expect(platform).toBe("linux/arm64");
    expect(body).toMatchObject({ User: "7:8", WorkingDir: "/project" });
    const { HostConfig } = body;
    expect(HostConfig).toMatchObject({ ReadonlyRootfs: false, ShmSize: 2 ** 21, Runtime: "runsc" });
    expect(HostConfig.Ulimits).toContainEqual({ Name: "fsize", Soft: 2 ** 30, Hard: 2 ** 30 });
    expect(HostConfig.Mounts).toMatchObject([{ Type: "bind", Source: "/srv", Target: "/opt", ReadOnly: true }]);
    expect(HostConfig.Tmpfs["/tmp"]).toContain("size=1048576");
    expect(Object.keys(HostConfig.Tmpfs)).toEqual(["/tmp", "/home/prx", "/project"]);
  });

  test("names its owner and the process behind it, so that a later start can tell", () => {
    expect(bodyOf().Labels).toMatchObject({
      ...{ "prx-runtime.owner": "owner-1", "prx-runtime.pid": "42", "prx-runtime.started": "1000" },
      ...{ "prx-runtime.boot": "boot-1", "prx-runtime.kept": "false" },
    });
  });
});

describe("how a workspace reaches the container", () => {
  const reachOf = (plan = {}, context = {}) => artifactOf(dockerPlan(plan), contextWith(context));

  test.each([
    ["an ordinary user's is mounted, as its owner", ownedBy(1000, 50), {}, "mount", { uid: 1000, gid: 50 }],
    ["root's is copied, for nobody", ownedBy(0), {}, "copy", { uid: 65534, gid: 65534 }],
    ["root's is mounted where a user is named", ownedBy(0), { docker: { user: "7" } }, "mount", { uid: 7, gid: 7 }],
    ["a remote daemon's is copied", ownedBy(1000), { facts: { isLocal: false } }, "copy", { uid: 65534, gid: 65534 }],
    [
      "one with other users' numbers is copied",
      ownedBy(1000),
      { facts: { sameUsers: false } },
      "copy",
      { uid: 65534, gid: 65534 },
    ],
    ["the group of root is nobody's", ownedBy(1000, 0), {}, "mount", { uid: 1000, gid: 65534 }],
    ["whom the image names is not known by number", ownedBy(1000), { docker: { user: "image" } }, "mount", null],
    ["none is empty memory", {}, {}, "scratch", { uid: 65534, gid: 65534 }],
    [
      "files need more than memory",
      { files: [{ path: "a", bytes: 1, executable: false }] },
      {},
      "copy",
      { uid: 65534, gid: 65534 },
    ],
    ["outputs too", { outputs: ["a"] }, {}, "copy", { uid: 65534, gid: 65534 }],
  ] as const)("%s", (_, plan, context, reach, user) => {
    expect(reachOf(plan as object, context)).toMatchObject({ reach, user });
  });

  test("a mount is bound and nothing else is, a copy is a volume that goes with the container", () => {
    expect(reachOf(ownedBy(1000)).body.HostConfig.Mounts).toEqual([
      { Type: "bind", Source: "/w", Target: "/workspace", BindOptions: { Propagation: "rprivate" } },
    ]);
    expect(reachOf(ownedBy(0)).body.HostConfig.Mounts).toMatchObject([{ Type: "volume", Target: "/workspace" }]);
  });

  test("a copy of somebody's directory is told in every result", () => {
    const warnings = (plan: object) => lowerDocker(dockerPlan(plan), contextWith()).warnings.map(({ code }) => code);
    expect(warnings(ownedBy(0))).toEqual(["workspace_copied"]);
    expect(warnings(ownedBy(1000))).toEqual([]);
    expect(warnings({ outputs: ["a"] })).toEqual([]);
  });
});

describe("verdicts", () => {
  const grade = (clause: string, plan = {}, context = {}) =>
    lowerDocker(dockerPlan(plan), contextWith(context)).verdicts[clause as "cpu"].grade;

  test("everything but processor time is enforced by default", () => {
    const { verdicts } = lowerDocker(dockerPlan({ limits: { cpuTimeMs: 1000 } as never }), contextWith());
    const weaker = Object.entries(verdicts).filter(([, verdict]) => verdict.grade !== "enforced");
    expect(weaker.map(([clause, verdict]) => [clause, verdict.grade])).toEqual([["cpu_time", "weaker"]]);
  });

  const can = { memory: true, swap: true, cpus: true, pids: true };
  test.each([
    ["memory", { can: { ...can, memory: false } }, {}, "impossible"],
    ["memory", { can: { ...can, swap: false } }, {}, "weaker"],
    ["cpu", { can: { ...can, cpus: false } }, {}, "impossible"],
    ["pids", { can: { ...can, pids: false } }, {}, "impossible"],
    ["privilege", { filtersCalls: false }, {}, "weaker"],
    ["privilege", {}, { user: "0" }, "weaker"],
    ["privilege", {}, { user: "image" }, "weaker"],
    ["privilege", {}, { user: "5" }, "enforced"],
    ["privilege", {}, { runtime: "runsc" }, "impossible"],
    ["privilege", { runtimes: ["runc", "runsc"] }, { runtime: "runsc" }, "enforced"],
  ] as const)("%s with %o and %o is %s", (clause, facts, docker, expected) => {
    expect(grade(clause, {}, { facts, docker })).toBe(expected);
  });

  test("a network for a cluster alone is kept by giving none", () => {
    expect(grade("network", { network: "cluster" })).toBe("stronger");
  });
});

describe("the text", () => {
  const { text, addedEnv } = lowerDocker(
    dockerPlan({ argv: ["sh", "-c", "echo 'it''s'"], env: { TOKEN: "s3cr3t" } }),
    contextWith({ facts: { imageEnv: new Map([["busybox", ["JAVA_HOME"]]]) } }),
  );

  test("is a docker run line and the very body, without a value of the environment", () => {
    expect(text).toMatch(/^docker run --rm --init .* --network none --read-only --cap-drop ALL/);
    expect(text).toContain("--entrypoint sh busybox -c 'echo '\\''it'\\'''\\''s'\\'''");
    expect(text).toContain('"TOKEN=<redacted>"');
    expect(text).not.toContain("s3cr3t");
  });

  test("keeps a container that is to be kept, and quotes what a list of fields would be cut at", () => {
    const docker = { auto_remove: false, readonly_mounts: ["/srv/a,b:/opt"] };
    const line = lowerDocker(dockerPlan(), contextWith({ docker })).text.split("\n")[0];
    expect(line).toMatch(/^docker run --init /);
    expect(line).toContain(`'type=bind,"source=/srv/a,b",target=/opt,readonly,bind-propagation=rprivate'`);
  });

  test("names what the platform and the image add", () => {
    expect(addedEnv).toEqual(["PATH", "HOSTNAME", "HOME", "JAVA_HOME"]);
  });
});
