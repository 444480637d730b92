#!/bin/sh
# Gives the tests Debian's Dovecot, an IMAP server; only root can. Otherwise it says what is missing and goes on: those
# tests then report that they did not run. The service that the package starts is stopped again: tests start one of their own.
set -eu

PATH="$PATH:/usr/sbin:/usr/local/sbin"
if command -v dovecot >/dev/null && [ -e /usr/lib/dovecot/imap ]; then exit 0; fi

if [ "$(id -u)" -ne 0 ] || ! command -v apt-get >/dev/null; then
    echo "No Dovecot found, and only root on a Debian system installs it: tests with a real mailbox will not run."
    exit 0
fi

echo "Installing Dovecot for the tests with a real mailbox."
log=$(mktemp)
trap 'rm -f "$log"' EXIT
export DEBIAN_FRONTEND=noninteractive
if ! { apt-get update && apt-get install -y --no-install-recommends dovecot-imapd; } >"$log" 2>&1 </dev/null; then
    tail -n 20 "$log" >&2
    echo "Dovecot could not be installed: tests with a real mailbox will not run." >&2
    exit 0
fi
if command -v service >/dev/null; then service dovecot stop >"$log" 2>&1 || true; fi
