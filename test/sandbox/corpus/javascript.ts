/** Node, npm, Bun and Deno. */

import type { CorpusCase } from "./case.ts";

const pack = JSON.stringify({ name: "tiny", version: "1.0.0", main: "index.js", bin: { tiny: "cli.js" } });
const app = JSON.stringify({
  name: "app",
  version: "1.0.0",
  scripts: { hello: "echo hello $npm_package_name && node s.js", pre: "exit 3" },
});
const local = {
  "tiny/package.json": pack,
  "tiny/index.js": "module.exports = 'tiny';\n",
  "tiny/cli.js": "#!/usr/bin/env node\nconsole.log('cli', process.argv.slice(2));\n",
  "app/package.json": app,
  "app/s.js": "console.log('script', process.env.npm_lifecycle_event);\n",
};
const quiet =
  "export npm_config_cache=$PWD/.cache npm_config_audit=false npm_config_fund=false npm_config_update_notifier=false npm_config_offline=true";
const npm = { needs: ["node", "npm"], ignores: [".cache", ".package-lock.json"], timeoutMs: 120_000 } as const;

export const javascriptCases: readonly CorpusCase[] = [
  {
    name: "a script of Node's, as a module and from stdin",
    needs: ["node"],
    files: {
      "m.mjs":
        "import os from 'node:os'; import { readFileSync } from 'node:fs';\nconsole.log(import.meta.url, readFileSync('m.mjs').length, os.homedir(), os.userInfo().username, os.tmpdir(), os.cpus().length);\n",
    },
    script: [
      "node -p '1 + 1'; node m.mjs; echo 'console.log(\"piped\")' | node; node -e 'process.exitCode = 5'; echo $?; node -p process.execPath",
    ],
  },
  {
    name: "processes, workers, pipes and locks of Node's",
    needs: ["node"],
    files: {
      "w.mjs":
        "import { Worker } from 'node:worker_threads'; import { spawnSync, fork } from 'node:child_process'; import net from 'node:net';\nnew Worker('require(\"worker_threads\").parentPort.postMessage(6 * 7)', { eval: true }).on('message', (m) => console.log(m));\nconsole.log(spawnSync('sh', ['-c', 'cat; exit 4'], { input: 'in' }).status, spawnSync('sleep', ['60'], { timeout: 100 }).signal);\nconst c = fork('c.mjs'); c.on('message', (m) => { console.log(m); c.disconnect(); });\nconst s = net.createServer((k) => k.end('unix')).listen('sock', () => net.connect('sock').on('data', (d) => { console.log(String(d)); s.close(); }));\n",
      "c.mjs": "setTimeout(() => process.send('from the child'), 300);\n",
    },
    script: ["node w.mjs | sort"],
  },
  {
    name: "Node's test runner and its crypto",
    needs: ["node"],
    files: {
      "a.test.mjs":
        "import test from 'node:test'; import assert from 'node:assert'; import { createHash, generateKeyPairSync, randomBytes } from 'node:crypto';\ntest('digest', () => assert.equal(createHash('sha256').update('abc').digest('hex').slice(0, 8), 'ba7816bf'));\ntest('keys', () => { generateKeyPairSync('ed25519'); randomBytes(9); });\n",
    },
    script: [
      'node --test a.test.mjs | grep -E \'^. (pass|fail)\'; node -p \'require("tls").rootCertificates.length > 9\'; node -e \'const f = require("fs"); f.watch(".", () => { console.log("watched"); process.exit() }); f.writeFileSync("x", "")\'',
    ],
  },
  {
    ...npm,
    name: "npm run, its variables and its failures",
    files: local,
    script: [
      quiet,
      "cd app; npm run -s hello; npm run -s pre; echo $?; npm pkg get version; npm --version | grep -c .",
    ],
  },
  {
    ...npm,
    name: "npm install of a folder and of a tarball, without a network",
    files: local,
    script: [
      quiet,
      "cd app && npm install --silent ../tiny && node -p 'require(\"tiny\")' && npx tiny a b && (cd ../tiny && npm pack --silent) && npm uninstall --silent tiny && npm install --silent ../tiny/tiny-1.0.0.tgz && node -p 'require.resolve(\"tiny\")' && npm ls --depth 0 | tail -2",
    ],
    ignores: [...npm.ignores, "tiny-1.0.0.tgz", "package-lock.json"],
  },
  {
    ...npm,
    name: "npm init and npm exec",
    script: [
      quiet,
      "mkdir x && cd x && npm init -y > /dev/null && node -p 'require(\"./package.json\").name'; npm root; npm prefix; npm config get cache",
    ],
  },
  {
    name: "Bun runs, tests and spawns",
    needs: ["bun"],
    ignores: [".cache", ".bun"],
    files: {
      "a.ts":
        "const n: number = 3; console.log(n, Bun.version.length > 0, process.cwd()); const p = Bun.spawnSync(['echo', 'spawned']); console.log(p.stdout.toString());\nconst s = Bun.serve({ port: 0, fetch: () => new Response('served') }); console.log(await (await fetch(`http://127.0.0.1:${s.port}/`)).text()); s.stop(true);\n",
      "b.test.ts": "import { test, expect } from 'bun:test'; test('x', () => expect(1).toBe(1));\n",
    },
    script: [
      "bun run a.ts; bun test b.test.ts 2>&1 | grep -E '^ +[0-9]+ (pass|fail)'; bun -e 'console.log(6 * 7)'; bun -e 'process.exit(4)'; echo $?; bun build a.ts --target bun | wc -l",
    ],
  },
  {
    name: "Deno runs, tests and spawns",
    needs: ["deno"],
    ignores: [".deno"],
    files: {
      "a.ts":
        "const n: number = 3; console.log(n, Deno.cwd(), Deno.build.os); const { stdout } = new Deno.Command('echo', { args: ['spawned'] }).outputSync(); console.log(new TextDecoder().decode(stdout));\nconst s = Deno.serve({ port: 0, hostname: '127.0.0.1', onListen() {} }, () => new Response('served')); console.log(await (await fetch(`http://127.0.0.1:${s.addr.port}/`)).text()); await s.shutdown();\n",
      "b_test.ts": "Deno.test('x', () => {});\n",
    },
    env: { NO_COLOR: "1" },
    script: [
      "export DENO_DIR=$PWD/.deno; deno run -A a.ts; deno test -q b_test.ts 2>&1 | grep -oE '[0-9]+ passed'; deno eval 'Deno.exit(4)'; echo $?; deno run a.ts 2>&1 | grep -c NotCapable",
    ],
  },
  {
    name: "Deno with its usual cache",
    needs: ["deno"],
    files: { "a.ts": "console.log(await Deno.stat('.').then((s) => s.isDirectory));\n" },
    script: ["deno run -A a.ts && deno check a.ts; echo $?"],
  },
];
