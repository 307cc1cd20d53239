/** A program of its own: tries the whole hostile set as the user that started it, and prints every trial as JSON. */

import { isolateState } from "../fixtures/host-target.ts";
import { hostile } from "./hostile/all.ts";
import { expected, openTargets, tryAttack } from "./hostile/try.ts";

const state = isolateState();
const targets = await openTargets();
const trials: unknown[] = [];
for (const [aim, attacks] of Object.entries(hostile)) {
  for (const attack of attacks) {
    for (const { sandbox, carry } of targets) {
      const trial = await tryAttack(attack, carry);
      trials.push({ name: `${aim} > ${attack.name}`, sandbox, ...trial, expected: expected(attack, sandbox) });
    }
  }
}
for (const { close } of targets) await close();
state.remove();
console.log(JSON.stringify(trials));
