/** A view as firejail's words, profile and script. Pure. */

import { describe, expect, test } from "vitest";
import { causeOf } from "../../adapters/_native/sandbox/causes.ts";
import { firejail } from "../../adapters/_native/sandbox/firejail.ts";
import type { Mount } from "../../adapters/_native/sandbox/view.ts";
import { factsOf, readonly, wrap } from "../fixtures/firejail-words.ts";

describe("the words", () => {
  test("are the same whatever the command is, and hold nothing of it", () => {
    const argv = ["/bin/ls", "--", "a b", "x".repeat(100_000)] as const;
    const { words, env } = wrap(0, { command: { argv, env: { API_KEY: "s3cret", LD_PRELOAD: "/evil.so" } } });
    expect(words).toEqual(wrap(0).words);
    expect(env).toEqual({});
    expect(words.every((word) => word.length < 4096)).toBe(true);
    expect(words.length).toBeLessThan(128);
  });

  test("no variable that a shell can export is an argument, but a loader's and the shell's own", () => {
    const names = [
      "MAILGUN_KEY",
      "LANGCHAIN_KEY",
      "FUNC_KEY",
      "GLOBAL_KEY",
      "HISTORY_KEY",
      "BASH_KEY",
      "LC_KEY",
      "FC_KEY",
    ];
    const own = ["MAIL", "LANG", "HISTFILE", "GLOBIGNORE", "FUNCNEST", "LD_PRELOAD"];
    const env = Object.fromEntries([...names, ...own].map((name) => [name, `s3cret-${name}`]));
    const { script } = wrap(0, { command: { argv: ["/bin/ls"], env } });
    const last = script.findLast((line) => line.includes("/bin/ls")) ?? "";
    expect(names.filter((name) => last.includes(`s3cret-${name}`))).toEqual([]);
    expect(own.filter((name) => last.includes(`${name}=s3cret-${name}`))).toEqual(own);
  });

  test("end it with the host: root's by the kernel, a user's by a second process", () => {
    expect(wrap(0).words.slice(0, 3)).toEqual(["/usr/bin/setpriv", "--pdeathsig", "KILL"]);
    expect(wrap(0).words).not.toContain("--ipc-namespace");
    const { words } = wrap(1000);
    expect(words[0]).toBe("/usr/bin/sh");
    expect(words[2]).toContain("--pid=77 -f /dev/null && kill -s KILL 0'");
    expect(words).toContain("--ipc-namespace");
  });

  test("take the network away only where there is to be none, and filter where there is a filter", () => {
    expect(wrap(0).words).toContain("--net=none");
    expect(wrap(0, { view: { network: true } }).words).not.toContain("--net=none");
    expect(wrap(0).words).toContain("--seccomp.drop=$1:EPERM");
    expect(wrap(0, { facts: { filter: null } }).words.join(" ")).not.toContain("seccomp");
  });
});

describe("the profile", () => {
  test("of a user: other homes are gone, the own one is empty but for the working directory", () => {
    expect(wrap(1000).profile).toEqual([
      ...["/dev", "/proc", "/etc", "/tmp", "/run", "/var", "/bin", "/usr", "/home"].map(
        (path) => `noblacklist ${path}`,
      ),
      ...["/tmp/.prx-nothing", "/run/.prx-nothing", "/var/tmp", "/etc/passwd", "/home/u/work"].map(
        (path) => `whitelist ${path}`,
      ),
      ...["/home/u/.prx-nothing", "/var/.prx-nothing", "/home/.prx-nothing"].map((path) => `whitelist ${path}`),
      ...["blacklist /*", "blacklist /etc/fonts/secret", "blacklist /proc/keys", "blacklist /proc/key-users"],
      "blacklist /run/user",
      "read-only /usr",
    ]);
  });

  test("of root: what it could write to on the host is read-only", () => {
    const { profile } = wrap(0, { view: { home: "/root" } });
    expect(profile).toEqual(expect.arrayContaining(["read-only /", "read-only /run/firejail", "tmpfs /root"]));
    // What the host keeps read-only in the working directory stays so.
    expect(profile.join("\n")).not.toContain("read-write /home");
    expect(profile.indexOf("read-only /run/firejail")).toBeLessThan(profile.indexOf("read-write /run/firejail/mnt"));
  });

  test("whitelists nothing in what is shown as a whole", () => {
    const { profile } = wrap(0, {
      view: { workingDir: "/work", listed: [readonly("/opt"), readonly("/usr/local/x")] },
    });
    expect(profile).not.toContain("whitelist /work");
    expect(profile).toEqual(expect.arrayContaining(["noblacklist /work", "read-write /work", "noblacklist /opt"]));
    expect(profile.filter((line) => /^whitelist \/(?:usr|opt|work)\b/.test(line))).toEqual([]);
  });

  test("shows all of /etc where it is listed, and lets root write what is listed in it", () => {
    const { profile } = wrap(0, { view: { listed: [readonly("/etc")] } });
    expect(profile.filter((line) => /^(?:white|black)list \/etc/.test(line))).toEqual([]);
    expect(profile).toEqual(expect.arrayContaining(["noblacklist /etc", "read-only /etc"]));
    const listed: readonly Mount[] = [{ kind: "writable", at: "/etc/own", source: "/etc/own" }];
    const within = wrap(0, { view: { listed } }).profile;
    expect(within).toEqual(expect.arrayContaining(["whitelist /etc/passwd", "whitelist /etc/own"]));
    expect(within.indexOf("read-only /etc")).toBeLessThan(within.indexOf("read-write /etc/own"));
    expect(wrap(1000, { view: { listed } }).profile).not.toContain("read-write /etc/own");
  });

  test("covers what is hidden in what is shown, also for a user", () => {
    const { profile } = wrap(1000, { view: { hidden: ["/home/u/work/state"] } });
    expect(profile).toContain("blacklist /home/u/work/state");
    expect(profile.indexOf("blacklist /*")).toBeLessThan(profile.indexOf("blacklist /home/u/work/state"));
    expect(profile.at(-1)).toBe("read-only /home/u/work/state");
  });

  test("empties a directory of / that is the command's own home, and shows nothing of it", () => {
    const { profile, script } = wrap(0, { view: { home: "/data" } });
    expect(profile).toEqual(expect.arrayContaining(["noblacklist /data", "whitelist /data/.prx-nothing"]));
    expect(profile).not.toContain("read-only /data");
    const made = script.indexOf("/usr/bin/mkdir -p '/data'");
    const checked = script.findIndex((line) => line.includes("fail 'It does not empty /data'"));
    expect(made).toBeGreaterThan(0);
    expect(checked).toBeGreaterThan(made);
    expect(checked).toBeLessThan(script.findIndex((line) => line.includes("cd '/home/u/work'")));
  });

  test("lets an own home hold what is mounted in it, and nothing else", () => {
    const { profile, script } = wrap(0, { view: { home: "/data", workingDir: "/data/deep/work" } });
    expect(profile).toContain("whitelist /data/deep/work");
    expect(script.join("\n")).toContain(`case "$e" in '/data/deep') ;; *)`);
  });

  test("hides a home that is somebody else's, where it comes back into an emptied directory", () => {
    const home = { path: "/var/lib/u", isOwn: false };
    expect(wrap(1000, { facts: { home } }).profile).toContain("blacklist /var/lib/u");
  });
});

describe("the script", () => {
  test("quotes every word, and exports what a shell can without others seeing it", () => {
    const env = { A: "it's", "odd-name": "1", PATH: "/bin", LD_PRELOAD: "/x.so", PWD: "/p" };
    const { script } = wrap(0, { command: { argv: ["/bin/ls", "", "$(id)", "a\nb", "'"], env } });
    const text = script.join("\n");
    expect(text).toContain(`export A='it'\\''s'`);
    expect(text).toContain(
      `set -- 'odd-name=1' 'PATH=/bin' 'LD_PRELOAD=/x.so' 'PWD=/p' '/bin/ls' '' '$(id)' 'a\nb' ''\\'''`,
    );
    expect(text.match(/export/g)).toHaveLength(1);
  });

  test("does not take a program with = in its path for a variable", () => {
    expect(wrap(0, { command: { argv: ["/a=b/c", "d"], env: {} } }).script).toContain(
      "set -- '/usr/bin/nice' '-n' '0' '/a=b/c' 'd'",
    );
  });

  test("lets no variable's name be an option of the program that sets it", () => {
    const env = { "--split-string": "/bin/echo other", "-": "1" };
    const { script } = wrap(0, { command: { argv: ["/bin/ls"], env } });
    expect(script).toContain("set -- '--split-string=/bin/echo other' '-=1' '/bin/ls'");
    expect(script.join("\n")).toContain('-u _ -- "$@"');
  });

  test("looks first whether it is in a sandbox, and says that it goes on only after all else", () => {
    const { script } = wrap(0);
    const at = (part: string) => script.findIndex((line) => line.includes(part));
    expect(at("/state/own/unseen")).toBe(3);
    expect(at("It does not show /home/u/work")).toBeLessThan(at("cd '/home/u/work'"));
    expect(at("cd '/home/u/work'")).toBeLessThan(at("echo 'prx-runtime: started' >&4"));
    expect(at("echo 'prx-runtime: started' >&4")).toBeLessThan(at("4>&-"));
    expect(at("4>&-")).toBeLessThan(at("exec /usr/bin/setsid /usr/bin/env"));
  });

  test("looks for what the kernel needs to execute the command, before the command counts as begun", () => {
    const command = { argv: ["/bin/wrapper", "/bin/tool"], env: {}, needs: ["/bin/tool", "../sh"] } as const;
    const { script } = wrap(0, { command });
    const line = script.indexOf("[ -e '../sh' ] || fail 'execvp /bin/tool: No such file or directory'");
    expect(line).toBeGreaterThan(script.findIndex((part) => part.startsWith("cd ")));
    expect(line).toBeLessThan(script.findIndex((part) => part.includes("prx-runtime: started")));
    expect(script).toContain("[ -x '/bin/tool' ] || fail 'execvp /bin/tool: Permission denied'");
  });

  test("asks the kernel about arguments only where there are many", () => {
    const many = (length: number) =>
      wrap(0, { command: { argv: ["/bin/ls", "x".repeat(length)], env: {} } }).script.join("\n");
    expect(many(100)).not.toContain("too long");
    expect(many(100_000)).toContain(`/usr/bin/true "$@" || fail 'Argument list too long'`);
  });

  test("links to what is somewhere else on the host", () => {
    const { script } = wrap(1000, { view: { listed: [readonly("/home/u/tools", "/data/tools")] } });
    expect(script.join("\n")).toContain(`/usr/bin/ln -s '/data/tools' '/home/u/tools'`);
  });
});

test("the mark alone says that the command was run", () => {
  const { readStatus } = firejail("/usr/bin/firejail", factsOf(0));
  expect(readStatus("")).toEqual({ initPid: null, ended: false, said: "" });
  expect(readStatus("Error: x\n")).toEqual({ initPid: null, ended: false, said: "Error: x\n" });
  expect(readStatus("Error: prx-runtime: started\n").ended).toBe(false);
  expect(readStatus("Warning: y\nprx-runtime: started\n")).toEqual({
    initPid: null,
    ended: true,
    said: "Warning: y\n",
  });
});

test.each([
  ["Error: invalid --keep-fd=4 command line option", "too old"],
  ["Error: the user is not allowed to use Firejail.\nPlease add", "list of users"],
  ["Error: cannot create /run/firejail/profile/4240", "setuid root"],
  ["Error clone: main.c:3094 main: Operation not permitted", "CAP_SYS_ADMIN"],
  ["It made no sandbox: it takes this for one already", "without one"],
  ["Access error: uid 5, last mount name:/ dir:/x type:tmpfs - invalid whitelist mount", "others mount"],
  ["There is no program setpriv in /usr/bin:/bin", "missing"],
  ["Directories stay visible by /etc/firejail/firejail.config: whitelist-disable-topdir /opt", "hides"],
])("the complaint %j has a cause and a remedy", (said, reason) => {
  const cause = causeOf("firejail", said);
  expect(cause.reason).toContain(reason);
  expect(cause.reason).toContain(said.split("\n")[0]);
  expect(cause.remedy).not.toContain("Mend that");
});
