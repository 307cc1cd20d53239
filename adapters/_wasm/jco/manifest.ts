/** What is kept beside a transpiled guest, and the names under which the two are found. */

export interface Manifest {
  readonly kind: "module" | "component";
  /** Interfaces that the guest imports, without versions. */
  readonly imports: readonly string[];
  /** The files that hold its core modules. */
  readonly modules: readonly string[];
}

export const manifestFile = "manifest.json";
export const entryFile = "guest.mjs";
