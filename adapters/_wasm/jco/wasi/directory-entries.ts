/** The entries of a directory, read one after the other. */

import { type Dir, type Dirent, lstatSync, opendirSync } from "node:fs";
import type { HeldDirectory } from "../../../../host/held-directory.ts";
import { told } from "./error-code.ts";
import { typeOf } from "./file-status.ts";
import { heldAgain } from "./paths.ts";

export class DirectoryEntryStream {
  readonly #held: HeldDirectory;
  readonly #entries: Dir;
  #open = true;

  constructor(directory: HeldDirectory) {
    this.#held = heldAgain(directory);
    this.#entries = opendirSync(this.#held.path);
  }

  readDirectoryEntry(): { name: string; type: string } | undefined {
    return told(() => {
      for (;;) {
        const entry = this.#entries.readSync();
        if (entry === null) return undefined;
        if (this.#canBeSaid(entry)) return { name: entry.name, type: typeOf(entry) };
      }
    });
  }

  [Symbol.dispose](): void {
    if (!this.#open) return;
    this.#open = false;
    this.#entries.closeSync();
    this.#held.close();
  }

  /** Names are UTF-8 to a guest. One that is not comes with marks in it, and a guest that asked for that would find nothing. */
  #canBeSaid({ name }: Dirent): boolean {
    return !name.includes("\ufffd") || lstatSync(this.#held.at(name), { throwIfNoEntry: false }) !== undefined;
  }
}
