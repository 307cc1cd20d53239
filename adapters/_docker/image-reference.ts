/** What an image's name says: registry, repository, and tag or digest. Pure. */

export interface ImageReference {
  /** As the daemon and the settings of docker call it. */
  readonly registry: string;
  /** Without tag and digest, as it was written. */
  readonly name: string;
  /** A tag, or a digest with its algorithm; `latest` where neither is written. */
  readonly version: string;
}

const dockerHub = "docker.io";

export function parseReference(image: string): ImageReference {
  const at = image.indexOf("@");
  const digest = at < 0 ? null : image.slice(at + 1);
  const named = at < 0 ? image : image.slice(0, at);
  // A colon before the last slash is a port's.
  const colon = named.lastIndexOf(":");
  const hasTag = colon > named.lastIndexOf("/");
  const name = hasTag ? named.slice(0, colon) : named;
  const first = name.split("/")[0] ?? "";
  const hasRegistry = name.includes("/") && (/[.:]/.test(first) || first === "localhost");
  return {
    registry: hasRegistry ? first : dockerHub,
    name,
    version: digest ?? (hasTag ? named.slice(colon + 1) : "latest"),
  };
}
