/** Variables by which the loader or the C library of the sandbox program itself would be led, outside of the sandbox. */

/**
 * They hold paths and switches.
 *
 * Source: the list that glibc strips for privileged programs, sysdeps/generic/unsecvars.h; ld.so(8); musl's ld.so.
 */
const pattern =
  /^(?:LD_.*|DYLD_.*|GLIBC_TUNABLES|GCONV_PATH|GETCONF_DIR|HOSTALIASES|LOCALDOMAIN|LOCPATH|MALLOC_.*|NIS_PATH|NLSPATH|RESOLV_HOST_CONF|RES_OPTIONS|TMPDIR|TZDIR|ASAN_OPTIONS|.*SAN_OPTIONS)$/;

export function isLoaderVariable(name: string): boolean {
  return pattern.test(name);
}
