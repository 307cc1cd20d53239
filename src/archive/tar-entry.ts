/** One member of a tar archive, in the parts that matter to files on their way between machines. */

export type TarEntryType = "file" | "directory" | "symlink" | "hardlink" | "other";

export interface TarEntry {
  /** As it stands in the archive: it may be anything, `..` included. */
  readonly path: string;
  readonly type: TarEntryType;
  /** Bytes of content; 0 but for files. */
  readonly size: number;
  /** Permission bits. */
  readonly mode: number;
  readonly uid: number;
  readonly gid: number;
  /** Seconds since 1970, fractions included. */
  readonly mtime: number;
  /** Where a link leads; empty for others. */
  readonly link: string;
}

/** Everything in an archive comes in blocks of so many bytes. */
export const tarBlock = 512;

/** Zero bytes that follow a content of that size. */
export function tarPadding(size: number): number {
  return (tarBlock - (size % tarBlock)) % tarBlock;
}
