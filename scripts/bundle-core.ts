/** Bundles the core for an edge runtime, and fails when it would not load there or has grown too large. */

import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";
import { type BuildFailure, build } from "esbuild";

/** What the core may weigh on the wire. */
export const maxGzipBytes = 25_000;

/** As a worker's bundler resolves packages; `iife` puts the exports on a global named `core`. */
export interface BundleOptions {
  readonly entry: string;
  readonly format: "esm" | "iife";
}

export interface CoreBundle {
  readonly code: string;
  readonly bytes: number;
  readonly gzipBytes: number;
}

/** Throws, naming the importer, when anything reaches for a runtime's own module or a package that is not there. */
export async function bundleCore({ entry, format }: BundleOptions): Promise<CoreBundle> {
  const { outputFiles, metafile } = await build({
    entryPoints: [entry],
    bundle: true,
    write: false,
    metafile: true,
    minify: true,
    format,
    ...(format === "iife" ? { globalName: "core" } : {}),
    platform: "neutral",
    target: "es2024",
    mainFields: ["module", "main"],
    conditions: ["workerd", "worker", "browser"],
    logLevel: "silent",
  }).catch((failure: BuildFailure) => {
    const said = failure.errors.map(({ text, location }) =>
      location ? `${location.file}:${location.line}: ${text}` : text,
    );
    throw new Error(`The core cannot be bundled for an edge runtime\n${said.join("\n")}`);
  });
  const left = Object.values(metafile.outputs).flatMap(({ imports }) => imports.map(({ path }) => path));
  if (left.length > 0) throw new Error(`The core's bundle still imports ${left.join(", ")}`);
  const code = outputFiles[0]?.text ?? "";
  return { code, bytes: Buffer.byteLength(code), gzipBytes: gzipSync(code, { level: 9 }).byteLength };
}

/** The door of the core in this checkout. */
export const coreEntry = fileURLToPath(new URL("../src/core.ts", import.meta.url));

if (import.meta.main) {
  try {
    const { bytes, gzipBytes } = await bundleCore({ entry: coreEntry, format: "esm" });
    console.log(`Core bundle: ${bytes} bytes minified, ${gzipBytes} gzipped (at most ${maxGzipBytes})`);
    process.exitCode = gzipBytes > maxGzipBytes ? 1 : 0;
  } catch (error) {
    console.error(error instanceof Error ? error.message : error);
    process.exitCode = 1;
  }
}
