/** A trial of a sandbox program with the very options that commands get, which also looks at whether it shut what it says. */

import { spawn } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { messageOf } from "../../../src/errors.ts";
import { type Cause, causeOf } from "./causes.ts";
import { type Enclosure, openEnclosure } from "./enclosure.ts";
import type { SandboxProgram, Wrapping } from "./sandbox-program.ts";
import { composeView, type Mount } from "./view.ts";

/** What a trial needs of the search. */
interface TrialParts {
  /** The copies of the system's settings. */
  readonly settings: string;
  readonly system: readonly Mount[];
  readonly ownDirectory: string;
  readonly filter: Uint8Array | null;
}

/** firejail takes two seconds for each attempt that a mount of somebody else broke. */
const probeMs = 15_000;
const shut = 42;

/**
 * Run inside. A program that starts commands and keeps nothing apart, or a mount that failed in silence, is found here and
 * not by an attacker. $1: a file of the host that is not to be seen; $2: whether there is a system call filter.
 */
const trial = `
open() { echo "not shut: $1" >&2; exit 1; }
[ ! -e "$1" ] || open "the host's files"
while read -r key value rest; do
  case $key in NoNewPrivs:) privileges=$value ;; CapEff:) capabilities=$value ;; Seccomp:) filter=$value ;; esac
done < /proc/self/status
[ "$privileges" = 1 ] || open "new privileges"
[ "$capabilities" = 0000000000000000 ] || open capabilities
[ "$2" != filtered ] || [ "$filter" = 2 ] || open "system calls"
routes=0
while read -r line; do routes=$((routes + 1)); done < /proc/net/route
[ "$routes" -le 1 ] || open "the network"
exit ${shut}
`;

/** `null`: it works. */
export async function probeSandbox(program: SandboxProgram, search: TrialParts): Promise<Cause | null> {
  const { ownDirectory, filter } = search;
  const workingDir = mkdtempSync(join(ownDirectory, "probe-"));
  const witness = `${workingDir}.unseen`;
  try {
    writeFileSync(witness, "");
    const system: Mount[] = [{ kind: "readonly", at: "/etc", source: search.settings }, ...search.system];
    const view = composeView({
      ...{
        system,
        toolchains: [],
        listed: [],
        workingDir,
        home: null,
        protectedPaths: [],
        keptFiles: [],
        hidden: [],
        network: false,
      },
    });
    const args = [witness, filter === null ? "" : "filtered"];
    const wrapping = program.wrap(view, { argv: ["/bin/sh", "-c", trial, "sh", ...args], env: {} });
    const enclosure = openEnclosure({ program, ownDirectory, filter }, `probe-${program.name}`, wrapping);
    const { code, said } = await run(wrapping, enclosure, workingDir);
    const status = enclosure.settle();
    return code === shut && status.ended ? null : causeOf(program.name, status.said + said);
  } catch (error) {
    return causeOf(program.name, messageOf(error));
  } finally {
    rmSync(workingDir, { recursive: true, force: true });
    rmSync(witness, { force: true });
  }
}

async function run(
  { words, env }: Wrapping,
  enclosure: Enclosure,
  cwd: string,
): Promise<{ readonly code: number | null; readonly said: string }> {
  const [file, ...args] = words;
  const limits = { timeout: probeMs, killSignal: "SIGKILL" } as const;
  try {
    const child = spawn(file, args, {
      ...{ cwd, env, detached: true, ...limits },
      stdio: ["ignore", "ignore", "pipe", ...enclosure.descriptors],
    });
    let said = "";
    child.stderr?.setEncoding("utf8").on("data", (text: string) => {
      said = (said + text).slice(0, 2000);
    });
    const code = await new Promise<number | null>((resolve, reject) => {
      child.once("error", reject);
      child.once("close", resolve);
    });
    return { code, said };
  } finally {
    enclosure.handOver();
  }
}
