/** Files into a working directory and out of it, each held inside by its real path. */

import { messageOf, RuntimeError } from "../../src/errors.ts";
import type { CollectedFile, ExecutionPlan, StartIo } from "../../src/types.ts";
import type { MemoryFiles } from "./file-tree.ts";

/** Why a path may not be used, or `null`. */
function faultOf(path: string): string | null {
  if (path === "") return "the path is empty";
  if (path.includes("\0")) return "the path holds a NUL byte";
  if (path.startsWith("/")) return "the path is absolute";
  if (path.split("/").includes("..")) return "the path leaves the working directory";
  return null;
}

/** The real path below `directory`, or the reason why it is not one. */
function resolveWithin(files: MemoryFiles, directory: string, path: string): { real: string } | { fault: string } {
  const fault = faultOf(path);
  if (fault !== null) return { fault };
  const root = files.inspect(directory).realPath;
  const real = files.inspect(`${directory}/${path}`).realPath;
  return real.startsWith(`${root}/`) ? { real } : { fault: "the path leaves the working directory through a link" };
}

/** Puts `plan.files` into `directory`. Throws `files_failed` that names the path. */
export function bringIn(files: MemoryFiles, directory: string, work: { plan: ExecutionPlan; io: StartIo }): void {
  const failed = (path: string, reason: string): RuntimeError =>
    new RuntimeError("files_failed", `Cannot put ${JSON.stringify(path)} into the working directory: ${reason}`, {
      backend: work.plan.backend,
    });
  for (const { path, executable } of work.plan.files) {
    const bytes = work.io.files.get(path);
    if (bytes === undefined) throw failed(path, "its bytes are missing");
    const place = resolveWithin(files, directory, path);
    if ("fault" in place) throw failed(path, place.fault);
    try {
      files.write(place.real, bytes, { executable });
    } catch (error) {
      throw failed(path, messageOf(error));
    }
  }
}

/** Reads `plan.outputs` in `directory`. What cannot be read is named and never thrown. */
export function bringOut(files: MemoryFiles, directory: string, outputs: readonly string[]): readonly CollectedFile[] {
  return outputs.map((path) => {
    const place = resolveWithin(files, directory, path);
    if ("fault" in place) return { path, missing: place.fault };
    try {
      return { path, bytes: files.read(place.real) };
    } catch (error) {
      return { path, missing: messageOf(error) };
    }
  });
}
