/** Remembers where an image has its programs: an image is known by its content, which never changes. */

import type { ContainerCalls, InspectedContainer } from "./containers.ts";
import { defaultPath, findProgram, type Lookup } from "./program.ts";

export interface CachedLookup extends Lookup {
  /** Paths at which a container has something else than its image has. */
  readonly mounted: readonly string[];
}

const mostEntries = 500;

/** @returns what {@link findProgram} answers, without asking again for a program that an image has */
export function createProgramCache() {
  const known = new Set<string>();
  return async (
    calls: ContainerCalls,
    inspected: InspectedContainer,
    lookup: Omit<CachedLookup, "path">,
  ): Promise<void> => {
    const { command, user, mounted } = lookup;
    const path = pathOf(inspected);
    // Relative ones, and directories that are mounted, hold something else each time.
    const isOfImage = command.startsWith("/") || !command.includes("/");
    const key = JSON.stringify([inspected.Image, path, command, user]);
    if (isOfImage && known.has(key)) return;
    const found = await findProgram(calls, { ...lookup, path });
    const isMounted = (path: string) => mounted.some((place) => path === place || path.startsWith(`${place}/`));
    const searched = command.includes("/") ? [] : path.split(":");
    const mayChange =
      isMounted(found) || searched.some((directory) => !directory.startsWith("/") || isMounted(directory));
    if (!isOfImage || mayChange || known.size >= mostEntries) return;
    known.add(key);
  };
}

export type FindCached = ReturnType<typeof createProgramCache>;

function pathOf({ Config }: InspectedContainer): string {
  const entry = Config?.Env?.find((variable) => variable.startsWith("PATH="));
  return entry === undefined ? defaultPath : entry.slice("PATH=".length);
}
