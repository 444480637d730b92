#!/bin/sh
# Gives the laboratory Debian's faketime, by which it sets clocks; only root can. Otherwise it says what is missing and
# goes on: those tests then report that they did not run.
set -eu

for library in /usr/lib/*/faketime/libfaketimeMT.so.1; do
    if [ -e "$library" ]; then exit 0; fi
done

if [ "$(id -u)" -ne 0 ] || ! command -v apt-get >/dev/null; then
    echo "No faketime found, and only root on a Debian system installs it: tests of clocks will not run."
    exit 0
fi

echo "Installing faketime for the tests of clocks."
log=$(mktemp)
trap 'rm -f "$log"' EXIT
export DEBIAN_FRONTEND=noninteractive
if ! { apt-get update && apt-get install -y --no-install-recommends faketime; } >"$log" 2>&1 </dev/null; then
    tail -n 20 "$log" >&2
    echo "faketime could not be installed: tests of clocks will not run." >&2
fi
