/** What a host leaves on disk so that the next start can end what a crash left behind, and nothing else. */

import {
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  unlinkSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { currentWorld, isKnownOver, type ProcessName, type ProcessWorld } from "../../host/process-name.ts";
import { findProcess } from "../../host/process-table.ts";
import { dropRecordsOf } from "./sandbox/placeholder-records.ts";

/** What is written of one host process: who it is, and in which cgroups it keeps its commands. */
export interface OwnerRecord extends ProcessName, ProcessWorld {
  readonly cgroups: readonly string[];
}

/** The records of this host process. */
export interface RunRecords {
  /** This host's own directory; goes when they are closed, or by a later start's sweep. */
  readonly home: string;
  /** The cgroups in which this host keeps its commands. */
  keepsIn(cgroups: readonly string[]): void;
  /** @param also further processes with which a part of it ends that the command's own group does not hold */
  add(id: string, command: ProcessName, also?: readonly ProcessName[]): void;
  remove(id: string): void;
  /** Nothing of this host runs any more. */
  close(): void;
}

/** Another host process's records. */
export interface ForeignRecords {
  readonly owner: OwnerRecord;
  /** The processes of each, the command first. */
  readonly commands: readonly (readonly ProcessName[])[];
  /** They have been dealt with. */
  forget(): void;
}

/** Where records are, and those of this process. */
export interface RecordStore {
  own(owner: string, cgroups: readonly string[]): RunRecords;
  /** Of hosts that are no more. */
  orphans(): readonly ForeignRecords[];
}

/**
 * Records below `directory`, which only this user may reach.
 *
 * @throws Error when the directory is somebody else's or a link: what is read there ends processes.
 */
export function openRecordStore(directory: string): RecordStore {
  mkdirSync(directory, { recursive: true, mode: 0o700 });
  const found = lstatSync(directory);
  const uid = process.getuid?.() ?? found.uid;
  if (!found.isDirectory() || found.uid !== uid || (found.mode & 0o022) !== 0) {
    throw new Error(`${directory} is not a directory that only this user may write`);
  }
  const world = currentWorld();
  const own = new Set<string>();
  return {
    own: (owner, cgroups) => {
      own.add(owner);
      const home = join(directory, owner);
      mkdirSync(home, { recursive: true, mode: 0o700 });
      const place = realpathSync(home);
      homes.add(place);
      const self = { pid: process.pid, startedAt: findProcess(process.pid)?.startedAt ?? "", ...world };
      const keepsIn = (names: readonly string[]) => {
        const record: OwnerRecord = { ...self, cgroups: names };
        writeWhole(join(home, ownerFile), record);
      };
      keepsIn(cgroups);
      return {
        home,
        keepsIn,
        add: (id, command, also = []) => {
          writeWhole(join(home, `${id}.run`), also.length === 0 ? command : { ...command, also });
        },
        remove: (id) => removeFile(join(home, `${id}.run`)),
        close: () => {
          homes.delete(place);
          forgetHost(home);
        },
      };
    },
    orphans: () => {
      const others = readdirSync(directory).filter((name) => !own.has(name));
      const orphans: ForeignRecords[] = [];
      for (const home of others.map((name) => join(directory, name))) {
        const records = readOwner(home);
        if (records === "of nobody" && isAbandoned(home)) forgetHost(home);
        if (records === null || records === "of nobody") continue;
        const { owner } = records;
        // Nothing of an earlier boot runs; of another namespace's processes nothing is known here.
        if (owner.boot !== world.boot) records.forget();
        else if (owner.namespace === world.namespace && isKnownOver(owner)) orphans.push(records);
      }
      return orphans;
    },
  };
}

/** Where the hosts of this process have their records, by real paths. */
const homes = new Set<string>();

/** Whether a host that is none of this process's keeps its records beside these, by their real path. */
export function hasNeighbours(home: string): boolean {
  const directory = dirname(home);
  try {
    // Beside them are files, and links by which turns are taken.
    const others = readdirSync(directory, { withFileTypes: true }).filter(
      (one) => !one.isFile() && !one.isSymbolicLink(),
    );
    return others.map(({ name }) => join(directory, name)).some((other) => other !== home && !homes.has(other));
  } catch {
    return true;
  }
}

/** What stood for protected names goes as well. */
function forgetHost(home: string): void {
  try {
    dropRecordsOf(home);
  } catch {
    // Others may rely on it: it stays.
  }
  rmSync(home, { recursive: true, force: true });
}

/** A command that could not be started has no record. */
function removeFile(path: string): void {
  try {
    unlinkSync(path);
  } catch {
    // What is not there need not be removed.
  }
}

/** Whole at any time: a host can be killed while it writes. */
function writeWhole(path: string, record: object): void {
  writeFileSync(`${path}.new`, JSON.stringify(record), { mode: 0o600 });
  renameSync(`${path}.new`, path);
}

const ownerFile = "owner.json";

/** `of nobody`: no host says that it is its own. `null`: that cannot be told. */
function readOwner(home: string): ForeignRecords | "of nobody" | null {
  try {
    const owner = parsed(readFileSync(join(home, ownerFile), "utf8"));
    if (!isOwnerRecord(owner)) return "of nobody";
    const commands = readdirSync(home)
      .filter((name) => name.endsWith(".run"))
      .map((name) => readCommand(join(home, name)))
      .filter((command) => command.length > 0);
    return { owner, commands, forget: () => forgetHost(home) };
  } catch (error) {
    return error instanceof Error && "code" in error && error.code === "ENOENT" ? "of nobody" : null;
  }
}

/** A host writes down whose a directory is within the same moment in which it makes it. */
const momentMs = 60_000;

/** Whether a directory that is nobody's is not just being made, or written to. */
function isAbandoned(home: string): boolean {
  const stats = lstatSync(home, { throwIfNoEntry: false });
  const record = lstatSync(join(home, ownerFile), { throwIfNoEntry: false });
  if (stats === undefined || !stats.isDirectory()) return false;
  return Date.now() - Math.max(stats.mtimeMs, record?.mtimeMs ?? 0) > momentMs;
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

function readCommand(path: string): readonly ProcessName[] {
  try {
    const command: unknown = JSON.parse(readFileSync(path, "utf8"));
    if (!isProcessName(command)) return [];
    const also: unknown = "also" in command ? command.also : [];
    return [command, ...(Array.isArray(also) ? also.filter(isProcessName) : [])];
  } catch {
    return [];
  }
}

function isProcessName(value: unknown): value is ProcessName {
  if (typeof value !== "object" || value === null || !("pid" in value) || !("startedAt" in value)) return false;
  return Number.isSafeInteger(value.pid) && typeof value.startedAt === "string";
}

function isOwnerRecord(value: unknown): value is OwnerRecord {
  if (!isProcessName(value) || !("boot" in value) || !("namespace" in value) || !("cgroups" in value)) return false;
  const { boot, namespace, cgroups } = value;
  const isText = (part: unknown) => typeof part === "string";
  return isText(boot) && isText(namespace) && Array.isArray(cgroups) && cgroups.every(isText);
}
