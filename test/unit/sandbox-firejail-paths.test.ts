/** Which paths firejail can show, and why not the others. Pure. */

import { expect, test } from "vitest";
import { firejail } from "../../adapters/_native/sandbox/firejail.ts";
import type { Mount } from "../../adapters/_native/sandbox/view.ts";
import { factsOf, readonly, viewOf } from "../fixtures/firejail-words.ts";

test.each([
  "/a*",
  "/a?",
  "/a[b]",
  "/a#b",
  '/a"b',
  "/a\\b",
  "/a,b",
  "/a\nb",
  "/a..b",
  "/a  b",
  "/a ",
  "/a{b}",
  "/a;b",
  "/a&b",
])("the path %j cannot be told, and the reason names it", (path) => {
  const program = firejail("/usr/bin/firejail", factsOf(0));
  expect(program.cannot(viewOf({ workingDir: `/srv${path}` }))).toContain(JSON.stringify(`/srv${path}`));
});

test.each([
  ...["/run", "/tmp", "/var", "/run/lock", "/run/firejail", "/var/lock", "/boot", "/lib/modules"].map((path) => [
    path,
    path,
  ]),
  ["/boot/efi", "/boot"],
])("the path %s is not firejail's to show, and the reason names %s", (path, told) => {
  const program = firejail("/usr/bin/firejail", factsOf(1000));
  for (const kind of ["readonly", "writable"] as const) {
    const why = program.cannot(viewOf({ listed: [{ kind, at: path, source: path }] }));
    expect(why).toContain(told);
    expect(why).toMatch(/or (?:choose )?bubblewrap$/);
  }
  expect(program.cannot(viewOf({ workingDir: "/usr/src/linux/drivers" }))).toContain("place of /usr/src/linux:");
});

test.each(["/var/tmp", "/run/user", "/etc", "/var/lib", "/opt", "/bootstrap", "/run/locked", "/usr/src/linux-headers"])(
  "the path %s can be shown",
  (path) => {
    expect(firejail("/usr/bin/firejail", factsOf(0)).cannot(viewOf({ listed: [readonly(path)] }))).toBeNull();
  },
);

test.each(["/plain", "/with space", "/it's", "/ümläut", "/a.b", "/a$b", "/a(b)", "/a=b~", "/-x"])(
  "the path %j can be told",
  (path) => {
    expect(firejail("/usr/bin/firejail", factsOf(0)).cannot(viewOf({ workingDir: `/srv${path}` }))).toBeNull();
  },
);

test("what is in a home that is somebody else's cannot be shown by itself", () => {
  const home = { path: "/var/www", isOwn: false };
  const { cannot } = firejail("/usr/bin/firejail", factsOf(33, { home }));
  expect(cannot(viewOf({ workingDir: "/var/www/site" }))).toContain("/var/www/site is in /var/www");
  expect(cannot(viewOf({ workingDir: "/var/other" }))).toBeNull();
  expect(cannot(viewOf({ workingDir: "/var/www/site", listed: [readonly("/var/www")] }))).toBeNull();
});

test("root's private place in /sys cannot be emptied, and a user's is not seen", () => {
  const view = viewOf();
  const mounts: readonly Mount[] = [...view.mounts, { kind: "private", at: "/sys/kernel" }];
  const cannot = (uid: number) => firejail("/usr/bin/firejail", factsOf(uid)).cannot({ ...view, mounts });
  expect(cannot(0)).toContain("/sys/kernel is to be empty");
  expect(cannot(1000)).toBeNull();
});
