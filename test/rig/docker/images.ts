/** The images that the tests run in, made on this machine: nothing is pulled. */

import { randomBytes } from "node:crypto";
import { chmodSync, cpSync, existsSync, mkdirSync, renameSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { docker, has, rigHome, run, Unavailable } from "./place.ts";

/** What an image says of itself, in the words of a Dockerfile. */
interface ImageRecipe {
  readonly name: string;
  readonly tree: (directory: string) => void;
  readonly changes?: readonly string[];
}

const busybox = "/bin/busybox";

function busyboxTree(directory: string): void {
  if (!existsSync(busybox)) throw new Unavailable("It takes a static busybox: apt-get install busybox-static");
  for (const name of ["bin", "etc", "usr/bin", "root", "home"]) mkdirSync(join(directory, name), { recursive: true });
  mkdirSync(join(directory, "tmp"));
  chmodSync(join(directory, "tmp"), 0o1777);
  cpSync(busybox, join(directory, "bin", "busybox"));
  for (const applet of run(busybox, ["--list"]).trim().split("\n")) {
    if (applet !== "busybox") symlinkSync("busybox", join(directory, "bin", applet));
  }
  writeFileSync(
    join(directory, "etc", "passwd"),
    "root:x:0:0:root:/root:/bin/sh\nnobody:x:65534:65534:nobody:/:/bin/sh\n",
  );
  writeFileSync(join(directory, "etc", "group"), "root:x:0:\nnogroup:x:65534:\n");
}

/** Two programs and nothing else: no shell, no PATH that leads to one. */
function shellessTree(directory: string): void {
  mkdirSync(join(directory, "bin"), { recursive: true });
  for (const name of ["cat", "echo"]) cpSync(busybox, join(directory, "bin", name));
}

const recipes: readonly ImageRecipe[] = [
  { name: "prx-rig/busybox:latest", tree: busyboxTree },
  {
    name: "prx-rig/entrypoint:latest",
    tree: busyboxTree,
    changes: ['ENTRYPOINT ["echo","HIJACK"]', 'CMD ["and","more"]'],
  },
  {
    name: "prx-rig/own-user:latest",
    tree: busyboxTree,
    changes: ["USER 1234:1234", "ENV IMAGE_SAYS=hello", "ENV HOME=/of-the-image", "WORKDIR /usr"],
  },
  { name: "prx-rig/no-shell:latest", tree: shellessTree },
];

const debian = "debian:bookworm-slim";

/** Every image that is not there yet. The Debian one takes two minutes the first time; its archive is kept. */
export function buildImages(): void {
  for (const recipe of recipes) if (!isThere(recipe.name)) buildImage(recipe);
  if (!isThere(debian)) docker("import", "--change", 'CMD ["bash"]', debianArchive(), debian);
}

/** One that is like no other, with some megabytes that take their time to be pulled. */
export function buildPulledImage(name: string): void {
  const tree = (directory: string) => {
    busyboxTree(directory);
    writeFileSync(join(directory, "payload"), randomBytes(8 * 1024 * 1024));
  };
  buildImage({ name, tree });
}

function buildImage({ name, tree, changes = [] }: ImageRecipe): void {
  const directory = join(rigHome, "stage", name.replaceAll(/\W/g, "-"));
  rmSync(directory, { recursive: true, force: true });
  mkdirSync(directory, { recursive: true });
  tree(directory);
  importTree(directory, name, changes);
  rmSync(directory, { recursive: true, force: true });
}

export function missingImages(): readonly string[] {
  return [...recipes.map(({ name }) => name), debian].filter((name) => !isThere(name));
}

function isThere(name: string): boolean {
  return docker("images", "--quiet", name) !== "";
}

function importTree(directory: string, name: string, changes: readonly string[]): void {
  const archive = `${directory}.tar`;
  run("tar", ["-C", directory, "--owner=0", "--group=0", "-cf", archive, "."]);
  docker("import", ...changes.flatMap((change) => ["--change", change]), archive, name);
  rmSync(archive);
}

function debianArchive(): string {
  const archive = join(rigHome, "debian-bookworm.tar");
  if (existsSync(archive)) return archive;
  if (!has("debootstrap")) throw new Unavailable("It takes debootstrap: apt-get install debootstrap");
  console.log("rig: bootstrapping Debian, about two minutes …");
  const tree = join(rigHome, "stage", "debian");
  rmSync(tree, { recursive: true, force: true });
  mkdirSync(tree, { recursive: true });
  run("debootstrap", ["--variant=minbase", "bookworm", tree]);
  for (const part of ["var/cache/apt", "var/lib/apt/lists", "usr/share/doc", "usr/share/man", "usr/share/locale"]) {
    rmSync(join(tree, part), { recursive: true, force: true });
  }
  run("tar", ["-C", tree, "-cf", `${archive}.part`, "."]);
  renameSync(`${archive}.part`, archive);
  rmSync(tree, { recursive: true, force: true });
  return archive;
}
