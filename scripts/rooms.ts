/** Which room of the house a file is in, and which rooms it may import from. The picture is in ARCHITECTURE.md. */

export type RoomKind =
  | "core"
  | "http"
  | "registry"
  | "adapter"
  | "k8s"
  | "host"
  | "mod"
  | "cli"
  | "testing"
  | "contract"
  | "test"
  | "bench"
  | "examples"
  | "scripts";

export interface Room {
  readonly kind: RoomKind;
  /** The adapter's name; the kind itself elsewhere. */
  readonly owner: string;
  /** A piece of the configuration's schema: light enough to be loaded with the registry. */
  readonly fragment: boolean;
}

/** What the files of a room may reach. */
export interface RoomRule {
  readonly to: (target: Room, from: Room, dynamic: boolean) => boolean;
  /** Packages; `"any"` where the room may choose its own. */
  readonly packages: readonly string[] | "any";
  /** Modules of the runtime itself (`node:fs` …). */
  readonly builtins: boolean;
  /** The rule in words, as it is shown beside a violation. */
  readonly says: string;
}

/** The packages that the neutral core is built from; each of them loads on an edge runtime. */
export const corePackages = ["valibot", "@valibot/to-json-schema", "smol-toml", "fastest-levenshtein"] as const;

const fixed: readonly (readonly [RegExp, RoomKind])[] = [
  [/^src\/http\//, "http"],
  [/^src\//, "core"],
  [/^adapters\/(registry|fragments)\.ts$/, "registry"],
  [/^k8s\//, "k8s"],
  [/^host\//, "host"],
  [/^mod\.ts$/, "mod"],
  [/^cli(\.ts$|\/)/, "cli"],
  [/^testing\.ts$/, "testing"],
  // Published by way of testing.ts; the test files beside it are not.
  [/^test\/contract\/.*(?<!\.test)\.ts$/, "contract"],
  [/^test\//, "test"],
  [/^bench\//, "bench"],
  [/^examples\//, "examples"],
  [/^(scripts\/|vitest\.config\.ts$)/, "scripts"],
];

/** `null` for a file that stands in none of the rooms. */
export function roomOf(path: string): Room | null {
  const fragment = /(^|[./])fragment\.ts$/.test(path);
  const kind = fixed.find(([pattern]) => pattern.test(path))?.[1];
  if (kind) return { kind, owner: kind, fragment };
  const adapter = /^adapters\/(?:_([a-z0-9-]+)\/|([a-z0-9-]+)(?:\.fragment)?\.ts$)/.exec(path);
  const owner = adapter?.[1] ?? adapter?.[2];
  return owner ? { kind: "adapter", owner, fragment } : null;
}

const own = (target: Room, from: Room) => target.kind === from.kind && target.owner === from.owner;
const among =
  (...kinds: readonly RoomKind[]) =>
  (target: Room, from: Room) =>
    own(target, from) || kinds.includes(target.kind);
const isMemory = (target: Room) => target.kind === "adapter" && target.owner === "memory";

export const roomRules: Readonly<Record<RoomKind, RoomRule>> = {
  core: {
    to: among(),
    packages: corePackages,
    builtins: false,
    says: `src imports nothing outside src, no runtime's own modules, and no package but ${corePackages.join(", ")}`,
  },
  http: {
    to: among("core"),
    packages: "any",
    builtins: false,
    says: "src/http imports src and packages, and no runtime's own modules",
  },
  registry: {
    to: (target, from, dynamic) =>
      own(target, from) || target.kind === "core" || target.fragment || (target.kind === "adapter" && dynamic),
    packages: corePackages,
    builtins: false,
    says: "The registry imports src and fragments, and adapters only by import()",
  },
  adapter: {
    to: (target, from) => {
      if (target.kind === "core") return true;
      if (from.fragment) return target.fragment && own(target, from);
      // What several backends need of the machine stands once, in host: processes by name, files past hostile links.
      return own(target, from) || target.kind === "host" || (target.kind === "k8s" && from.owner === "kubernetes");
    },
    packages: "any",
    builtins: true,
    says: "An adapter imports src, host, its own _directory and its own fragment; only kubernetes imports k8s",
  },
  k8s: { to: among("core"), packages: "any", builtins: true, says: "k8s imports src and itself" },
  host: { to: among("core"), packages: [], builtins: true, says: "host imports src and the runtime's own modules" },
  mod: {
    to: among("core", "registry", "host"),
    packages: corePackages,
    builtins: true,
    says: "mod.ts imports src, host and the registry",
  },
  cli: {
    to: among("mod", "core", "http", "registry"),
    packages: "any",
    builtins: true,
    says: "The program imports mod.ts, src, src/http and the registry",
  },
  testing: {
    to: (target, from) => among("core", "contract")(target, from) || isMemory(target),
    packages: [],
    builtins: false,
    says: "testing.ts imports src, the contract suite and the memory adapter",
  },
  contract: {
    to: (target, from) => among("core")(target, from) || isMemory(target),
    packages: ["vitest"],
    builtins: true,
    says: "The contract suite is published: it imports src, the memory adapter and itself",
  },
  test: { to: (target) => target.kind !== "bench", packages: "any", builtins: true, says: "Nothing imports bench" },
  bench: {
    to: (target) => target.kind !== "cli",
    packages: "any",
    builtins: true,
    says: "Nothing but its own tests imports the program",
  },
  examples: {
    to: among("mod", "core", "testing"),
    packages: "any",
    builtins: true,
    says: "An example imports the doors and nothing behind them",
  },
  scripts: {
    to: (target) => target.kind !== "test" && target.kind !== "bench",
    packages: "any",
    builtins: true,
    says: "Nothing imports test or bench",
  },
};

/** A fragment is loaded with the registry, so it lives by the core's rules. */
export const fragmentRule: Pick<RoomRule, "packages" | "builtins" | "says"> = {
  packages: corePackages,
  builtins: false,
  says: "A fragment is loaded with the registry: it imports src and the core's packages only",
};
