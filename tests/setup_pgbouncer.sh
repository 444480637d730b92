#!/bin/sh
# Gives the tests Debian's PgBouncer; only root can. Otherwise it says what is missing and goes on: those tests then
# report that they did not run. The service that the package starts is stopped again: tests start one of their own.
set -eu

PATH="$PATH:/usr/sbin:/usr/local/sbin"
if command -v pgbouncer >/dev/null; then exit 0; fi

if [ "$(id -u)" -ne 0 ] || ! command -v apt-get >/dev/null; then
    echo "No PgBouncer found, and only root on a Debian system installs it: tests behind a pooler will not run."
    exit 0
fi

echo "Installing PgBouncer for the tests behind a pooler."
log=$(mktemp)
trap 'rm -f "$log"' EXIT
export DEBIAN_FRONTEND=noninteractive
if ! { apt-get update && apt-get install -y --no-install-recommends pgbouncer; } >"$log" 2>&1 </dev/null; then
    tail -n 20 "$log" >&2
    echo "PgBouncer could not be installed: tests behind a pooler will not run." >&2
    exit 0
fi
if command -v service >/dev/null; then service pgbouncer stop >"$log" 2>&1 || true; fi
