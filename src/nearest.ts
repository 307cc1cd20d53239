/** The name that was most likely meant by a wrong one. */

import { distance } from "fastest-levenshtein";

/** The nearest of the candidates; `undefined` where none is near enough to be meant. */
export function nearest(wrong: string, candidates: Iterable<string>): string | undefined {
  let best: { name: string; far: number } | undefined;
  for (const name of candidates) {
    const far = farness(plain(wrong), plain(name));
    if (far !== undefined && (best === undefined || far < best.far)) best = { name, far };
  }
  return best?.name;
}

/** Whether two names differ in nothing but case, dashes, dots and underscores. */
export function sameName(one: string, other: string): boolean {
  return plain(one) === plain(other);
}

function plain(name: string): string {
  return name.toLowerCase().replaceAll(/[-_ .]/g, "");
}

function farness(wrong: string, right: string): number | undefined {
  const far = distance(wrong, right);
  if (far <= Math.max(1, Math.floor(right.length / 3))) return far;
  // Half a name is near too: "timeout" for "timeout_secs".
  const [short, long] = wrong.length < right.length ? [wrong, right] : [right, wrong];
  return short.length >= 4 && long.startsWith(short) ? far : undefined;
}
