/** Containment by cgroup, in each version that this machine has: whatever a command begins is held, ended, and leaves no cgroup. */

import { existsSync, readdirSync, readFileSync } from "node:fs";
import { dirname } from "node:path";
import { afterAll, describe, expect, type TestContext, test } from "vitest";
import { type Cgroups, createCgroups } from "../../adapters/_native/cgroup.ts";
import { findHierarchies } from "../../adapters/_native/cgroup-mounts.ts";
import { startNative } from "../../adapters/_native/execution.ts";
import { lowerNative, type NativeArtifact, type NativeFacts } from "../../adapters/_native/lower.ts";
import { chooseSpawn } from "../../adapters/_native/spawn.ts";
import type { Limits } from "../../src/types.ts";
import { codesOf } from "./core-parts.ts";
import { never, noIo, planFor, readText } from "./memory-plan.ts";
import { begun, marked, newMarker, polite, stubborn, until } from "./native-processes.ts";
import { scratchDirectory } from "./native-scratch.ts";

const { path: base, makeDirectory } = scratchDirectory();
const spawn = await chooseSpawn(async () => null);
const ownCgroups = () => readFileSync("/proc/thread-self/cgroup", "utf8");

let owners = 0;
const newOwner = () => {
  owners += 1;
  return `unit-${process.pid}-${owners}`;
};

interface Asked {
  readonly limits?: Partial<Limits>;
  readonly signal?: AbortSignal;
}

/** Starts a script in a containment, with its output being read. */
async function start(containment: Cgroups, script: string, { limits = {}, signal = never() }: Asked = {}) {
  const plan = planFor(["/bin/sh", "-c", script], {
    ...{ env: { PATH: "/usr/bin:/bin" }, workingDir: base },
    limits: { ...planFor(["x"]).limits, killGraceMs: 200, ...limits },
  });
  const facts: NativeFacts = { platform: process.platform, containment, prlimit: null };
  const { artifact, warnings, verdicts } = lowerNative(plan, facts);
  const parts = { plan, io: noIo, signal, containment, spawn };
  const execution = await startNative({ ...parts, artifactIn: () => artifact as NativeArtifact });
  const output = Promise.all([readText(execution.stdout), readText(execution.stderr)]);
  return { execution, output, warnings, verdicts, pid: Number(execution.ref.handle) };
}

/** Somebody whose parents have gone, in a session of his own, deaf to all that is polite. */
const daemon = (marker: string) => `(setsid ${stubborn(marker)} >/dev/null 2>&1 &)`;

const versions = [
  ["version 1", findHierarchies().filter(({ version }) => version === 1)],
  ["version 2", findHierarchies().filter(({ version }) => version === 2)],
] as const;

describe.each(versions)("%s", (_, hierarchies) => {
  const before = ownCgroups();
  const containment = createCgroups(hierarchies, newOwner());
  // The kernel can take a moment to let go of one.
  afterAll(() => until(() => containment?.close() ?? true, "the end of its cgroups"));
  /** The containment, or the reason to leave a test out. */
  const held = ({ skip }: TestContext): Cgroups => containment ?? skip("no cgroup of this version can be made here");

  test("holds daemons, and warns of nothing", (context) => {
    const { holdsDaemons, kind, description, trunks } = held(context);
    expect([holdsDaemons, kind]).toEqual([true, "cgroup"]);
    expect(description).toMatch(/^cgroup v[12]$/);
    expect(trunks.every((trunk) => existsSync(trunk))).toBe(true);
  });

  test("ends with a command all that it began, daemons included", async (context) => {
    const marker = newMarker();
    const script = `${daemon(marker)}; ${daemon(marker)}; ${stubborn(marker)} >/dev/null 2>&1 & echo done`;
    const { execution, output, warnings } = await start(held(context), script);
    expect(await execution.ended).toEqual({ kind: "exited", code: 0, warnings: [] });
    expect(await output).toEqual(["done\n", ""]);
    expect([await execution.released, marked(marker), codesOf(warnings)]).toEqual([[], [], []]);
  });

  test("asks all of them when it is stopped, and forces them after the grace period", async (context) => {
    const marker = newMarker();
    const stop = new AbortController();
    const script = `(setsid ${polite(marker)} &); ${daemon(marker)}; exec ${stubborn(marker)}`;
    const { execution, output } = await start(held(context), script, { signal: stop.signal });
    await begun(marker, 3, base);
    const began = performance.now();
    stop.abort();
    expect(await execution.ended).toMatchObject({ kind: "signaled", signal: "SIGKILL", number: 9 });
    expect(performance.now() - began).toBeGreaterThan(190);
    expect(await output).toEqual(["asked\n", ""]);
    expect([await execution.released, marked(marker)]).toEqual([[], []]);
  });

  test("takes nobody else in: the host is where it was, and its other children are its own", async (context) => {
    const { trunks, ...rest } = held(context);
    const stop = new AbortController();
    const { execution, output, pid } = await start({ trunks, ...rest }, "exec sleep 60", {
      signal: stop.signal,
    });
    const places = readFileSync(`/proc/${pid}/cgroup`, "utf8");
    expect(ownCgroups()).toBe(before);
    expect(trunks.some((trunk) => places.includes(trunk.slice(trunk.lastIndexOf("/"))))).toBe(true);
    stop.abort();
    await Promise.all([output, execution.released]);
  });

  test("uses its cgroups again instead of making more", async (context) => {
    const { trunks, ...rest } = held(context);
    const leaves = () =>
      trunks.flatMap((trunk) => readdirSync(trunk, { withFileTypes: true })).filter((entry) => entry.isDirectory())
        .length;
    const run = async () => {
      const { execution, output } = await start({ trunks, ...rest }, "true");
      await Promise.all([output, execution.released]);
    };
    await run();
    const once = leaves();
    for (let round = 0; round < 5; round += 1) await run();
    expect(leaves()).toBe(once);
  });

  test("leaves nothing of a command that could not be started", async (context) => {
    const cgroups = held(context);
    const failed = () => ({
      pid: undefined,
      failure: Promise.resolve(Object.assign(new Error("EPERM"), { code: "EPERM" })),
    });
    const plan = planFor(["/bin/sh"], { workingDir: base });
    const artifact: NativeArtifact = { wrapper: [], argv: plan.argv, env: {}, workingDir: base, sandbox: null };
    const attempt = startNative({
      plan,
      artifactIn: () => artifact,
      io: noIo,
      signal: never(),
      containment: cgroups,
      spawn: failed,
    });
    await expect(attempt).rejects.toMatchObject({ code: "not_executable" });
    expect(ownCgroups()).toBe(before);
  });

  test("keeps the limits that it says it can keep, and says why not of the others", async (context) => {
    const cgroups = held(context);
    const limits = { memoryBytes: 64 * 2 ** 20, pids: 20, cpuTimeMs: 60_000 };
    const { verdicts, execution, output } = await start(cgroups, "echo fine", {
      limits: {
        memoryBytes: cgroups.can.memoryBytes ? limits.memoryBytes : null,
        pids: cgroups.can.pids ? limits.pids : null,
        cpuTimeMs: cgroups.can.cpuTimeMs ? limits.cpuTimeMs : null,
      },
    });
    expect([verdicts.memory.grade, verdicts.pids.grade, verdicts.cpu_time.grade]).toEqual([
      "enforced",
      "enforced",
      "enforced",
    ]);
    expect(await execution.ended).toMatchObject({ kind: "exited", code: 0 });
    expect(await output).toEqual(["fine\n", ""]);
    expect(await execution.released).toEqual([]);
    const facts: NativeFacts = { platform: process.platform, containment: cgroups, prlimit: null };
    const lowered = lowerNative(planFor(["x"], { limits: { ...planFor(["x"]).limits, ...limits } }), facts);
    const reasons = [lowered.verdicts.memory, lowered.verdicts.pids, lowered.verdicts.cpu_time];
    expect(reasons.map(({ grade }) => grade === "enforced")).toEqual([
      cgroups.can.memoryBytes,
      cgroups.can.pids,
      cgroups.can.cpuTimeMs,
    ]);
    for (const { because } of reasons) expect(because).toMatch(/^[A-Z]/);
  });

  test("ends a command that has used up its CPU time, whoever of it used it", async (context) => {
    const cgroups = held(context);
    if (!cgroups.can.cpuTimeMs) context.skip("CPU time is not counted here");
    const marker = newMarker();
    const busy = `sh -c 'while :; do :; done' ${marker}`;
    const { execution, output } = await start(cgroups, `(setsid ${busy} &) ; exec ${busy}`, {
      limits: { cpuTimeMs: 100 },
    });
    const exit = await execution.ended;
    expect(exit).toMatchObject({ kind: "signaled", signal: "SIGKILL" });
    expect(codesOf(exit.warnings ?? [])).toEqual(["cpu_time_spent"]);
    await output;
    expect([await execution.released, marked(marker)]).toEqual([[], []]);
  });

  test("closing ends what runs, and leaves no cgroup in any hierarchy", async (context) => {
    held(context);
    const cgroups = createCgroups(hierarchies, newOwner());
    if (cgroups === null) throw new Error("There was one a moment ago");
    const marker = newMarker();
    const { execution, output } = await start(cgroups, `${daemon(marker)}; exec ${stubborn(marker)}`);
    await begun(marker, 2, base);
    await until(cgroups.close, "the end of all of it");
    expect([marked(marker), cgroups.trunks.filter((trunk) => existsSync(trunk)), cgroups.close()]).toEqual([
      [],
      [],
      true,
    ]);
    expect(await execution.ended).toMatchObject({ kind: "signaled", signal: "SIGKILL" });
    await Promise.all([output, execution.released]);
    expect(ownCgroups()).toBe(before);
  });
});

describe("where none can be made", () => {
  test.each([1, 2] as const)("in version %d there is no containment, and nothing is left of the attempt", (version) => {
    const home = makeDirectory(`no-cgroup-v${version}`);
    expect(createCgroups([{ version, controllers: ["pids"], home }], newOwner())).toBeNull();
    expect(readdirSync(home)).toEqual([]);
    expect(createCgroups([{ version, controllers: [], home: `${home}/none` }], newOwner())).toBeNull();
    expect(createCgroups([], newOwner())).toBeNull();
  });

  test("in one hierarchy, another is taken", ({ skip }) => {
    const real = findHierarchies();
    const home = makeDirectory("no-cgroup");
    const cgroups = createCgroups([{ version: 1, controllers: ["pids", "memory"], home }, ...real], newOwner());
    if (cgroups === null) return skip("no cgroup can be made here");
    expect(cgroups.trunks.map(dirname)).not.toContain(home);
    expect([cgroups.close(), readdirSync(home)]).toEqual([true, []]);
  });
});
