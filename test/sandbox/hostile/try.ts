/** Tries one attack on the host and in every sandbox, each time in a scene of its own. */

import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import process from "node:process";
import { createRuntime } from "../../../mod.ts";
import { isOnPath } from "../../fixtures/needed.ts";
import { type Sandbox, sandboxes } from "../against.ts";
import type { Attack, Evidence, Staged } from "./attack.ts";
import { withScene } from "./scene.ts";

/** Runs what was staged, in the workspace. */
export type Carry = (staged: Staged, workspace: string) => Promise<Evidence>;

/** Whether an attack got through, or why it was not tried. */
export type Trial = { readonly skipped: string } | { readonly through: boolean; readonly evidence: Evidence };

export async function tryAttack(attack: Attack, carry: Carry): Promise<Trial> {
  const reason = whyNot(attack);
  if (reason !== null) return { skipped: reason };
  return await withScene(async (scene) => {
    const staged = await attack.stage(scene);
    for (const [path, content] of Object.entries(staged.files ?? {})) {
      mkdirSync(dirname(join(scene.workspace, path)), { recursive: true });
      writeFileSync(join(scene.workspace, path), content);
    }
    const evidence = await carry(staged, scene.workspace);
    return { through: await staged.succeeded(evidence), evidence };
  });
}

function whyNot({ onlyAs, needs = [], obstacle }: Attack): string | null {
  const user = process.getuid?.() === 0 ? "root" : "user";
  if (onlyAs !== undefined && onlyAs !== user)
    return `it is an attack of ${onlyAs === "root" ? "root" : "a user without privileges"}`;
  const missing = needs.filter((name) => !isOnPath(name));
  if (missing.length > 0) return `this user finds no ${missing.join(", no ")} on PATH`;
  return obstacle?.() ?? null;
}

/** The backend under attack, and its end. */
export interface Target {
  readonly sandbox: Sandbox;
  readonly carry: Carry;
  close(): Promise<void>;
}

/** Loader variables pass here: what they load must find itself inside of the sandbox all the same. */
const whitelist = ["PATH", "HOME", "TERM", "LANG", "USER", "LD_PRELOAD", "LD_AUDIT", "BASH_ENV", "ENV"];

export async function openTargets(): Promise<readonly Target[]> {
  return await Promise.all(
    (["none", ...sandboxes] as const).map(async (sandbox) => {
      const runtime = await createRuntime({
        runtime: { backend: "native", env_whitelist: whitelist, kill_grace_secs: 0.5 },
        security: { sandbox: { backend: sandbox } },
      });
      const carry: Carry = ({ script, env = {} }, workingDir) =>
        runtime.execute("/bin/bash", ["-c", script.join("\n")], { env, workingDir, timeoutMs: 30_000 });
      return { sandbox, carry, close: () => runtime.close() };
    }),
  );
}

/** Whether an attack is to get through: on the host it is, or it would show nothing of a sandbox. */
export const expected = ({ stoppedAnyway }: Attack, sandbox: Sandbox): boolean =>
  sandbox === "none" && stoppedAnyway === undefined;
