/** The machine's errors as `wasi:filesystem` knows them. */

const codes: Readonly<Record<string, string>> = {
  EACCES: "access",
  EAGAIN: "would-block",
  EALREADY: "already",
  EBADF: "bad-descriptor",
  EBUSY: "busy",
  EDEADLK: "deadlock",
  EDQUOT: "quota",
  EEXIST: "exist",
  EFBIG: "file-too-large",
  EILSEQ: "illegal-byte-sequence",
  EINPROGRESS: "in-progress",
  EINTR: "interrupted",
  EINVAL: "invalid",
  EIO: "io",
  EISDIR: "is-directory",
  ELOOP: "loop",
  EMFILE: "insufficient-memory",
  EMLINK: "too-many-links",
  ENAMETOOLONG: "name-too-long",
  ENFILE: "insufficient-memory",
  ENODEV: "no-device",
  ENOENT: "no-entry",
  ENOLCK: "no-lock",
  ENOMEM: "insufficient-memory",
  ENOSPC: "insufficient-space",
  ENOSYS: "unsupported",
  ENOTDIR: "not-directory",
  ENOTEMPTY: "not-empty",
  ENOTSUP: "unsupported",
  ENOTTY: "no-tty",
  ENXIO: "no-such-device",
  EOVERFLOW: "overflow",
  EPERM: "not-permitted",
  EPIPE: "pipe",
  EROFS: "read-only",
  ESPIPE: "invalid-seek",
  ETXTBSY: "text-file-busy",
  EXDEV: "cross-device",
  // What a runtime refuses before the machine is asked: a name with a zero byte in it, or its own permissions.
  ERR_INVALID_ARG_VALUE: "invalid",
  ERR_ACCESS_DENIED: "not-permitted",
};

/** Every error has one: a host that cannot name what went wrong says that input or output failed. */
export function errorCode(error: unknown): string {
  if (typeof error === "string") return error;
  const code = error instanceof Error && "code" in error ? error.code : undefined;
  return (typeof code === "string" ? codes[code] : undefined) ?? "io";
}

/** Runs an operation of which the guest learns the failure: jco hands a string that is thrown on as the error's code. */
export function told<Result>(use: () => Result): Result {
  try {
    return use();
  } catch (error) {
    throw errorCode(error);
  }
}
