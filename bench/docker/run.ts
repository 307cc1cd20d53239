/**
 * `npm run bench:docker`: a cold execution against `docker run --rm` with the very same flags, and against the bare requests
 * (create, attach, wait, start, remove) of the very same body; then many at one time. The daemon is the tests' own.
 */

import { spawn } from "node:child_process";
import { request } from "node:http";
import type { Duplex } from "node:stream";
import { createRuntime, type Runtime } from "../../mod.ts";
import { interleave, quantile, runtimeName } from "../measure.ts";

const host = process.env["PRX_TEST_DOCKER"] ?? "";
if (!host.startsWith("unix://"))
  throw new Error("Say which daemon is measured: PRX_TEST_DOCKER=unix:///path, as npm run rig:docker -- status tells");
const socketPath = host.slice("unix://".length);
const image = "prx-rig/busybox:latest";
const rounds = Number(process.env["BENCH_ROUNDS"] ?? 30);
const many = Number(process.env["BENCH_MANY"] ?? 200);
const atOnce = 16;

interface Lowered {
  /** The words of `docker run`, without the container's own name. */
  readonly words: readonly string[];
  readonly body: Readonly<Record<string, unknown>>;
}

/** What `explain` shows is what is measured against. */
async function lowered(runtime: Runtime): Promise<Lowered> {
  const { lowering } = await runtime.explain("true");
  const [line = "", , query = "", ...json] = lowering.split("\n");
  if (!query.startsWith("POST /containers/create")) throw new Error("explain shows no body any more");
  const words = line
    .split(" ")
    .map((word) => word.replace(/^'(.*)'$/, "$1"))
    .slice(1);
  const at = words.indexOf("--name");
  return { words: words.toSpliced(at, 2), body: JSON.parse(json.join("\n")) };
}

/** A process for each, as a script does it. */
function byProgram(words: readonly string[]): Promise<void> {
  const child = spawn("docker", ["--host", host, ...words], { stdio: ["ignore", "pipe", "pipe"] });
  child.stdout.resume();
  child.stderr.resume();
  return new Promise((resolve, reject) => {
    child.once("error", reject);
    child.once("close", (code) => (code === 0 ? resolve() : reject(new Error(`docker run exited with ${code}`))));
  });
}

function ask(method: string, path: string, body?: unknown): Promise<string> {
  return new Promise((resolve, reject) => {
    const text = body === undefined ? "" : JSON.stringify(body);
    const headers = { "Content-Type": "application/json", "Content-Length": Buffer.byteLength(text) };
    const call = request({ socketPath, method, path, headers }, async (answer) => {
      let all = "";
      for await (const chunk of answer) all += chunk;
      if ((answer.statusCode ?? 500) < 400) resolve(all);
      else reject(new Error(`${method} ${path}: ${all}`));
    });
    call.on("error", reject);
    call.end(text);
  });
}

function attach(id: string): Promise<Duplex> {
  return new Promise((resolve, reject) => {
    const path = `/containers/${id}/attach?stream=1&stdout=1&stderr=1`;
    const headers = { Connection: "Upgrade", Upgrade: "tcp", "Content-Length": 0 };
    const call = request({ socketPath, method: "POST", path, headers });
    call.on("upgrade", (_, socket) => resolve(socket.resume()));
    call.on("error", reject);
    call.end();
  });
}

/** The requests that there is no way around, and nothing else. */
async function byRequests(body: Lowered["body"]): Promise<void> {
  const { Id } = JSON.parse(await ask("POST", "/containers/create", body)) as { Id: string };
  const [socket, waited] = await Promise.all([
    attach(Id),
    { over: ask("POST", `/containers/${Id}/wait?condition=next-exit`) },
  ]);
  await ask("POST", `/containers/${Id}/start`);
  await waited.over;
  socket.destroy();
  await ask("DELETE", `/containers/${Id}?force=1&v=1`);
}

async function inParallel(run: () => Promise<unknown>): Promise<number> {
  let left = many;
  const since = performance.now();
  const worker = async () => {
    while (left > 0) {
      left -= 1;
      await run();
    }
  };
  await Promise.all(Array.from({ length: atOnce }, worker));
  return many / ((performance.now() - since) / 1000);
}

process.env["DOCKER_HOST"] = host;
await using runtime = await createRuntime({ runtime: { backend: "docker", docker: { image } } });
const { words, body } = await lowered(runtime);
const own = async () => {
  const { exitCode } = await runtime.execute("true");
  if (exitCode !== 0) throw new Error(`It exited with ${exitCode}`);
};
const samples = await interleave(
  [
    { name: "docker run --rm", run: () => byProgram(words) },
    { name: "bare requests", run: () => byRequests(body) },
    { name: "prx-runtime", run: own },
  ],
  { rounds, warmUp: 3 },
);
const base = quantile(samples.get("docker run --rm") ?? [], 0.5);
console.log(`${runtimeName()}: \`true\` in a new container, ${rounds} interleaved rounds`);
for (const [name, times] of samples) {
  const median = quantile(times, 0.5);
  const figures = `median ${median.toFixed(0)} ms  p95 ${quantile(times, 0.95).toFixed(0)} ms`;
  console.log(`  ${name.padEnd(16)} ${figures}  ${(median / base).toFixed(2)} x docker run`);
}
if (many > 0) {
  // In halves that take turns, so that a busy moment hits both.
  const rates = { program: [] as number[], own: [] as number[] };
  for (let turn = 0; turn < 2; turn += 1) {
    rates.program.push(await inParallel(() => byProgram(words)));
    rates.own.push(await inParallel(own));
  }
  const mean = (values: readonly number[]) => values.reduce((sum, value) => sum + value, 0) / values.length;
  const [theirs, ours] = [mean(rates.program), mean(rates.own)];
  console.log(
    `  ${many} of them, ${atOnce} at a time: ${ours.toFixed(1)} a second, docker run ${theirs.toFixed(1)}: ${(ours / theirs).toFixed(2)} x`,
  );
}
