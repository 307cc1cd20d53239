/** Rows of words in columns. */

import type { Output, Style } from "./output.ts";

/** A word, and the style it is shown in where that can be seen. */
export type Cell = string | readonly [text: string, style: Style];

/** Rows as lines, each column as wide as its widest cell; the last one is as long as it is. */
export function formatTable(rows: readonly (readonly Cell[])[], { paint }: Pick<Output, "paint">): string {
  const widths: number[] = [];
  for (const row of rows) {
    row.forEach((cell, column) => {
      widths[column] = Math.max(widths[column] ?? 0, textOf(cell).length);
    });
  }
  const lines = rows.map((row) => {
    const cells = row.map((cell, column) => {
      const text = textOf(cell);
      const isLast = column === row.length - 1;
      const gap = isLast ? "" : " ".repeat((widths[column] ?? 0) - text.length + 2);
      return (typeof cell === "string" ? text : paint(cell[1], text)) + gap;
    });
    return `  ${cells.join("")}\n`;
  });
  return lines.join("");
}

function textOf(cell: Cell): string {
  return typeof cell === "string" ? cell : cell[0];
}
