/** Who we are to a registry, from docker's own settings: kept there by `docker login`, or by a credential helper. */

import { execFile } from "node:child_process";

interface AuthEntry {
  readonly auth?: string;
  readonly identitytoken?: string;
  readonly username?: string;
  readonly password?: string;
}

interface DockerSettingsFile {
  readonly auths?: Readonly<Record<string, AuthEntry>>;
  readonly credsStore?: string;
  readonly credHelpers?: Readonly<Record<string, string>>;
}

/** How docker calls its own registry in its settings. */
const hubKey = "https://index.docker.io/v1/";
const helperLimitMs = 20_000;

/** Asks a helper program; replaceable in a test. */
export type AskHelper = (program: string, input: string) => Promise<string>;

/**
 * The value of `X-Registry-Auth` for a registry, or `null` for nobody in particular.
 *
 * @throws Error where the settings name a helper that does not answer: a pull as nobody would fail for another reason.
 */
export async function registryAuth(
  registry: string,
  configText: string | null,
  askHelper: AskHelper = runHelper,
): Promise<string | null> {
  if (configText === null) return null;
  const settings = parse<DockerSettingsFile>(configText, "Docker's settings (config.json)");
  const keys = registry === "docker.io" ? [hubKey, "index.docker.io", "docker.io"] : [registry, `https://${registry}`];
  const helper = keys.map((key) => settings.credHelpers?.[key]).find(isText) ?? settings.credsStore;
  const entry = isText(helper)
    ? await askForEntry(helper, keys, askHelper)
    : keys.map((key) => settings.auths?.[key]).find((found) => found !== undefined);
  if (entry === undefined || entry === null) return null;
  return encode({ ...credentialsOf(entry), serveraddress: registry });
}

function credentialsOf(entry: AuthEntry): Readonly<Record<string, string>> {
  if (isText(entry.identitytoken)) return { identitytoken: entry.identitytoken };
  if (isText(entry.username)) return { username: entry.username, password: entry.password ?? "" };
  const pair = Buffer.from(entry.auth ?? "", "base64").toString("utf8");
  const colon = pair.indexOf(":");
  return { username: pair.slice(0, Math.max(0, colon)), password: pair.slice(colon + 1) };
}

async function askForEntry(helper: string, keys: readonly string[], askHelper: AskHelper): Promise<AuthEntry | null> {
  if (!/^[\w.-]+$/.test(helper))
    throw new Error("Docker's settings name a credential helper that is no program's name");
  for (const key of keys) {
    let answer: string;
    try {
      answer = await askHelper(`docker-credential-${helper}`, key);
    } catch (error) {
      if (/credentials not found/i.test(String(error))) continue;
      throw new Error(`docker-credential-${helper} gave no answer for ${key}`);
    }
    const { Username, Secret } = parse<{ Username?: string; Secret?: string }>(
      answer,
      `What docker-credential-${helper} answered`,
    );
    if (Username === "<token>") return { identitytoken: Secret ?? "" };
    return { username: Username ?? "", password: Secret ?? "" };
  }
  return null;
}

/** The runtimes' own errors quote what they read, and that is a secret here. */
function parse<Shape>(text: string, what: string): Shape {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    value = null;
  }
  if (typeof value !== "object" || value === null) throw new Error(`${what} is no JSON object`);
  return value as Shape;
}

function runHelper(program: string, input: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const child = execFile(program, ["get"], { timeout: helperLimitMs }, (error, stdout) =>
      error === null ? resolve(stdout) : reject(new Error(`${stdout}`.slice(0, 200) || error.message)),
    );
    child.stdin?.on("error", () => {});
    child.stdin?.end(input);
  });
}

function encode(value: object): string {
  return Buffer.from(JSON.stringify(value)).toString("base64").replaceAll("+", "-").replaceAll("/", "_");
}

function isText(value: unknown): value is string {
  return typeof value === "string" && value !== "";
}
