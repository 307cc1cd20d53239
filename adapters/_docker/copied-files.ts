/** Files into a container's own workspace and out of it, by archive. */

import { posix } from "node:path";
import { maxOutputFileBytes } from "../../host/workspace-files.ts";
import { readTar } from "../../src/archive/tar-read.ts";
import { concat, tarEnd, tarFile, tarHeader } from "../../src/archive/tar-write.ts";
import { messageOf } from "../../src/errors.ts";
import type { CollectedFile, FileOwner, PlannedFile } from "../../src/types.ts";
import type { ContainerCalls } from "./containers.ts";
import { statusOf } from "./daemon.ts";

/** An archive of the files and the directories above them, and of the workspace itself, which is to be the user's. */
export function packFiles(
  files: readonly PlannedFile[],
  bytes: ReadonlyMap<string, Uint8Array>,
  owner: FileOwner,
): Uint8Array {
  const directories = new Set<string>();
  for (const { path } of files) {
    for (let at = path.indexOf("/"); at >= 0; at = path.indexOf("/", at + 1)) directories.add(path.slice(0, at));
  }
  return concat([
    tarHeader({ path: "/", type: "directory", mode: 0o700, ...owner }),
    ...[...directories].sort().map((path) => tarHeader({ path, type: "directory", mode: 0o755, ...owner })),
    ...files.map(({ path, executable }) =>
      tarFile({ path, mode: executable ? 0o755 : 0o644, ...owner }, bytes.get(path) ?? new Uint8Array(0)),
    ),
    tarEnd(),
  ]);
}

/** Reads outputs once nothing of the command runs any more. Never throws. */
export function takeOutputs(
  calls: ContainerCalls,
  workspace: string,
  paths: readonly string[],
): Promise<readonly CollectedFile[]> {
  return Promise.all(
    paths.map(async (path): Promise<CollectedFile> => {
      try {
        return { path, bytes: await takeOutput(calls, workspace, path) };
      } catch (error) {
        return { path, missing: statusOf(error) === 404 ? "there is no such file" : messageOf(error) };
      }
    }),
  );
}

const directoryBit = 2 ** 31;

async function takeOutput(calls: ContainerCalls, workspace: string, path: string): Promise<Uint8Array> {
  const parts = path.split("/");
  // The daemon follows links on the way to a file, within the container: a directory of the image is no output.
  for (let count = 1; count < parts.length; count += 1) {
    const { mode } = await calls.stat(posix.join(workspace, ...parts.slice(0, count)));
    if (Math.floor(mode / directoryBit) % 2 === 0) throw new Error("it leads out of the working directory");
  }
  const body = await calls.read(posix.join(workspace, path));
  try {
    for await (const { entry, content } of readTar(body)) {
      if (entry.type === "symlink") throw new Error("it is a symbolic link");
      if (entry.type !== "file") throw new Error("it is not a regular file");
      if (entry.size > maxOutputFileBytes)
        throw new Error(`it has ${entry.size} bytes, the most is ${maxOutputFileBytes}`);
      const chunks: Uint8Array[] = [];
      for await (const part of content) chunks.push(new Uint8Array(part));
      return concat(chunks);
    }
    throw new Error("there is no such file");
  } finally {
    body.destroy();
  }
}
