/** Whether a guest that trapped did so for want of memory. The engine does not say: it only answers "no" to the guest. */

/** What the runtimes of languages write before they give up. */
const complaints = /memory allocation of \d+ bytes failed|out of memory|bad_alloc|cannot allocate memory/i;

/** A memory that is this full was most likely asked for more. */
const full = 0.9;

export interface Evidence {
  readonly bytes: number;
  readonly limitBytes: number;
  /** The last that the guest wrote to stderr. */
  readonly said: string;
}

/** A sentence, or `null` where nothing points to it. */
export function memoryEvidence({ bytes, limitBytes, said }: Evidence): string | null {
  if (bytes < limitBytes * full && !complaints.test(said)) return null;
  return `the guest had ${inMiB(bytes)} of ${inMiB(limitBytes)} MiB and could not get more`;
}

function inMiB(bytes: number): string {
  return String(Math.round((bytes / 2 ** 20) * 10) / 10);
}
