/** What `doctor` finds and says, with scripted backends in the place of the real ones. */

import { describe, expect, test } from "vitest";
import { type MemoryOptions, memory } from "../../adapters/memory.ts";
import { formatReport } from "../../cli/doctor.ts";
import { type Inspection, inspectBackends } from "../../mod.ts";

const paint = (_: unknown, text: string) => text;
const down = { available: false, reason: "No daemon answers", remedy: "Start it" } as const;

function backends(options: Readonly<Record<string, Partial<MemoryOptions>>>) {
  const own = Object.entries(options).map(([name, more]) => [name, memory({ programs: {}, name, ...more })]);
  return Object.fromEntries(own);
}

const inspect = (backend: string, options: Readonly<Record<string, Partial<MemoryOptions>>>) =>
  inspectBackends({ runtime: { backend } }, { backends: backends(options) });

const sandboxes = [
  { name: "bubblewrap", problem: null },
  { name: "firejail", problem: "It is not installed: install it" },
];

const report = (inspection: Inspection) => {
  const about = { version: "1.2.3", runtime: "Node 24", platform: "linux x64", notes: [], sandboxes };
  return formatReport({ ...about, file: { path: null, problem: null }, inspection }, { paint });
};

describe("auto", () => {
  test("takes the first that works, and says what to do about the others", async () => {
    const inspection = await inspect("auto", { docker: { availability: down }, wasm: {}, native: {} });
    expect(inspection).toMatchObject({ configured: "auto", chosen: "native", refused: null });
    const text = report(inspection);
    expect(text).toMatch(/ {2} +docker +does not work +\d+ ms +No daemon answers\. Start it\n/);
    expect(text).toMatch(/→ +native +works/);
    expect(text).toContain("Commands run on native");
  });

  test("refuses where nothing works", async () => {
    const inspection = await inspect("auto", { docker: { availability: down }, native: { availability: down } });
    expect(inspection).toMatchObject({ chosen: null, refused: expect.stringContaining("No backend can be used here") });
    expect(report(inspection)).toContain("No backend can be used here");
  });
});

test("a configured backend that does not work is refused, and the others are still probed", async () => {
  const inspection = await inspect("docker", { docker: { availability: down }, native: {} });
  expect(inspection).toMatchObject({ configured: "docker", chosen: null });
  expect(inspection.refused).toBe("Backend docker cannot be used: No daemon answers. Start it");
  expect(inspection.backends[0]).toMatchObject({ backend: "docker", clauses: null });
  expect(inspection.backends.find(({ backend }) => backend === "native")).toMatchObject({
    availability: { available: true },
    chosen: false,
  });
});

test("each that works says what it makes of every limit", async () => {
  const inspection = await inspect("native", { native: { grades: { memory: "impossible", pids: "weaker" } } });
  const [native] = inspection.backends;
  const grades = Object.fromEntries((native?.clauses ?? []).map(({ clause, verdict }) => [clause, verdict.grade]));
  expect(grades).toMatchObject({ memory: "impossible", pids: "weaker", cpu: "enforced", network: "enforced" });
  expect(report(inspection)).toMatch(/What native keeps\n.*\n[\s\S]*memory +impossible/);
});

test("a factory that throws is a backend that does not work", async () => {
  const broken = () => {
    throw new Error("no such library");
  };
  const inspection = await inspectBackends({ runtime: { backend: "docker" } }, { backends: { docker: broken } });
  expect(inspection.refused).toContain("no such library");
});
