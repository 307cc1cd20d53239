/** What exists apart from any adapter: running work, work started ahead, and the files. Two runtimes on one world are two replicas. */

import { RuntimeError } from "../../src/errors.ts";
import type { Host } from "../../src/host.ts";
import type { ExecutionRef, Leftover, LostCause, Prepared, SweepReport, Template } from "../../src/types.ts";
import { createClock, type MemoryClock } from "./clock.ts";
import { createFiles, type MemoryFiles, type MemoryFilesOptions } from "./file-tree.ts";
import type { MemoryWork } from "./work.ts";

export interface MemoryWorldOptions {
  /** What is on its disk. Without it every directory exists. */
  readonly files?: MemoryFilesOptions["initial"];
  /** Ended executions whose outputs can still be attached to. @default 64 */
  readonly keepEnded?: number;
}

/** A process of the world, for a test that counts them. */
export interface MemoryProcessInfo {
  readonly executionId: string;
  readonly owner: string;
  readonly argv: readonly string[];
  readonly env: Readonly<Record<string, string>>;
}

/** The part of a world that a test looks at and acts upon. */
export interface MemoryWorld {
  readonly files: MemoryFiles;
  /** Processes that run now, those of every replica. */
  processes(): readonly MemoryProcessInfo[];
  /** Timers, executions that are not released and prepared places that are not used: all 0 in a world at rest. */
  pending(): { readonly timers: number; readonly executions: number; readonly prepared: number };
  /** The platform loses an execution. `false`: none of that id runs. */
  lose(id: string, cause: LostCause): boolean;
  /** The platform ends an execution for its memory. `false`: none of that id runs. */
  exhaustMemory(id: string): boolean;
  /** A host whose paths are this world's, for a core without a machine. */
  host(options?: Partial<Pick<Host, "owner" | "workingDir" | "env">>): Host;
}

/** The part of a world that adapters use. */
export interface WorldCore extends MemoryWorld {
  readonly clock: MemoryClock;
  add(work: MemoryWork): void;
  find(id: string): MemoryWork | undefined;
  list(owner: string): AsyncIterable<ExecutionRef>;
  sweep(isAlive: (owner: string) => Promise<boolean>): Promise<SweepReport>;
  prepare(template: Template): Prepared;
  /** Uses prepared work up. Throws when it was used or discarded before, or was made for another template. */
  consume(prepared: Prepared, template: Pick<Template, "image" | "module">): void;
}

/**
 * A world for {@link memory} adapters.
 *
 * @example
 * ```ts
 * import { memory, memoryWorld } from "prx-runtime/testing";
 *
 * const world = memoryWorld();
 * const first = memory({ world, programs: {} });
 * const second = memory({ world, programs: {} });
 * ```
 */
export function memoryWorld(options: MemoryWorldOptions = {}): MemoryWorld {
  return createWorld(options);
}

export function createWorld(options: MemoryWorldOptions = {}): WorldCore {
  const clock = createClock();
  const files = createFiles(options.files === undefined ? {} : { initial: options.files });
  const running = new Map<string, MemoryWork>();
  const ended = new Map<string, MemoryWork>();
  const prepared = new Map<Prepared, Template>();
  let hosts = 0;

  function add(work: MemoryWork): void {
    running.set(work.ref.id, work);
    void work.released.then(() => {
      running.delete(work.ref.id);
      ended.set(work.ref.id, work);
      for (const oldest of ended.keys()) {
        if (ended.size <= (options.keepEnded ?? 64)) break;
        ended.delete(oldest);
      }
    });
  }

  function act(id: string, action: (work: MemoryWork) => void): boolean {
    const work = running.get(id);
    if (work !== undefined) action(work);
    return work !== undefined;
  }

  async function* list(owner: string): AsyncGenerator<ExecutionRef> {
    for (const { ref } of [...running.values()]) if (ref.owner === owner) yield ref;
  }

  async function sweep(isAlive: (owner: string) => Promise<boolean>): Promise<SweepReport> {
    const owners = [...new Set([...running.values()].map(({ ref }) => ref.owner))];
    const alive = await Promise.all(owners.map(isAlive));
    const dead = new Set(owners.filter((_, index) => !alive[index]));
    const orphans = [...running.values()].filter(({ ref }) => dead.has(ref.owner));
    for (const orphan of orphans) orphan.stop();
    const left: Leftover[] = (await Promise.all(orphans.map(({ released }) => released))).flat();
    return { found: orphans.length, removed: orphans.length, failed: left };
  }

  function prepare(template: Template): Prepared {
    const place: Prepared = {
      handle: template,
      async discard() {
        prepared.delete(place);
      },
    };
    prepared.set(place, template);
    return place;
  }

  function consume(place: Prepared, wanted: Pick<Template, "image" | "module">): void {
    const template = prepared.get(place);
    if (template === undefined)
      throw new RuntimeError("start_failed", "The prepared place was used or discarded before");
    if (template.image !== wanted.image || template.module !== wanted.module) {
      throw new RuntimeError("start_failed", "The prepared place was made for another image or module");
    }
    prepared.delete(place);
  }

  return {
    files,
    clock,
    processes: () =>
      [...running.values()].flatMap(({ ref, plan, processes }) =>
        processes
          .filter((process) => !process.over)
          .map(({ argv }) => ({ executionId: ref.id, owner: ref.owner, argv, env: plan.env })),
      ),
    pending: () => ({ timers: clock.waiting, executions: running.size, prepared: prepared.size }),
    lose: (id, cause) => act(id, (work) => work.lose(cause)),
    exhaustMemory: (id) => act(id, (work) => work.exhaustMemory()),
    host(given = {}) {
      hosts += 1;
      return {
        owner: given.owner ?? `memory-host-${hosts}`,
        workingDir: given.workingDir ?? "/",
        env: given.env ?? {},
        now: () => clock.now(),
        inspect: async (path) => files.inspect(path),
      };
    },
    ...{ add, list, sweep, prepare, consume },
    find: (id) => running.get(id) ?? ended.get(id),
  };
}
