/** The tables of the configuration that this build's backends bring. */

import { type ConfigOf, defineConfig } from "../src/config.ts";
import { dockerFragment } from "./docker.fragment.ts";
import { kubernetesFragment } from "./kubernetes.fragment.ts";
import { memoryFragment } from "./memory.fragment.ts";
import { nativeFragment } from "./native.fragment.ts";
import { remoteFragment } from "./remote.fragment.ts";
import { wasmFragment } from "./wasm.fragment.ts";

/** One per backend, in the order of the reference. */
export const fragments = [
  nativeFragment,
  dockerFragment,
  kubernetesFragment,
  wasmFragment,
  remoteFragment,
  memoryFragment,
] as const;

/** A configuration with the tables of every backend. */
export type FullConfig = ConfigOf<typeof fragments>;

/** What a configuration may hold here. One object for the library and the program: what one validated, the other knows. */
export const definition = defineConfig(fragments);
