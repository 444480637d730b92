#!/bin/sh
# Gives the tests programs of Debian's packages, by their names: tests/setup.sh chromium dovecot faketime pgbouncer
# Only root can. Otherwise it says what is missing and goes on: those tests then report that they did not run (with CI=true
# those of the browser fail). A service that a package starts is stopped again: tests start one of their own.
set -eu

PATH="$PATH:/usr/sbin:/usr/local/sbin"

# Tests for which a program is wanted.
wanted_for() {
    case "$1" in
        chromium) echo "browser tests" ;;
        dovecot) echo "tests with a real mailbox" ;;
        faketime) echo "tests of clocks" ;;
        pgbouncer) echo "tests behind a pooler" ;;
        *)
            echo "tests/setup.sh: $1 is none of chromium, dovecot, faketime, pgbouncer" >&2
            exit 2
            ;;
    esac
}

is_there() {
    case "$1" in
        chromium) command -v chromium || command -v chromium-browser || command -v google-chrome ;;
        dovecot) command -v dovecot && [ -e /usr/lib/dovecot/imap ] ;;
        faketime) ls /usr/lib/*/faketime/libfaketimeMT.so.1 ;;
        *) command -v "$1" ;;
    esac >/dev/null 2>&1
}

packages_of() {
    case "$1" in
        chromium) echo chromium fonts-liberation fonts-dejavu-core fonts-noto-color-emoji ;;
        dovecot) echo dovecot-imapd ;;
        *) echo "$1" ;;
    esac
}

missing=""
for name in "$@"; do
    tests=$(wanted_for "$name")
    if is_there "$name"; then continue; fi
    if [ "$(id -u)" -ne 0 ] || ! command -v apt-get >/dev/null; then
        echo "No $name found, and only root on a Debian system installs it: $tests will not run."
    else
        missing="$missing $name"
    fi
done
[ -n "$missing" ] || exit 0

log=$(mktemp)
trap 'rm -f "$log"' EXIT
export DEBIAN_FRONTEND=noninteractive
apt-get update >"$log" 2>&1 </dev/null || tail -n 20 "$log" >&2
for name in $missing; do
    tests=$(wanted_for "$name")
    echo "Installing $name for $tests."
    # shellcheck disable=SC2046 # several packages
    if ! apt-get install -y --no-install-recommends $(packages_of "$name") >"$log" 2>&1 </dev/null; then
        tail -n 20 "$log" >&2
        echo "$name could not be installed: $tests will not run." >&2
    elif [ "$name" = dovecot ] || [ "$name" = pgbouncer ]; then
        if command -v service >/dev/null; then service "$name" stop >"$log" 2>&1 || true; fi
    fi
done
