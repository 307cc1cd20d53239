/** `[runtime.remote]`: another control endpoint, which runs the commands. */

import * as v from "valibot";
import { type FragmentCheck, fragment, key, notRedacted, type Section, table } from "../src/config/fragment.ts";

const loopback = /^(?:localhost|127(?:\.\d{1,3}){3}|\[::1\])$/;

const endpoint = v.pipe(
  v.string("Give a URL in quotes"),
  v.check((url) => URL.canParse(url), 'Give a whole URL such as "https://prx.example"'),
  v.check(
    (url) => !URL.canParse(url) || isSafe(new URL(url)),
    "Give a URL that begins with https://; http:// goes to the loopback interface only",
  ),
  v.check(
    (url) => !URL.canParse(url) || isPlain(new URL(url)),
    "Leave user name, password, query and fragment out of the URL; the secret's place is the key token",
  ),
);

function isSafe({ protocol, hostname }: URL): boolean {
  return protocol === "https:" || (protocol === "http:" && loopback.test(hostname));
}

function isPlain({ username, password, search, hash }: URL): boolean {
  return `${username}${password}${search}${hash}` === "";
}

const schema = table({
  url: key(
    v.exactOptional(endpoint),
    "Address of the endpoint, over HTTPS; plain HTTP on the loopback interface only",
    {
      unquoted: true,
    },
  ),
  token: key(
    v.exactOptional(
      v.pipe(
        v.string("Give a string in quotes"),
        v.regex(/^[\x21-\x7e]+$/, "Give a token of printable ASCII characters without spaces"),
        notRedacted,
      ),
    ),
    "The endpoint's token",
    { secret: true },
  ),
});

function checkEndpoint({ values, chosen, report }: FragmentCheck<Section<typeof schema>>): void {
  if (values.url !== undefined) return;
  if (chosen) report(["url"], "It is required by the backend remote: give the endpoint's address");
  else if (values.token !== undefined)
    report(["token"], "It means nothing without url: give the endpoint's address, or leave it out");
}

export const remoteFragment = fragment({
  name: "remote",
  place: "runtime",
  schema: key(schema, "Commands at another control endpoint"),
  check: checkEndpoint,
});
