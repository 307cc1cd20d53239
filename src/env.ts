/** The environment of a command: a whitelist of the host's variables and what operator, tool and request add. */

import { RuntimeError } from "./errors.ts";

/**
 * Variables by which a loader, a shell or an interpreter runs code of its own before the command's. They pass only when
 * the operator names them.
 *
 * Sources: ld.so(8), dyld(1), bash(1), and the reference manuals of Node.js, Deno, Bun, Python, Perl, Ruby, Java, Lua and git.
 */
const loaderNames = new Set(
  (
    "NODE_OPTIONS NODE_PATH NODE_REPL_EXTERNAL_MODULE BUN_OPTIONS BUN_INSPECT_PRELOAD DENO_OPTIONS " +
    "BASH_ENV ENV SHELLOPTS BASHOPTS PS4 PROMPT_COMMAND ZDOTDIR IFS GCONV_PATH LOCPATH NLSPATH HOSTALIASES " +
    "GLIBC_TUNABLES MALLOC_TRACE RESOLV_HOST_CONF " +
    "PYTHONPATH PYTHONSTARTUP PYTHONHOME PYTHONINSPECT PYTHONBREAKPOINT PYTHONWARNINGS PYTHONUSERBASE " +
    "PERL5LIB PERL5OPT PERL5DB PERLLIB RUBYOPT RUBYLIB JAVA_TOOL_OPTIONS _JAVA_OPTIONS JDK_JAVA_OPTIONS CLASSPATH " +
    "LUA_INIT LUA_PATH LUA_CPATH GEM_PATH GEM_HOME PHPRC PHP_INI_SCAN_DIR " +
    "GIT_SSH GIT_SSH_COMMAND GIT_ASKPASS GIT_EXTERNAL_DIFF GIT_EXEC_PATH GIT_CONFIG_GLOBAL " +
    "GIT_CONFIG_SYSTEM GIT_CONFIG_PARAMETERS GIT_CONFIG_COUNT GIT_PROXY_COMMAND GIT_TEMPLATE_DIR LESSOPEN LESSCLOSE " +
    "RUSTC_WRAPPER CARGO_BUILD_RUSTC_WRAPPER OPENSSL_CONF OPENSSL_ENGINES OPENSSL_MODULES DOTNET_STARTUP_HOOKS " +
    "GTK_MODULES npm_config_node_options NPM_CONFIG_NODE_OPTIONS npm_config_script_shell NPM_CONFIG_SCRIPT_SHELL " +
    "R_PROFILE R_PROFILE_USER VIMINIT"
  ).split(" "),
);
const loaderPrefixes = [
  "LD_",
  "DYLD_",
  "_RLD_",
  "BASH_FUNC_",
  "LUA_INIT_",
  "LUA_PATH_",
  "LUA_CPATH_",
  "GIT_CONFIG_KEY_",
  "CORECLR_",
  "COR_",
];

/** Whether a variable can make a loader or interpreter run code of its choice. */
export function isLoaderVariable(name: string): boolean {
  return loaderNames.has(name) || loaderPrefixes.some((prefix) => name.startsWith(prefix));
}

/** Where the parts of an environment come from, weakest first. */
export interface EnvSources {
  readonly host: Readonly<Record<string, string | undefined>>;
  readonly whitelist: readonly string[];
  /** Whitelisted names whose host values mean nothing to this backend. */
  readonly foreign: readonly string[];
  readonly operator: Readonly<Record<string, string>>;
  readonly tool: Readonly<Record<string, string>>;
  readonly request: Readonly<Record<string, string>>;
}

/**
 * Exactly the variables a command gets.
 *
 * @throws RuntimeError `invalid_request` for a name or value that no process can have, or a loader variable in the request
 *   that the operator's whitelist does not name.
 */
export function composeEnv(sources: EnvSources): Readonly<Record<string, string>> {
  const env: Record<string, string> = Object.create(null);
  for (const name of sources.whitelist) {
    const value = sources.host[name];
    // Not only "is it there": a host's own object inherits `constructor` and its like, which are no variables.
    if (typeof value === "string" && !sources.foreign.includes(name)) env[name] = value;
  }
  Object.assign(env, sources.operator, sources.tool);
  for (const [name, value] of Object.entries(sources.request)) {
    checkVariable(name, value);
    if (isLoaderVariable(name) && !sources.whitelist.includes(name)) {
      throw new RuntimeError(
        "invalid_request",
        `Variable ${name} makes a loader or interpreter run code: it passes only when runtime.env_whitelist names it`,
      );
    }
    env[name] = value;
  }
  return env;
}

function checkVariable(name: string, value: unknown): void {
  const shown = JSON.stringify(name);
  const refuse = (what: string) => {
    throw new RuntimeError("invalid_request", `Environment variable ${shown} ${what}`);
  };
  if (name === "") refuse("has an empty name: give it one");
  if (name.includes("=")) refuse('has a "=" in its name: no process can have such a variable');
  if (name.includes("\0") || !name.isWellFormed()) refuse("has a name with a NUL or half a surrogate pair in it");
  if (typeof value !== "string") refuse(`has a value of type ${typeof value}: give a string`);
  else if (value.includes("\0")) refuse("has a value with a NUL byte in it: it would be cut there");
  else if (!value.isWellFormed()) refuse("has a value with half a surrogate pair in it: it has no UTF-8 form");
}
