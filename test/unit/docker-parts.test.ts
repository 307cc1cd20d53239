/** The small pure parts of the docker backend: frames, endings, names of images, labels, credentials, versions. */

import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { InspectedContainer } from "../../adapters/_docker/containers.ts";
import { endingOf } from "../../adapters/_docker/ending.ts";
import { factsOf } from "../../adapters/_docker/facts.ts";
import { createFrameReader } from "../../adapters/_docker/frames.ts";
import { parseReference } from "../../adapters/_docker/image-reference.ts";
import { isOrphan, type ListedContainer, labelsOf, readMarks } from "../../adapters/_docker/labels.ts";
import { commonVersion } from "../../adapters/_docker/probe.ts";
import { registryAuth } from "../../adapters/_docker/registry-auth.ts";
import { findProcess } from "../../host/process-table.ts";
import { dockerPlan, mark } from "./docker-plan.ts";

describe("frames", () => {
  const frame = (stream: number, text: string) => {
    const content = new TextEncoder().encode(text);
    const header = new Uint8Array(8);
    header[0] = stream;
    new DataView(header.buffer).setUint32(4, content.length);
    return [...header, ...content];
  };

  test("are taken apart wherever they were cut", () => {
    const kinds = fc.array(fc.tuple(fc.constantFrom(1, 2), fc.string({ maxLength: 30 })), { maxLength: 8 });
    fc.assert(
      fc.property(kinds, fc.integer({ min: 1, max: 40 }), (frames, size) => {
        const bytes = Uint8Array.from(frames.flatMap(([stream, text]) => frame(stream, text)));
        const reader = createFrameReader();
        const seen = { stdout: [] as number[], stderr: [] as number[] };
        for (let at = 0; at < bytes.length; at += size)
          for (const piece of reader.read(bytes.subarray(at, at + size))) seen[piece.stream].push(...piece.bytes);
        const expected = (stream: number) =>
          frames.filter(([kind]) => kind === stream).flatMap(([, text]) => [...new TextEncoder().encode(text)]);
        expect([seen.stdout, seen.stderr]).toEqual([expected(1), expected(2)]);
        expect(reader.isWhole).toBe(true);
      }),
    );
  });

  test("what ends in the midst of one is not whole, and what is none is an error", () => {
    const reader = createFrameReader();
    reader.read(Uint8Array.from(frame(1, "abc").slice(0, 9)));
    expect(reader.isWhole).toBe(false);
    expect(() => createFrameReader().read(new TextEncoder().encode("HTTP/1.1 200 OK"))).toThrow("not in frames");
  });
});

describe("endings", () => {
  const state = (given: Partial<InspectedContainer["State"]>) => ({ Running: false, ExitCode: 0, ...given });
  test.each([
    ["a code", { waited: 3, state: state({ ExitCode: 3 }) }, { kind: "exited", code: 3 }],
    ["a code that looks like a kill", { waited: 137, state: state({}) }, { kind: "exited", code: 137 }],
    [
      "the command was killed for memory",
      { waited: 137, state: state({ OOMKilled: true }) },
      { kind: "out_of_memory", number: 9 },
    ],
    [
      "we killed it ourselves",
      { waited: 137, state: state({ OOMKilled: true }), wasKilled: true },
      { kind: "exited", code: 137 },
    ],
    ["a child was killed for memory", { waited: 0, state: state({ OOMKilled: true }) }, { kind: "exited", code: 0 }],
    ["somebody else removed it", { waited: 137, state: null }, { kind: "lost", cause: "deleted" }],
    ["we removed it", { waited: 137, state: null, wasKilled: true }, { kind: "exited", code: 137 }],
    ["nobody was told, and it is gone", { waited: null, state: null }, { kind: "lost", cause: "deleted" }],
    [
      "nobody was told, and it still runs",
      { waited: null, state: state({ Running: true }) },
      { kind: "lost", cause: "unknown" },
    ],
  ] as const)("%s", (_, facts, expected) => {
    expect(endingOf({ wasKilled: false, ...facts }).kind).toEqual(expected);
  });

  test("a child that was killed for memory is a warning", () => {
    const { warnings } = endingOf({ waited: 0, state: state({ OOMKilled: true }), wasKilled: false });
    expect(warnings).toMatchObject([{ code: "child_out_of_memory" }]);
  });
});

test.each([
  ["busybox", "docker.io", "busybox", "latest"],
  ["busybox:1.36", "docker.io", "busybox", "1.36"],
  ["user/app", "docker.io", "user/app", "latest"],
  ["host:5000/x", "host:5000", "host:5000/x", "latest"],
  ["host:5000/x:2", "host:5000", "host:5000/x", "2"],
  ["localhost/x", "localhost", "localhost/x", "latest"],
  ["reg.example/a/b@sha256:ab", "reg.example", "reg.example/a/b", "sha256:ab"],
  ["x:1@sha256:ab", "docker.io", "x", "sha256:ab"],
])("image %s", (image, registry, name, version) => {
  expect(parseReference(image)).toEqual({ registry, name, version });
});

describe("labels", () => {
  const plan = dockerPlan();
  const listed = (given: Partial<ListedContainer> = {}): ListedContainer => ({
    ...{ Id: "c1", Names: [`/prx-${plan.id}`], Labels: labelsOf(plan, mark, false), State: "running", Created: 100 },
    ...given,
  });
  const self = { ...mark, pid: String(process.pid), started: findProcess(process.pid)?.startedAt ?? "" };

  test("are read back", () => {
    expect(readMarks(listed())).toMatchObject({
      execution: plan.id,
      owner: "owner-1",
      mark,
      isKept: false,
      isRunning: true,
    });
  });

  test("of another name they are an image's, and not ours", () => {
    expect(readMarks(listed({ Names: ["/somebody-elses"] }))).toBeNull();
    expect(readMarks(listed({ Labels: {} }))).toBeNull();
  });

  test.each([
    ["a process that is over", mark, mark, true],
    ["this very process", self, mark, false],
    ["a pid that was used again", { ...self, started: "1" }, mark, true],
    ["another machine's", { ...mark, host: "other" }, mark, false],
    ["another machine's of the same name", { ...self, machine: "other", boot: "boot-0" }, mark, false],
    ["an earlier boot's", { ...self, boot: "boot-0" }, mark, true],
    [
      "another boot's, where no machine has a name of its own",
      { ...self, machine: "", boot: "boot-0" },
      { ...mark, machine: "" },
      false,
    ],
    ["another pid namespace's", { ...mark, namespace: "pid:[2]" }, mark, false],
  ])("%s", (_, theirs, here, expected) => {
    const marked = readMarks(listed({ Labels: labelsOf(plan, theirs, false) }));
    expect(marked !== null && isOrphan(marked, here)).toBe(expected);
  });
});

describe("credentials", () => {
  const decode = (header: string | null) =>
    header === null
      ? null
      : JSON.parse(Buffer.from(header.replaceAll("-", "+").replaceAll("_", "/"), "base64").toString());
  const noHelper = () => Promise.reject(new Error("no helper is to be asked"));
  const auth = Buffer.from("me:pass:word").toString("base64");

  test.each([
    ["none without settings", null, "reg:5000", null],
    ["none for another registry", JSON.stringify({ auths: { other: { auth } } }), "reg:5000", null],
    [
      "a pair",
      JSON.stringify({ auths: { "reg:5000": { auth } } }),
      "reg:5000",
      { username: "me", password: "pass:word" },
    ],
    [
      "the hub's",
      JSON.stringify({ auths: { "https://index.docker.io/v1/": { auth } } }),
      "docker.io",
      { username: "me" },
    ],
    ["a token", JSON.stringify({ auths: { r: { identitytoken: "T" } } }), "r", { identitytoken: "T" }],
  ])("%s", async (_, text, registry, expected) => {
    const found = decode(await registryAuth(registry, text, noHelper));
    if (expected === null) expect(found).toBeNull();
    else expect(found).toMatchObject(expected);
  });

  test("a helper is asked by name, with the registry as its input", async () => {
    const asked: string[] = [];
    const helper = async (program: string, input: string) => {
      asked.push(`${program} ${input}`);
      return JSON.stringify({ Username: "u", Secret: "p" });
    };
    const text = JSON.stringify({ credHelpers: { r: "vault" }, credsStore: "other" });
    expect(decode(await registryAuth("r", text, helper))).toMatchObject({ username: "u", password: "p" });
    expect(asked).toEqual(["docker-credential-vault r"]);
  });

  test("a helper that fails is an error without its secret; one that knows nothing is nobody", async () => {
    const text = JSON.stringify({ credsStore: "vault" });
    const fails = () => Promise.reject(new Error("locked: hunter2"));
    await expect(registryAuth("r", text, fails)).rejects.toThrow(/^docker-credential-vault gave no answer for r$/);
    const empty = () => Promise.reject(new Error("credentials not found in native keychain"));
    expect(await registryAuth("r", text, empty)).toBeNull();
    await expect(registryAuth("r", JSON.stringify({ credsStore: "../x" }), empty)).rejects.toThrow("no program's name");
    const wrong = async () => "s3cr3t";
    await expect(registryAuth("r", text, wrong)).rejects.toThrow(
      /^What docker-credential-vault answered is no JSON object$/,
    );
    const torn = registryAuth("r", '{"auths":{"r":{"auth":hunter2}}}');
    await expect(torn).rejects.toThrow(/^Docker's settings \(config.json\) is no JSON object$/);
  });
});

test.each([
  ["1.41", "1.12", "1.41"],
  ["1.99", "1.44", "1.51"],
  ["1.40", "1.12", null],
  ["1.60", "1.52", null],
])("a daemon of API %s, at least %s: %s", (ApiVersion, MinAPIVersion, expected) => {
  expect(commonVersion({ ApiVersion, MinAPIVersion })).toBe(expected);
});

test("what a daemon does not say, it cannot", () => {
  const rest = { apiVersion: "1.41", isLocal: true, isPodman: false, imageEnv: new Map() };
  expect(factsOf({}, rest)).toMatchObject({
    can: { memory: false, swap: false, cpus: false, pids: false },
    filtersCalls: false,
  });
  const options = (SecurityOptions: string[]) => factsOf({ SecurityOptions }, rest);
  expect(options(["name=seccomp,profile=default"])).toMatchObject({ filtersCalls: true, sameUsers: true });
  expect(options(["name=seccomp,profile=unconfined"])).toMatchObject({ filtersCalls: false });
  expect(options(["name=rootless"])).toMatchObject({ isRootless: true, sameUsers: false });
  expect(options(["name=userns"])).toMatchObject({ isRootless: false, sameUsers: false });
});
