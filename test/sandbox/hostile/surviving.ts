/** Attacks that leave something running after the command's end. */

import process from "node:process";
import { type Attack, python } from "./attack.ts";
import { processesNaming, type Scene } from "./scene.ts";

/** What stays in the process group ends with it, unless root leaves the cgroup in which the native backend holds it. */
const leaveCgroup =
  "for f in /sys/fs/cgroup/cgroup.procs /sys/fs/cgroup/*/cgroup.procs; do echo $$ > $f; done 2>/dev/null";

function endNaming(marker: string): void {
  for (const pid of processesNaming(marker)) {
    try {
      process.kill(pid, "SIGKILL");
    } catch {
      // It ended by itself.
    }
  }
}

/** As long as who began it is there, it can be found among the command's descendants. Who takes in orphans is older than the script. */
const untilOrphaned = `until [ "$(cut -d" " -f4 /proc/$$/stat)" -lt '$$' ]; do sleep 0.01; done; `;

/** @param begin what begins `"$@"`, a process that names the marker, in the script's own way */
function surviving(name: string, begin: (scene: Scene) => string, rest: Partial<Attack> = {}): Attack {
  return {
    name,
    ...rest,
    stage(scene) {
      scene.defer(() => endNaming(scene.marker));
      return {
        script: [
          leaveCgroup,
          `set -- bash -c 'trap "" TERM HUP INT; ${begin(scene).endsWith("& )") ? untilOrphaned : ""}echo > began; exec 0<&- 1>&- 2>&-; exec -a ${scene.marker} sleep 600'`,
          begin(scene),
          "until [ -e began ]; do sleep 0.01; done",
        ],
        succeeded: () => processesNaming(scene.marker).length > 0,
      };
    },
  };
}

export const survivingAttacks: readonly Attack[] = [
  surviving("stay as a child in the background", () => '"$@" &', { onlyAs: "root" }),
  surviving("stay by nohup", () => 'nohup "$@" > /dev/null 2>&1 &', { onlyAs: "root" }),
  surviving("stay in a session of its own", () => 'setsid "$@" &', { needs: ["setsid"] }),
  surviving("stay as a daemon, two births away", () => '( setsid bash -c \'( "$@" & )\' bash "$@" & )', {
    needs: ["setsid"],
  }),
  surviving("stay without a variable of the command's", () => '( setsid env -i PATH="$PATH" "$@" & )', {
    needs: ["setsid"],
  }),
  surviving("stay as one of a hundred that all begin others", () => 'for i in {1..100}; do ( setsid "$@" & ); done', {
    needs: ["setsid"],
  }),
  {
    name: "stay as a child of the kernel's own reaper, deaf to its parent's death",
    needs: ["python3"],
    stage({ defer, marker }) {
      defer(() => endNaming(marker));
      const text = `import time
if os.fork() == 0:
    os.setsid()
    if os.fork(): os._exit(0)
    libc.prctl(1, 0); libc.prctl(4, 0)
    for f in range(3): os.close(f)
    open("began", "w").close()
    os.execv("/bin/sleep", [sys.argv[1], "600"])
while not os.path.exists("began"): time.sleep(0.01)
`;
      const { script, files = {} } = python(text, [marker]);
      return { script: [leaveCgroup, ...script], files, succeeded: () => processesNaming(marker).length > 0 };
    },
  },
];
