/** Commands in containers: what was reported to go wrong with them elsewhere, tried on a real daemon. */

import {
  chmodSync,
  lstatSync,
  readFileSync,
  readlinkSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { busybox, dockerScene } from "../fixtures/docker-scene.ts";
import { need } from "../fixtures/needed.ts";
import { docker } from "../rig/docker/place.ts";

const scene = dockerScene();
if (scene !== null) {
  const { open, directory } = scene;
  const slow = 120_000;

  test("the output of commands that end at once is never lost", { timeout: 600_000 }, async () => {
    const runtime = await open();
    const rounds = process.env["PRX_WHOLE"] === "1" ? 200 : 48;
    const run = async () => (await runtime.execute("echo", ["x"])).stdout;
    for (let done = 0; done < rounds; done += 12) {
      expect(await run()).toBe("x\n");
      expect(await Promise.all(Array.from({ length: 11 }, run))).toEqual(Array.from({ length: 11 }, () => "x\n"));
    }
  });

  test("a line of 100 kB of three-byte characters comes as it is", { timeout: slow }, async () => {
    const runtime = await open();
    const { stdout, stdoutTotalBytes } = await runtime.execute("sh", ["-c", "printf '中%.0s' $(seq 33000)"]);
    expect(stdoutTotalBytes).toBe(99_000);
    expect(stdout === "中".repeat(33_000)).toBe(true);
  });

  describe("memory", { timeout: slow }, () => {
    const limits = { memoryBytes: 32 * 1024 * 1024 };
    const eat = "head -c 200m /dev/zero | tail";

    test("a command that the kernel killed for it ran out of memory", async () => {
      const runtime = await open();
      const { outcome, exitCode, signal } = await runtime.execute("sh", ["-c", `exec tail /dev/zero`], { limits });
      expect([outcome, exitCode, signal]).toEqual(["out_of_memory", 137, "SIGKILL"]);
    });

    test("a killed child is a warning, and the command's own end stands", async () => {
      const runtime = await open();
      // The daemon hears of it beside the ends of processes, and on a busy machine after them.
      const script = `(${eat}) >/dev/null; echo after=$?; sleep 1`;
      const output = await runtime.execute("sh", ["-c", script], { limits });
      expect([output.outcome, output.exitCode, output.stdout]).toEqual(["completed", 0, "after=137\n"]);
      expect(output.warnings.map(({ code }) => code)).toContain("child_out_of_memory");
    });

    test("neither a chosen 137 nor a kill of ours is one", async () => {
      const runtime = await open();
      expect(await runtime.execute("sh", ["-c", "exit 137"], { limits })).toMatchObject({
        outcome: "completed",
        exitCode: 137,
      });
      const script = "trap '' TERM; while :; do sleep 1; done";
      const killed = await runtime.execute("sh", ["-c", script], { limits, timeoutMs: 300 });
      expect(killed).toMatchObject({ outcome: "timed_out", exitCode: 137 });
    });
  });

  describe("limits", { timeout: slow }, () => {
    test("a fork bomb meets its limit, and is gone", async () => {
      const runtime = await open({ pids_limit: 30 });
      // Itself it begins one process, while there is room.
      const bomb = "f() { f | f & }; (f) & exec sleep 30";
      const { outcome } = await runtime.execute("sh", ["-c", bomb], { timeoutMs: 1500 });
      expect(outcome).toBe("timed_out");
    });

    test("what is written is limited, in memory and by file", async () => {
      const runtime = await open({ tmpfs_size: "1m", file_size_limit: "4k" });
      const full = await runtime.execute("sh", [
        "-c",
        "for i in $(seq 600); do dd if=/dev/zero of=/tmp/$i bs=4096 count=1 2>$HOME/said || { cat $HOME/said >&2; exit 9; }; done",
      ]);
      expect(full).toMatchObject({ exitCode: 9, stderr: expect.stringMatching(/No space left/) });
      const large = await runtime.execute("sh", ["-c", "head -c 8192 /dev/zero > /tmp/x; wc -c < /tmp/x"]);
      expect(large.stdout).toBe("4096\n");
    });

    test("the kernel says the same as the plan", async () => {
      const runtime = await open();
      const script = `grep -E 'NoNewPrivs|Seccomp:|CapEff|CapBnd' /proc/self/status; ulimit -n; ulimit -c; ls /sys/class/net`;
      const { stdout } = await runtime.execute("sh", ["-c", script]);
      expect(stdout.replaceAll(/\s+/g, " ")).toBe(
        "CapEff: 0000000000000000 CapBnd: 0000000000000000 NoNewPrivs: 1 Seccomp: 2 4096 0 lo ",
      );
    });
  });

  describe("the container's own files", { timeout: slow }, () => {
    test.each([busybox, "prx-rig/own-user:latest", "debian:bookworm-slim"])(
      "in %s /tmp and HOME can be written and run from, and nothing else",
      async (image) => {
        const runtime = await open({ image });
        const script =
          'touch /tmp/a && cp "$(which cat)" /tmp/cat && echo ran | /tmp/cat && touch "$HOME/b" && touch here && ! touch /etc/x 2>/dev/null';
        const output = await runtime.execute("sh", ["-c", script]);
        expect([output.exitCode, output.stdout, output.stderr]).toEqual([0, "ran\n", ""]);
      },
    );

    test("without a shell and without /tmp in the image they can be written all the same", async () => {
      const runtime = await open({ image: "prx-rig/no-shell:latest" });
      expect(await runtime.execute("echo", ["hi"])).toMatchObject({ exitCode: 0, stdout: "hi\n" });
      await expect(runtime.execute("sh", ["-c", "true"])).rejects.toMatchObject({ code: "command_not_found" });
    });

    test("an image's entry point, command, user, directory and home are not in the way; its other variables are told", async () => {
      const runtime = await open({ tool_images: { own: "prx-rig/own-user:latest" } });
      const hijack = await open({ image: "prx-rig/entrypoint:latest" });
      expect((await hijack.execute("printf", ["ok"])).stdout).toBe("ok");
      const tool = "own";
      const { stdout } = await runtime.execute("sh", ["-c", 'id -u; pwd; echo "$HOME $IMAGE_SAYS"'], { tool });
      expect(stdout).toBe("65534\n/workspace\n/home/prx hello\n");
      const { addedEnv } = await runtime.explain("env", [], { tool });
      expect(addedEnv).toContain("IMAGE_SAYS");
    });

    test("whom the image names is taken only where the operator accepts what is not known", async () => {
      const docker = { image: "prx-rig/own-user:latest", user: "image" };
      const strict = await open(docker);
      await expect(strict.execute("id", ["-u"])).rejects.toMatchObject({ code: "policy_unenforceable" });
      const runtime = await open(docker, { security: { accept_weaker: ["privilege"] } });
      expect((await runtime.execute("id", ["-u"])).stdout).toBe("1234\n");
    });
  });

  describe("workspaces", { timeout: slow }, () => {
    test("what a command writes is its workspace's owner's, who can remove it", async () => {
      const runtime = await open();
      const { path } = await directory(1000);
      const script = "echo x > f; stat -c %u f; ls -a";
      const { stdout, warnings } = await runtime.execute("sh", ["-c", script], { workingDir: path });
      expect([stdout, warnings]).toEqual(["1000\n.\n..\nf\n", []]);
      expect(statSync(join(path, "f")).uid).toBe(1000);
      rmSync(join(path, "f"));
    });

    test("root's is copied in and its changes back: new, changed, removed, linked, and nothing else", async () => {
      const runtime = await open();
      const { path, write, link, read, makeDirectory } = await directory(0);
      await write("keep/me.txt", "kept");
      await write("change.txt", "before");
      await write("gone.txt", "x");
      await write("tool", "#!/bin/sh\necho ran\n", { executable: true });
      await makeDirectory("empty");
      await link("alias", "keep/me.txt");
      await link("keep/up", "../..");
      const before = lstatSync(join(path, "keep/me.txt")).mtimeMs;
      const script =
        "cat alias; ./tool; id -u; echo after > change.txt; rm gone.txt; mkdir -p new/sub; echo n > new/sub/f; ln -s /etc/passwd out; ln change.txt second";
      const output = await runtime.execute("sh", ["-c", script], { workingDir: path });
      expect([output.exitCode, output.stdout, output.stderr]).toEqual([0, "keptran\n65534\n", ""]);
      expect(output.warnings.map(({ code }) => code)).toEqual(["workspace_copied"]);
      expect([await read("change.txt"), await read("gone.txt"), await read("new/sub/f")]).toEqual([
        "after\n",
        null,
        "n\n",
      ]);
      expect(lstatSync(join(path, "keep/me.txt")).mtimeMs).toBe(before);
      expect(lstatSync(join(path, "out")).isSymbolicLink()).toBe(true);
      expect(await read("second")).toBe("after\n");
      expect(readlinkSync(join(path, "keep/up"))).toBe("../..");
      expect(statSync(join(path, "new/sub/f")).uid).toBe(0);
    });

    test("root's can be edited and built in turns, and times that were set come back", { timeout: slow }, async () => {
      const runtime = await open();
      const { path, write, read } = await directory(0);
      const build = "if [ ! -e out ] || [ src -nt out ]; then cp src out; echo built; else echo up to date; fi";
      const said: string[] = [];
      for (const text of ["one", "two", "three"]) {
        // busybox compares whole seconds.
        await new Promise((resolve) => setTimeout(resolve, 1100));
        await write("src", text);
        said.push((await runtime.execute("sh", ["-c", build], { workingDir: path })).stdout);
      }
      expect([said, await read("out")]).toEqual([["built\n", "built\n", "built\n"], "three"]);
      const dated = "touch -d '2001-01-01 00:00:00' old; mkdir -m 555 closed; chmod 700 .; ls closed";
      await runtime.execute("sh", ["-c", dated], { workingDir: path });
      expect(lstatSync(join(path, "old")).mtimeMs).toBe(Date.UTC(2001, 0, 1));
      expect(statSync(join(path, "closed")).mode & 0o777).toBe(0o555);
    });

    test("what takes the place of a directory of root's takes it here too", { timeout: slow }, async () => {
      const runtime = await open();
      const { path, write, read } = await directory(0);
      await write("node_modules/a", "");
      await write("build/b", "");
      const script = "rm -rf node_modules build; ln -s /opt/modules node_modules; echo artifact > build";
      const output = await runtime.execute("sh", ["-c", script], { workingDir: path });
      expect(output.warnings.map(({ code }) => code)).toEqual(["workspace_copied"]);
      expect([readlinkSync(join(path, "node_modules")), await read("build")]).toEqual(["/opt/modules", "artifact\n"]);
    });

    test("a container that somebody else removes is lost", { timeout: slow }, async () => {
      const runtime = await open();
      const names: string[] = [];
      for await (const event of runtime.stream("sh", ["-c", "echo ready; sleep 30"])) {
        if (event.type === "stdout") {
          const own = ["--filter", `label=prx-runtime.pid=${process.pid}`, "--format", "{{.Names}}"];
          names.push(...docker("ps", ...own).split("\n"));
          docker("rm", "--force", "--volumes", ...names);
        }
        if (event.type !== "finished") continue;
        expect(event.output).toMatchObject({ outcome: "lost", cause: "deleted", exitCode: null });
      }
      expect(names.length).toBe(1);
    });

    test("a link that a command left does not lead the way back out of the directory", async () => {
      const runtime = await open();
      const [inside, outside] = [await directory(0), await directory(0)];
      await outside.write("victim", "untouched");
      await inside.link("dir", outside.path);
      const script = "rm dir && mkdir dir && echo changed > dir/victim";
      const output = await runtime.execute("sh", ["-c", script], { workingDir: inside.path });
      expect(output.exitCode).toBe(0);
      expect(await outside.read("victim")).toBe("untouched");
      expect(readFileSync(join(inside.path, "dir/victim"), "utf8")).toBe("changed\n");
    });

    test.each(["/", "/run", "/var/run"])("%s holds the daemon's socket, or may: it is refused", async (workingDir) => {
      const runtime = await open({ socket: "/var/run/docker.sock" }).catch(() => open());
      const attempt = runtime.execute("ls", [], { workingDir });
      if (workingDir === "/") await expect(attempt).rejects.toMatchObject({ code: "working_dir_not_allowed" });
      else
        await attempt.then(
          () => {},
          (error) => expect(error.code).toBe("working_dir_not_allowed"),
        );
    });

    test("only in the roots that the operator allows, and not at all where none is mounted", async () => {
      const [allowed, other] = [await directory(), await directory()];
      const runtime = await open({ allowed_workspace_roots: [allowed.path] });
      const at = (workingDir: string) => runtime.execute("pwd", [], { workingDir });
      expect((await at(allowed.path)).stdout).toBe("/workspace\n");
      await expect(at(other.path)).rejects.toMatchObject({ code: "working_dir_not_allowed" });
      const none = await open({ mount_workspace: false });
      const attempt = none.execute("pwd", [], { workingDir: allowed.path });
      await expect(attempt).rejects.toMatchObject({ code: "working_dir_not_allowed" });
      expect((await none.execute("cat", ["a"], { files: { a: "still" } })).stdout).toBe("still");
    });

    test("seen at the path that is configured, beside what else may be read", async () => {
      const { path, write } = await directory();
      const extra = await directory();
      chmodSync(extra.path, 0o755);
      await extra.write("tool", "#!/bin/sh\necho from the mount\n", { executable: true });
      await write("a", "x");
      const runtime = await open({ workspace_mount_path: "/project", readonly_mounts: [`${extra.path}:/opt/tools`] });
      const script = "pwd; ls; /opt/tools/tool; ! touch /opt/tools/x 2>/dev/null";
      const output = await runtime.execute("sh", ["-c", script], { workingDir: path });
      expect([output.exitCode, output.stdout]).toEqual([0, "/project\na\nfrom the mount\n"]);
    });
  });

  describe("stopping", { timeout: slow }, () => {
    test("ends the work itself, within the grace period", async () => {
      const runtime = await open({}, { runtime: { kill_grace_secs: 0.5 } });
      const { path, read } = await directory();
      const script = "trap '' TERM; while :; do date >> beat; sleep 0.1; done";
      const began = performance.now();
      const output = await runtime.execute("sh", ["-c", script], { workingDir: path, timeoutMs: 1000 });
      expect(output.outcome).toBe("timed_out");
      expect(performance.now() - began).toBeLessThan(8000);
      const beats = (await read("beat"))?.length ?? 0;
      expect(beats).toBeGreaterThan(0);
      await new Promise((resolve) => setTimeout(resolve, 500));
      expect((await read("beat"))?.length).toBe(beats);
    });

    test("an ordinary first process ends at the polite signal, and its orphans are no zombies", async () => {
      const runtime = await open({}, { runtime: { kill_grace_secs: 20 } });
      const script =
        "for i in $(seq 50); do (sleep 0.1 &) ; done; sleep 1; grep -l '^[0-9]* (.*) Z' /proc/[0-9]*/stat | wc -l; exec sleep 300";
      const output = await runtime.execute("sh", ["-c", script], { timeoutMs: 2500 });
      expect(output).toMatchObject({ outcome: "timed_out", exitCode: 143, stdout: "0\n" });
      expect(output.durationMs).toBeLessThan(8000);
    });

    test("no copying of a large directory goes on", { timeout: slow }, async (context) => {
      need(context, process.getuid?.() === 0 ? null : "only a directory of root's is copied");
      const { path } = await directory(0);
      writeFileSync(join(path, "large"), "");
      truncateSync(join(path, "large"), 2 ** 35);
      const runtime = await open();
      const stop = new AbortController();
      setTimeout(() => stop.abort(), 1000);
      const since = performance.now();
      const running = runtime.execute("true", [], { workingDir: path, signal: stop.signal });
      await expect(running).rejects.toMatchObject({ code: "cancelled_before_start" });
      expect(performance.now() - since).toBeLessThan(30_000);
    });

    test("a hundred at one moment leave nothing", { timeout: 300_000 }, async () => {
      const runtime = await open();
      const stop = new AbortController();
      const running = Array.from({ length: 100 }, () =>
        runtime.execute("sleep", ["300"], { signal: stop.signal }).then(
          ({ outcome }) => outcome,
          ({ code }) => code,
        ),
      );
      setTimeout(() => stop.abort(), 4000);
      for (const result of await Promise.all(running))
        expect(["cancelled", "cancelled_before_start"]).toContain(result);
    });
  });

  test("a container that is to be kept is kept, and the result names it", { timeout: slow }, async () => {
    const runtime = await open({ auto_remove: false });
    const output = await runtime.execute("sh", ["-c", "exit 4"]);
    const warning = output.warnings.find(({ code }) => code === "container_kept");
    const name = /prx-[0-9a-f-]+/.exec(warning?.message ?? "")?.[0] ?? "";
    expect([output.exitCode, docker("inspect", "--format", "{{.State.ExitCode}}", name)]).toEqual([4, "4"]);
    docker("rm", "--volumes", name);
  });

  test("a missing image is an error where pulling is off, and nothing is made", { timeout: slow }, async () => {
    const runtime = await open({ image: "127.0.0.1:1/no/such:1", auto_pull: false });
    await expect(runtime.execute("true")).rejects.toMatchObject({ code: "image_not_found", started: "no" });
  });

  test("a network is there only where the operator gives one", { timeout: slow }, async () => {
    const runtime = await open({ network: "bridge" });
    const links = (options = {}) =>
      runtime.execute("ls", ["/sys/class/net"], options).then(({ stdout }) => stdout.trim());
    expect(await links()).toMatch(/eth0/);
    expect(await links({ network: "none" })).toBe("lo");
  });
}
