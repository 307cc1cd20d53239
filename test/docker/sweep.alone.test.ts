/** Which containers are anybody's to remove: those of the dead, those that are overdue, and no others. */

import { afterEach, expect, test } from "vitest";
import { type HostMark, labelsOf, markOfThisHost } from "../../adapters/_docker/labels.ts";
import { createRuntime, type Runtime } from "../../mod.ts";
import { type FakeDaemon, fakeDaemon } from "../fakes/docker-daemon.ts";
import { dockerPlan } from "../unit/docker-plan.ts";

let daemon: FakeDaemon | null = null;
let runtime: Runtime | null = null;
afterEach(async () => {
  await runtime?.close();
  await daemon?.close();
});

const here = markOfThisHost();
const dead: HostMark = { ...here, started: "1" };
const elsewhere: HostMark = { ...here, host: "another-machine" };
const now = Date.now() / 1000;

interface Left {
  readonly mark?: HostMark;
  readonly backstopMs?: number;
  readonly ageSecs?: number;
  readonly isKept?: boolean;
  readonly state?: string;
  readonly name?: string;
}

function listed(
  id: string,
  { mark = dead, backstopMs = 0, ageSecs = 60, isKept = false, state = "running", name }: Left = {},
) {
  const plan = dockerPlan({ id, owner: `owner of ${id}`, limits: { backstopMs } as never });
  const Labels = labelsOf(plan, mark, isKept);
  return { Id: id, Names: [name ?? `/prx-${id}`], Labels, State: state, Created: now - ageSecs };
}

test("the dead one's and the overdue are removed, and nothing of anybody else's", async () => {
  const hour = 3_600_000;
  daemon = await fakeDaemon({
    listed: [
      [
        listed("dead"),
        listed("dead-created", { state: "created" }),
        listed("alive", { mark: here }),
        listed("earlier-boot", { mark: { ...here, boot: "an-earlier-one" } }),
        listed("other-namespace", { mark: { ...dead, namespace: "pid:[1]" } }),
        listed("other-machine", { mark: elsewhere, backstopMs: hour }),
        listed("other-machine-no-limit", { mark: elsewhere, ageSecs: 1e6 }),
        listed("other-machine-overdue", { mark: elsewhere, backstopMs: hour, ageSecs: 2 * 3600 }),
        listed("other-machine-nearly", { mark: elsewhere, backstopMs: hour, ageSecs: 3600 + 300 }),
        listed("renamed", { name: "/somebody-elses" }),
        listed("kept-running", { isKept: true }),
        listed("kept-over", { isKept: true, state: "exited" }),
        { Id: "stranger", Names: ["/stranger"], Labels: {}, State: "running", Created: now },
      ],
    ],
  });
  const said: string[] = [];
  runtime = await createRuntime(
    { runtime: { backend: "docker", docker: { socket: daemon.socket } } },
    { log: ({ code, message }) => void said.push(`${code}: ${message}`) },
  );
  // Looking through the containers holds nothing up; closing waits for it.
  await runtime.close();
  expect([...daemon.removed].sort()).toEqual(["dead", "dead-created", "earlier-boot", "other-machine-overdue"]);
  expect(daemon.killed).toEqual(["kept-running"]);
  expect(said).toContainEqual(expect.stringMatching(/^leftovers_ended: Removed 5 of 5 containers/));
});

test("what cannot be removed is told, and nothing fails for it", async () => {
  daemon = await fakeDaemon({ listed: [[listed("stuck")]], remove: Array.from({ length: 20 }, () => 500) });
  const said: string[] = [];
  runtime = await createRuntime(
    { runtime: { backend: "docker", docker: { socket: daemon.socket } } },
    { log: ({ message }) => void said.push(message) },
  );
  expect(await runtime.isAvailable()).toBe(true);
  await runtime.close();
  expect(said).toContainEqual("Removed 0 of 1 containers of dead hosts");
});

test("a mount that holds the daemon's socket is refused when the runtime is made", async () => {
  daemon = await fakeDaemon();
  const folder = daemon.socket.slice(0, daemon.socket.lastIndexOf("/"));
  for (const mount of [`${folder}:/opt/x`, `${daemon.socket}:/opt/y`]) {
    const docker = { socket: daemon.socket, readonly_mounts: [mount] };
    await expect(createRuntime({ runtime: { backend: "docker", docker } })).rejects.toThrow(
      /holds the daemon's socket/,
    );
  }
});
