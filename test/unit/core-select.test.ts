/** Which backend runs what: found by probing once, and told with everything that was looked at. */

import { describe, expect, test } from "vitest";
import type { BackendEntry } from "../../src/backend.ts";
import { RuntimeError } from "../../src/errors.ts";
import { createProbe, describeCandidates, selectBackend } from "../../src/select.ts";
import type { Availability } from "../../src/types.ts";
import { entryOf, hostOf } from "./core-parts.ts";

const no = (reason: string): Availability => ({ available: false, reason, remedy: "Start it" });
const outside = hostOf();
const inCluster = hostOf({ env: { KUBERNETES_SERVICE_HOST: "10.0.0.1" } });

/** A probe over the given backends, and how often each was loaded. */
function probing(entries: readonly BackendEntry[], now = () => 0) {
  const loads: string[] = [];
  const probe = createProbe(
    entries,
    async ({ name, load }) => {
      loads.push(name);
      const factory = await load?.();
      if (factory === undefined) throw new Error("No factory");
      return factory({} as never);
    },
    now,
  );
  return { probe, loads };
}

const all = ["native", "docker", "wasm", "kubernetes", "remote"];
const having = (...available: readonly string[]) =>
  all.map((name) => entryOf(name, available.includes(name) ? {} : { found: no(`${name} is not here`) }));

describe("auto", () => {
  test.each([
    [outside, ["docker", "native", "wasm", "kubernetes"], "docker"],
    [outside, ["native", "wasm", "kubernetes", "remote"], "native"],
    [inCluster, ["docker", "native", "kubernetes"], "kubernetes"],
    [inCluster, ["docker", "native"], "docker"],
    [inCluster, ["native", "remote"], "native"],
  ])("takes the first of its order that can be used", async (host, available, expected) => {
    const { probe } = probing(having(...available));
    const { name, candidates } = await selectBackend("auto", probe, host);
    expect(name).toBe(expected);
    const order = host === inCluster ? ["kubernetes", "docker", "wasm", "native"] : ["docker", "wasm", "native"];
    expect(candidates.map(({ backend }) => backend)).toEqual(order);
    expect(candidates.filter(({ chosen }) => chosen).map(({ backend }) => backend)).toEqual([expected]);
  });

  test("loads no engine where no tool is a module", async () => {
    const { probe, loads } = probing(having("native", "wasm"));
    const { candidates } = await selectBackend("auto", probe, outside, false);
    expect(candidates.map(({ backend }) => backend)).toEqual(["docker", "native"]);
    expect(loads).toEqual(["docker", "native"]);
  });

  test("says of every candidate why, and what would change it", async () => {
    const { probe } = probing(having("native", "wasm"));
    const { candidates } = await selectBackend("auto", probe, outside);
    expect(candidates.map(({ backend, note }) => [backend, note])).toEqual([
      ["docker", "docker is not here. Start it"],
      ["wasm", 'Runs the tools of type wasm; runtime.backend = "wasm" would make it the default'],
      ["native", "The first of the order that can be used"],
    ]);
    const both = await selectBackend("auto", probing(having("native", "docker")).probe, outside);
    expect(both.candidates.at(-1)?.note).toBe('Can be used; runtime.backend = "native" would choose it');
  });

  test("finds nothing where there is only WASM or a remote, and says why of each", async () => {
    const attempt = selectBackend("auto", probing(having("wasm", "remote")).probe, outside);
    await expect(attempt).rejects.toBeInstanceOf(RuntimeError);
    await expect(attempt).rejects.toMatchObject({ code: "backend_unavailable", backend: null });
    await expect(attempt).rejects.toThrow("docker: docker is not here. Start it; wasm: Runs the tools of type wasm");
  });
});

describe("a backend named by the operator", () => {
  test.each(all)("%s is taken, and nothing else is looked at", async (name) => {
    const { probe, loads } = probing(having(...all));
    const choice = await selectBackend(name, probe, inCluster);
    expect(choice.name).toBe(name);
    expect(choice.candidates).toMatchObject([{ backend: name, chosen: true, note: "Chosen by runtime.backend" }]);
    expect(loads).toEqual([name]);
  });

  test("is never replaced by another", async () => {
    const { probe, loads } = probing(having("native", "wasm"));
    const attempt = selectBackend("docker", probe, outside);
    await expect(attempt).rejects.toMatchObject({
      ...{ code: "backend_unavailable", backend: "docker", started: "no" },
      message: "Backend docker cannot be used: docker is not here. Start it",
    });
    expect(loads).toEqual(["docker"]);
  });

  test("that this build does not hold, or nobody knows, is refused with what there is", async () => {
    const absent: BackendEntry = { name: "docker", load: null, absent: "This build has no docker" };
    const { probe } = probing([absent, entryOf("native"), entryOf("memory")]);
    await expect(selectBackend("docker", probe, outside)).rejects.toThrow(
      "Backend docker cannot be used: This build has no docker. Choose one of native, memory",
    );
    await expect(selectBackend("dokcer", probe, outside)).rejects.toThrow('No backend is called "dokcer"');
    await expect(selectBackend("constructor", probe, outside)).rejects.toThrow("No backend is called");
  });
});

describe("a probe", () => {
  test("is made once, and once for those who ask at the same time", async () => {
    let probes = 0;
    const counted = entryOf("native", {
      isAvailable: async () => {
        probes += 1;
        return { available: true, details: "" };
      },
    });
    const { probe, loads } = probing([counted]);
    const [one, other] = await Promise.all([probe("native"), probe("native")]);
    expect(await probe("native")).toBe(one);
    expect(other).toBe(one);
    expect([probes, loads]).toEqual([1, ["native"]]);
  });

  test("never throws: what could not be loaded or looked at cannot be used", async () => {
    const broken: BackendEntry = { name: "docker", load: () => Promise.reject(new Error("No such module")) };
    const thrower = entryOf("wasm", { isAvailable: () => Promise.reject("No engine") });
    const { probe } = probing([broken, thrower]);
    expect(await probe("docker")).toMatchObject({
      backend: null,
      availability: { available: false, reason: "It could not be made ready: No such module" },
    });
    expect(await probe("wasm")).toMatchObject({ availability: { reason: "It could not be made ready: No engine" } });
  });

  test("tells how long it took", async () => {
    let time = 0;
    const slow = entryOf("native", {
      isAvailable: async () => {
        time += 40;
        return { available: true, details: "" };
      },
    });
    const { probe } = probing([slow], () => time);
    await probe("native");
    const [candidate] = await describeCandidates(["native"], null, "auto", probe);
    expect(candidate).toMatchObject({ probeMs: 40, chosen: false });
  });
});
