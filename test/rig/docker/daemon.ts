/** A dockerd of the rig's own, started by hand: its own data, its own socket, its own bridge, and no rule of the machine's firewall touched. */

import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { runningPid, startProgram, stopProgram, within } from "./background.ts";
import { answers, has, rigHome, rigPort, rigSocket, run, Unavailable } from "./place.ts";

/** One for each rig: two of them may stand side by side. */
const bridge = `prxrig${rigPort}`;
const bridgeAddress = `10.213.${rigPort % 256}.1/24`;

/** @throws Unavailable with what is missing. */
export async function startDaemon(): Promise<void> {
  if (process.platform !== "linux" || process.getuid?.() !== 0)
    throw new Unavailable("It takes root on Linux; a daemon of your own is used with PRX_TEST_DOCKER=unix:///path");
  if (!has("dockerd")) throw new Unavailable("It takes Debian's docker.io: apt-get install docker.io");
  if (runningPid("dockerd") !== null && answers()) return;
  await stopProgram("dockerd");
  mkdirSync(join(rigHome, "config"), { recursive: true, mode: 0o700 });
  makeBridge();
  const settings = join(rigHome, "daemon.json");
  writeFileSync(settings, JSON.stringify({ runtimes: runtimes() }));
  rmSync(rigSocket, { force: true });
  // What a daemon that was killed left behind is taken for a containerd that runs.
  for (const name of ["containerd.pid", "containerd.sock", "containerd.sock.ttrpc", "containerd-debug.sock"])
    rmSync(join(rigHome, "exec", "containerd", name), { force: true });
  startProgram({
    name: "dockerd",
    program: "dockerd",
    args: [
      ...["--config-file", settings, "--data-root", join(rigHome, "data"), "--exec-root", join(rigHome, "exec")],
      ...["--pidfile", join(rigHome, "run", "docker.pid"), "--host", `unix://${rigSocket}`],
      ...["--host", `tcp://127.0.0.1:${rigPort}`, "--tls=false"],
      ...[`--bridge=${bridge}`, "--iptables=false", "--ip6tables=false", "--shutdown-timeout", "5"],
    ],
  });
  if (await within(60_000, answers)) return;
  throw new Unavailable(`dockerd does not answer:\n${readFileSync(join(rigHome, "dockerd.log"), "utf8").slice(-2000)}`);
}

export async function stopDaemon(): Promise<void> {
  await stopProgram("dockerd");
  await unmountData();
  try {
    run("ip", ["link", "delete", bridge]);
  } catch {
    // It was never made, or has gone.
  }
}

/** A daemon mounts its data on itself, and one that was killed leaves that to nobody (moby, `setupDaemonRootPropagation`). */
async function unmountData(): Promise<void> {
  const data = join(rigHome, "data");
  const isMounted = () => readFileSync("/proc/self/mountinfo", "utf8").includes(` ${data} `);
  // Once for each that was killed; what the daemon began may still be on its way out.
  await within(20_000, () => {
    if (!isMounted()) return true;
    try {
      run("umount", [data]);
    } catch {
      // Somebody still uses it.
    }
    return !isMounted();
  });
}

function makeBridge(): void {
  if (!has("ip")) throw new Unavailable("It takes ip: apt-get install iproute2");
  try {
    run("ip", ["link", "add", bridge, "type", "bridge"]);
    run("ip", ["address", "add", bridgeAddress, "dev", bridge]);
    run("ip", ["link", "set", bridge, "up"]);
  } catch {
    // It is there already.
  }
}

/** gVisor beside runc, where Debian's runsc is installed. Never by kvm, which hangs in virtual machines. */
function runtimes(): Readonly<Record<string, unknown>> {
  if (!has("runsc")) return {};
  return { runsc: { path: run("sh", ["-c", "command -v runsc"]).trim(), runtimeArgs: ["--network=none"] } };
}
