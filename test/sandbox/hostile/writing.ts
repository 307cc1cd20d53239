/** Attacks that change files outside of the workspace. */

import { existsSync, statSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import { type Attack, saysAllowed } from "./attack.ts";
import { read, type Scene } from "./scene.ts";

/** Makes a new file in a directory of the host's. */
const planting = (directory: string, onlyAs?: "root"): Attack => ({
  name: `make a file in ${directory === homedir() ? "the host user's home" : directory}`,
  ...(onlyAs === undefined ? {} : { onlyAs }),
  stage({ trap, marker }) {
    const path = trap(join(directory, `.${marker}`));
    return { script: [`echo planted > ${path}`], succeeded: () => existsSync(path) };
  },
});

/** Changes a file of the host's in some way. */
function changing(name: string, script: (path: string, scene: Scene) => readonly string[]): Attack {
  return {
    name,
    stage(scene) {
      const path = scene.write(join(scene.outside, "precious"), "untouched\n");
      const before = statSync(path).mode;
      return {
        script: script(path, scene),
        succeeded: () => read(path) !== "untouched\n" || statSync(path).mode !== before,
      };
    },
  };
}

/** Opens for writing what would change the machine, and writes nothing. */
const opening = (path: string): Attack => ({
  name: `open ${path} for writing`,
  onlyAs: "root",
  obstacle: () => (existsSync(path) ? null : `there is no ${path}`),
  stage: () => ({ script: [`{ : >> ${path}; } && echo ALLOWED`], succeeded: saysAllowed }),
});

export const writingAttacks: readonly Attack[] = [
  planting(homedir()),
  planting("/tmp"),
  planting("/var/tmp"),
  planting("/dev/shm"),
  planting("/etc", "root"),
  planting("/usr/local/bin", "root"),
  planting("/", "root"),
  planting("/run", "root"),
  changing("write to a file by its path", (path) => [`echo changed >> ${path}`]),
  changing("write by a path with ..", (path) => [`echo changed >> $PWD/../..${"/..".repeat(9)}${path}`]),
  changing("write by a link in the workspace", (path) => [`ln -s ${path} link; echo changed >> link`]),
  changing("write by a second name in the workspace", (path) => [`ln ${path} hard; echo changed >> hard`]),
  changing("write by the directory of another process", (path) => [
    `for p in $PPID 1; do echo changed >> /proc/$p/root${path}; done`,
  ]),
  changing("replace a file by moving over it", (path) => [`echo changed > new; mv -f new ${path}`]),
  changing("take a file away", (path) => [`mv ${path} mine; rm -f ${path}`]),
  changing("give a file another mode", (path) => [`chmod 4777 ${path}`]),
  {
    name: "make a file beside the workspace",
    stage({ beside }) {
      const path = join(beside, "planted");
      return { script: ["echo planted > ../other/planted"], succeeded: () => existsSync(path) };
    },
  },
  {
    name: "replace the workspace itself by a link",
    stage({ workspace, outside, trap }) {
      const path = trap(`${workspace}-gone`);
      return {
        script: [`cd ..; mv ${workspace} ${path} && ln -s ${outside} ${workspace}`],
        succeeded: () => existsSync(path),
      };
    },
  },
  {
    name: "set a parameter of the kernel to what it is",
    onlyAs: "root",
    stage: () => ({
      script: ["f=/proc/sys/kernel/panic; v=$(cat $f) && echo $v > $f && echo ALLOWED"],
      succeeded: saysAllowed,
    }),
  },
  opening("/proc/sysrq-trigger"),
  opening("/proc/sys/kernel/core_pattern"),
  opening("/sys/kernel/mm/transparent_hugepage/enabled"),
  {
    name: "open files of cgroups for writing",
    onlyAs: "root",
    obstacle: () => (existsSync("/sys/fs/cgroup") ? null : "there are no cgroups"),
    stage: () => ({
      script: [
        "for f in $(find /sys/fs/cgroup -maxdepth 3 -name cgroup.procs -o -maxdepth 3 -name release_agent); do { : >> $f; } && echo ALLOWED; done",
      ],
      succeeded: saysAllowed,
    }),
  },
];
