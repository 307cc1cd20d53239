/** Attacks on the start of the sandbox itself: what the request's variables and files make run outside of it. */

import { execFileSync } from "node:child_process";
import { chmodSync, existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import process from "node:process";
import type { Attack } from "./attack.ts";
import type { Scene } from "./scene.ts";

/** A library in the workspace that writes a file as soon as it is loaded, wherever that is. */
function library({ workspace, outside }: Scene, name: string): { readonly path: string; readonly written: string } {
  const [path, written] = [join(workspace, name), join(outside, "loaded")];
  const text = `#include <stdio.h>
unsigned la_version(unsigned v) { return v; }
__attribute__((constructor)) static void loaded(void) { FILE *f = fopen("${written}", "w"); if (f) fclose(f); }
`;
  execFileSync("gcc", ["-shared", "-fPIC", "-o", path, "-xc", "-"], { input: text });
  return { path, written };
}

/** A variable by which the loader loads a library into whatever is started with it. */
const loading = (variable: string): Attack => ({
  name: `have a library loaded into the sandbox's own program by ${variable}`,
  needs: ["gcc"],
  stage(scene) {
    const { path, written } = library(scene, "evil.so");
    return { script: ["/bin/true"], env: { [variable]: path }, succeeded: () => existsSync(written) };
  },
});

/** A program in the workspace that does harm under the name of one that the runtime might look for on the request's PATH. */
const posing = (name: string): Attack => ({
  name: `pose as ${name} on the request's PATH`,
  stage({ workspace, outside }) {
    const written = join(outside, "posed");
    const program = join(workspace, name);
    writeFileSync(program, `#!/bin/sh\n: > ${written}\n`);
    chmodSync(program, 0o755);
    return {
      // On the host itself nobody looks for it: there the command does, and shows what it would do.
      script: [name],
      env: { PATH: `${workspace}:${process.env["PATH"] ?? ""}` },
      succeeded: () => existsSync(written),
    };
  },
});

export const startingAttacks: readonly Attack[] = [
  loading("LD_PRELOAD"),
  loading("LD_AUDIT"),
  {
    name: "have a script run before the command by BASH_ENV",
    stage({ workspace, outside }) {
      const [script, written] = [join(workspace, "before.sh"), join(outside, "ran")];
      writeFileSync(script, `: > ${written}\n`);
      return { script: [":"], env: { BASH_ENV: script, ENV: script }, succeeded: () => existsSync(written) };
    },
  },
  ...["bwrap", "firejail", "sh", "env", "setpriv", "mount", "fseccomp"].map(posing),
];
