/** Why a sandbox program does not work here, from what it said, and what to do about it. Pure. */

/** What is wrong, without a full stop, and the remedy. */
export interface Cause {
  readonly reason: string;
  readonly remedy: string;
}

type Name = "bubblewrap" | "firejail";

const packages: Readonly<Record<Name, string>> = {
  bubblewrap: "Install bubblewrap 0.8 or newer (apt install bubblewrap, dnf install bubblewrap, apk add bubblewrap)",
  firejail: "Install firejail 0.9.72 or newer (apt install firejail, dnf install firejail)",
};

export function missing(name: Name, program: string): Cause {
  return {
    reason: `${name} is not installed: there is no program ${program} in a directory of the system that is on the PATH`,
    remedy: packages[name],
  };
}

export function unfit(name: Name, file: string): Cause {
  return {
    reason: `security.sandbox.${name}_program = ${JSON.stringify(file)} is no program that is root's own and that nobody else, and no command, can write`,
    remedy: "Name another, or leave the key out",
  };
}

const inContainer =
  "Start the container with --security-opt seccomp=unconfined --security-opt systempaths=unconfined, or choose another backend";

/**
 * Words of a complaint, and what they mean. The first that matches counts.
 *
 * Sources: bubblewrap.c and network.c of bubblewrap 0.8 to 0.11; the reports containers/bubblewrap#505, #632;
 * main.c, sandbox.c, no_sandbox.c and run_files.c of firejail 0.9.72.
 */
const known: readonly (readonly [pattern: RegExp, cause: (name: Name) => Cause])[] = [
  [
    /^not shut: /m,
    (name) => ({
      reason: `This ${name} runs commands, but does not keep apart what it says`,
      remedy: `Put the distribution's own ${name} first on the PATH`,
    }),
  ],
  [
    /unknown option|unrecognized option|invalid option|invalid .* command line option/i,
    (name) => ({ reason: `This ${name} is too old: it lacks an option that is needed`, remedy: packages[name] }),
  ],
  [
    /setting up uid map: Permission denied|loopback: Failed|RTM_NEWADDR|RTM_NEWLINK/i,
    () => ({
      reason: "AppArmor keeps unprivileged programs from using user namespaces (as Ubuntu 23.10 and later do)",
      remedy:
        "Give bwrap an AppArmor profile that allows userns (the file bwrap-userns-restrict of the package apparmor-profiles), or set kernel.apparmor_restrict_unprivileged_userns=0 with sysctl",
    }),
  ],
  [
    /mount proc|mounting proc|\/proc: Operation not permitted/i,
    () => ({ reason: "A new /proc cannot be mounted here, as in most containers", remedy: inContainer }),
  ],
  [
    /No permissions to create? ?(?:a )?new namespace|No permissions to creating new namespace|namespace.*(?:ENOSPC|No space left on device)/i,
    () => ({
      reason: "The kernel does not let this user make user namespaces",
      remedy:
        "Set kernel.unprivileged_userns_clone=1 or raise user.max_user_namespaces with sysctl, or install bwrap setuid root",
    }),
  ],
  [
    /ENOSPC|EDQUOT|No space left on device|Disk quota exceeded/i,
    (name) => ({
      reason: `There is no space for the files that ${name} is started with`,
      remedy: "Make room in /dev/shm, or where PRX_STATE_DIR or the temporary directory is",
    }),
  ],
  [
    /Creating new namespace failed|clone failed|unshare/i,
    () => ({
      reason: "Namespaces cannot be made here: inside a container its seccomp profile forbids them",
      remedy: inContainer,
    }),
  ],
  [
    /takes this for one already/,
    (name) => ({
      reason: `${name} takes this container for a sandbox of its own, and would run commands without one`,
      remedy: "Choose bubblewrap, or start the container's first process with container=docker in its environment",
    }),
  ],
  [
    /^Error clone:|cannot mount filesystem as slave|^Error mount/m,
    (name) => ({
      reason: `${name} may not make namespaces here: even as root it needs CAP_SYS_ADMIN, which most containers lack`,
      remedy: "Give the container CAP_SYS_ADMIN, or choose another backend",
    }),
  ],
  [
    /last mount name:/,
    (name) => ({
      reason: `${name} gives up where others mount something on this machine at the same moment, and did so each time`,
      remedy: "Try again when less is mounted, or choose bubblewrap",
    }),
  ],
  [
    /whitelist-disable-topdir/,
    (name) => ({
      reason: `${name} is configured to show directories that a sandbox hides`,
      remedy: "Take whitelist-disable-topdir out of firejail.config, or choose bubblewrap",
    }),
  ],
  [
    /There is no program (\S+) in/,
    () => ({
      reason: "A program that stands around firejail or inside of it is missing",
      remedy: "Install util-linux and GNU coreutils",
    }),
  ],
  [
    /firejail\.users|not allowed to (?:run|use) firejail|--add|access database/i,
    () => ({
      reason: "This user is not in firejail's list of users (/etc/firejail/firejail.users)",
      remedy: "Add the user with firecfg --add-users NAME, as root; the user nobody is refused in any case",
    }),
  ],
  [
    /setuid|SUID|not running as root|permission to run|cannot create \/run\/firejail|cannot rise privileges/i,
    (name) => ({
      reason: `${name} has not the rights that it needs: it is not setuid root, or this process may not gain privileges`,
      remedy: `Install ${name} from the distribution's package, which makes it setuid root`,
    }),
  ],
];

/** @param said what the program wrote on stderr */
export function causeOf(name: Name, said: string): Cause {
  const text = said.trim();
  const found = known.find(([pattern]) => pattern.test(text))?.[1](name);
  const quoted = text === "" ? "it said nothing" : `it said: ${text.split("\n").slice(0, 3).join("; ")}`;
  if (found !== undefined) return { ...found, reason: `${found.reason} (${quoted})` };
  return { reason: `${name} does not work here: ${quoted}`, remedy: "Mend that, or choose another sandbox or backend" };
}
