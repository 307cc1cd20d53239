/** The machine: a Debian kernel, busybox and a JavaScript runtime in memory, under an emulator. Nothing is installed but the emulator. */

import { execFileSync, spawn } from "node:child_process";
import { cpSync, existsSync, mkdirSync, readdirSync, renameSync, rmSync } from "node:fs";
import { basename, join } from "node:path";
import { createInterface } from "node:readline";

/** Something that this machine lacks and that is not to be had. */
export class Unavailable extends Error {}

const emulator = "qemu-system-x86_64";

/** @throws Unavailable with what is missing. */
export function ensureEmulator(): void {
  if (process.platform !== "linux" || process.arch !== "x64") throw new Unavailable("It takes Linux on x86-64");
  if (!has("apt-get") || !has("dpkg-deb"))
    throw new Unavailable("It takes Debian's apt-get and dpkg-deb for a kernel and busybox");
  if (has(emulator)) return;
  if (process.getuid?.() !== 0) throw new Unavailable(`It takes ${emulator}: apt-get install qemu-system-x86`);
  console.log("rig: installing qemu-system-x86 …");
  apt(["install", "--yes", "--no-install-recommends", "qemu-system-x86"]);
}

/** The unpacked packages below the cache directory, fetched when they are not there. */
export function ensureKernel(cache: string): { readonly kernel: string; readonly busybox: string } {
  const files = join(cache, "packages");
  if (!existsSync(files)) {
    console.log("rig: fetching a kernel and busybox …");
    const part = `${files}.${process.pid}`;
    mkdirSync(part, { recursive: true });
    const depends = run("apt-cache", ["depends", "linux-image-cloud-amd64"]);
    const image = /Depends: (linux-image-\S+)/.exec(depends)?.[1] ?? "linux-image-cloud-amd64";
    apt(["download", image, "busybox-static"], part);
    for (const name of readdirSync(part)) run("dpkg-deb", ["--extract", join(part, name), part]);
    renameSync(part, files);
  }
  const kernel = readdirSync(join(files, "boot")).find((name) => name.startsWith("vmlinuz-"));
  if (kernel === undefined) throw new Unavailable(`There is no kernel below ${files}: remove it and try again`);
  return { kernel: join(files, "boot", kernel), busybox: join(files, "bin", "busybox") };
}

function apt(args: readonly string[], directory?: string): void {
  const attempt = () => run("apt-get", args, directory);
  try {
    attempt();
  } catch {
    // The list of packages may be missing or old.
    try {
      run("apt-get", ["update"]);
      attempt();
    } catch (error) {
      throw new Unavailable(`apt-get ${args.join(" ")} failed: ${error instanceof Error ? error.message : error}`);
    }
  }
}

/** An archive that the kernel unpacks into memory: everything in `directory`. */
export function pack(busybox: string, directory: string, archive: string): void {
  run("sh", ["-c", `cd "$1" && find . | "$2" cpio -o -H newc > "$3"`, "sh", directory, busybox, archive]);
}

/** The program with the libraries it loads, and busybox as its shell. Made once for each version of the program. */
export function ensureBase(cache: string, { program, busybox }: { program: string; busybox: string }): string {
  const version = run(program, ["--version"])
    .split("\n")[0]
    ?.replaceAll(/[^\w.]+/g, "-");
  const archive = join(cache, `${basename(program, ".exe")}-${version}.cpio`);
  if (existsSync(archive)) return archive;
  const tree = `${archive}.${process.pid}`;
  mkdirSync(join(tree, "bin"), { recursive: true });
  cpSync(busybox, join(tree, "bin", "busybox"));
  cpSync(program, join(tree, "bin", "runtime"), { dereference: true });
  for (const library of run("ldd", [program]).match(/\/\S+/g) ?? []) {
    cpSync(library, join(tree, library), { dereference: true, recursive: true });
  }
  pack(busybox, tree, `${tree}.part`);
  renameSync(`${tree}.part`, archive);
  rmSync(tree, { recursive: true });
  return archive;
}

export interface Boot {
  readonly kernel: string;
  readonly initrd: string;
  /** Where the kernel's own messages go. */
  readonly log: string;
  readonly limitMs: number;
  readonly onLine: (line: string) => void;
}

/** Runs the machine until it ends by itself, or its time is over. Answers whether it ended by itself. */
export async function boot({ kernel, initrd, log, limitMs, onLine }: Boot): Promise<boolean> {
  const append = "console=ttyS0 loglevel=4 panic=-1";
  const args = [
    ...["-accel", "tcg", "-cpu", "max", "-smp", "1", "-m", "2048", "-no-reboot", "-nic", "none", "-display", "none"],
    ...["-monitor", "none", "-serial", `file:${log}`, "-serial", "stdio"],
    ...["-kernel", kernel, "-initrd", initrd, "-append", append],
  ];
  const machine = spawn(emulator, args, { stdio: ["ignore", "pipe", "inherit"] });
  const end = () => machine.kill("SIGKILL");
  process.once("exit", end);
  let late = false;
  const limit = setTimeout(() => {
    late = true;
    end();
  }, limitMs);
  createInterface({ input: machine.stdout }).on("line", onLine);
  await new Promise((resolve) => machine.once("close", resolve));
  clearTimeout(limit);
  process.removeListener("exit", end);
  return !late;
}

function has(program: string): boolean {
  try {
    run("sh", ["-c", `command -v ${program}`]);
    return true;
  } catch {
    return false;
  }
}

function run(program: string, args: readonly string[], cwd?: string): string {
  const env = { ...process.env, DEBIAN_FRONTEND: "noninteractive" };
  return execFileSync(program, args, {
    encoding: "utf8",
    env,
    stdio: ["ignore", "pipe", "pipe"],
    ...(cwd === undefined ? {} : { cwd }),
  });
}
