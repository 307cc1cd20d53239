/** Side-by-side measurement: candidates take turns, so that a busy moment of the machine hits all of them. */

/** Something to be measured, under the name it is shown by. */
export interface Candidate {
  readonly name: string;
  readonly run: () => Promise<unknown>;
}

/** Milliseconds of each round, by candidate, ascending. */
export type Samples = ReadonlyMap<string, readonly number[]>;

/** Runs every candidate once a round, in a turning order, and drops the warm-up. */
export async function interleave(
  candidates: readonly Candidate[],
  { rounds, warmUp }: { readonly rounds: number; readonly warmUp: number },
): Promise<Samples> {
  const samples = new Map(candidates.map(({ name }) => [name, [] as number[]]));
  for (let round = -warmUp; round < rounds; round += 1) {
    for (let turn = 0; turn < candidates.length; turn += 1) {
      const candidate = candidates[(turn + round + warmUp) % candidates.length];
      if (candidate === undefined) continue;
      const since = performance.now();
      await candidate.run();
      if (round >= 0) samples.get(candidate.name)?.push(performance.now() - since);
    }
  }
  for (const times of samples.values()) times.sort((a, b) => a - b);
  return samples;
}

/** The value below which `share` of the sorted samples lie. */
export function quantile(sorted: readonly number[], share: number): number {
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN;
}

/** The JavaScript runtime this runs on, with its version. */
export function runtimeName(): string {
  const { versions } = globalThis.process;
  if (versions["bun"] !== undefined) return `bun ${versions["bun"]}`;
  if (versions["deno"] !== undefined) return `deno ${versions["deno"]}`;
  return `node ${versions.node}`;
}
