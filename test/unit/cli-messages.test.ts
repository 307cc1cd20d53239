/** What the program says for itself is one line of its own, whatever it tells of. */

import { expect, test } from "vitest";
import { createMessages } from "../../cli/messages.ts";

const message = "a\u001b[31mb\nprx-runtime: warning: forged";

test("a name in a message moves no cursor, and in a warning begins no line", async () => {
  let said = "";
  const write = async (text: string | Uint8Array) => {
    said += String(text);
  };
  const messages = createMessages({ write, paint: (_, text) => text } as Parameters<typeof createMessages>[0]);
  await messages.warn({ code: "some", message });
  expect(said).toBe("prx-runtime: warning: a\\u001b[31mb\\u000aprx-runtime: warning: forged\n");
  said = "";
  await messages.fail(message);
  expect(said).toBe("prx-runtime: a\\u001b[31mb\nprx-runtime: warning: forged\n");
});
