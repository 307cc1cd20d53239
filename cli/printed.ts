/** What a library prints, as lines: printed by itself it could be lost at the exit. */

/** Runs `print` and takes what it gives to `console.log`. */
export function printedBy(print: () => void): readonly string[] {
  const { log } = console;
  const lines: string[] = [];
  console.log = (line: unknown) => void lines.push(String(line));
  try {
    print();
  } finally {
    console.log = log;
  }
  return lines;
}
