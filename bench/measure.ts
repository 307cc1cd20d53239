/**
 * Side-by-side measurement: candidates take turns, so that a busy moment of the machine hits all of them, in an order that is
 * drawn anew each time, so that none always pays for what its predecessor leaves to be cleared away.
 */

/** Something to be measured, under the name it is shown by. */
export interface Candidate {
  readonly name: string;
  readonly run: () => Promise<unknown>;
}

/** Milliseconds of each round, by candidate, ascending. */
export type Samples = ReadonlyMap<string, readonly number[]>;

/** Runs every candidate once a round, in a random order, and drops the warm-up. */
export async function interleave(
  candidates: readonly Candidate[],
  { rounds, warmUp }: { readonly rounds: number; readonly warmUp: number },
): Promise<Samples> {
  const samples = new Map(candidates.map(({ name }) => [name, [] as number[]]));
  for (let round = -warmUp; round < rounds; round += 1) {
    for (const candidate of shuffled(candidates)) {
      const since = performance.now();
      await candidate.run();
      if (round >= 0) samples.get(candidate.name)?.push(performance.now() - since);
    }
  }
  for (const times of samples.values()) times.sort((a, b) => a - b);
  return samples;
}

/** In an order drawn anew: Fisher and Yates. */
export function shuffled<Item>(items: readonly Item[]): readonly Item[] {
  const order = [...items];
  for (let last = order.length - 1; last > 0; last -= 1) {
    const other = Math.floor(Math.random() * (last + 1));
    [order[last], order[other]] = [order[other] as Item, order[last] as Item];
  }
  return order;
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
