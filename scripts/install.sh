#!/bin/sh
# Brings node_modules to what package-lock.json says, once, however many processes ask at the same time.
# Needs nothing but sh and npm. All that it says goes to stderr.
set -eu

root=$(CDPATH='' cd -- "$(dirname -- "$0")/.." && pwd -P)
lock=$root/.install.lock
log=$root/.install.log
stamp=$root/node_modules/.installed-lock.json # a copy of the lock file, made by package.json's `dependencies` script after every install

say() { printf 'prx: %s\n' "$*" >&2; }
fail() { say "$@"; exit 69; } # EX_UNAVAILABLE
installed() { [ -x "$root/node_modules/.bin/node" ] && cmp -s "$root/package-lock.json" "$stamp"; }
# A holder touches its lock every few seconds: one left alone for minutes belongs to nobody.
abandoned() { [ -n "$(find "$1" -prune -mmin +2 2>/dev/null)" ]; }

acquire() {
  waited=0
  until mkdir "$lock" 2>/dev/null; do
    [ -d "$lock" ] || [ -w "$root" ] || fail "Cannot install into $root: the directory is not writable"
    if abandoned "$lock" && mv "$lock" "$lock.$$" 2>/dev/null; then
      # Somebody quicker may have put a new lock there between the two.
      if abandoned "$lock.$$"; then rm -rf "$lock.$$"; else mv "$lock.$$" "$lock"; fi
      continue
    fi
    [ "$waited" -gt 0 ] || say "another process is installing, waiting for it"
    waited=$((waited + 1))
    [ "$waited" -lt 1200 ] || fail "Gave up waiting for another install: if there is none, remove $lock"
    sleep 1
  done
  trap 'rm -rf "$lock"' EXIT
  trap 'exit 129' HUP
  trap 'exit 130' INT
  trap 'exit 143' TERM
  (while kill -0 $$ && touch -c "$lock" && sleep 5; do :; done) >/dev/null 2>&1 &
  heartbeat=$!
  trap 'kill "$heartbeat" 2>/dev/null; rm -rf "$lock"' EXIT
}

installed && exit 0
command -v npm >/dev/null 2>&1 || fail "Cannot install: npm is not on the PATH (any Node from 20 on brings it)"
acquire
installed && exit 0

if [ -e "$stamp" ]; then why="package-lock.json has changed"; else why="first use"; fi
say "installing what package-lock.json names ($why), this takes about a minute …"
rm -f "$stamp"
# Without dev dependencies there would be no runtime to start, whatever NODE_ENV says.
if ! (cd "$root" && npm ci --include=dev --engine-strict=false --no-audit --no-fund --no-progress --loglevel=error) \
  >"$log" 2>&1 </dev/null; then
  head -n 20 "$log" >&2
  fail "npm ci failed; the whole of what it said is in $log"
fi
if ! installed || ! "$root/node_modules/.bin/node" --version >/dev/null 2>&1; then
  rm -f "$stamp"
  head -n 20 "$log" >&2
  fail "npm ci brought no working node: are install scripts switched off (npm config get ignore-scripts)?"
fi
rm -f "$log"
say "installed"
