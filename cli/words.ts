/** What is to be run. */

/** The command and its arguments, each word as it was written. */
export interface CommandWords {
  readonly command: string;
  readonly args: readonly string[];
}
