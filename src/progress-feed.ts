/** What happens before the first instruction, told by whoever does it and read by whoever waits. */

import type { Progress } from "./types.ts";

/** Progress for any number of readers; each sees all of it. */
export class ProgressFeed implements AsyncIterable<Progress> {
  readonly #steps: Progress[] = [];
  #over = false;
  #change = Promise.withResolvers<void>();

  tell(step: Progress): void {
    this.#steps.push(step);
    this.#wake();
  }

  end(): void {
    this.#over = true;
    this.#wake();
  }

  #wake(): void {
    this.#change.resolve();
    this.#change = Promise.withResolvers<void>();
  }

  async *[Symbol.asyncIterator](): AsyncIterator<Progress> {
    for (let at = 0; ; ) {
      const step = this.#steps[at];
      if (step !== undefined) {
        at += 1;
        yield step;
      } else if (this.#over) return;
      else await this.#change.promise;
    }
  }
}
