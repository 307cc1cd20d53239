/**
 * The directories in which this process has commands at work. What is mounted by its path can be exchanged by a command that may
 * write a directory above, whatever backend runs it: who mounts looks here first.
 */

/** What one command sees of this machine's directories, by real paths. */
export interface PlaceInUse {
  readonly backend: string;
  /** What is mounted for it. */
  readonly sources: readonly string[];
  /** What it may write. */
  readonly writable: readonly string[];
  /** Whether nobody can change any more what it sees. */
  isMade(): boolean;
}

const places = new Set<PlaceInUse>();

export function placesInUse(): readonly PlaceInUse[] {
  return [...places];
}

/** @returns what ends it */
export function usePlace(place: PlaceInUse): () => void {
  places.add(place);
  return () => void places.delete(place);
}
