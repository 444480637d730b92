#!/bin/sh
# Gives the browser tests a Chromium and fonts, from Debian packages; only root can. Otherwise it says
# what is missing and goes on: those tests then report that they did not run (with CI=true they fail).
set -eu

for browser in chromium chromium-browser google-chrome; do
    if command -v "$browser" >/dev/null; then exit 0; fi
done

if [ "$(id -u)" -ne 0 ] || ! command -v apt-get >/dev/null; then
    echo "No Chromium found, and only root on a Debian system installs it: browser tests will not run."
    exit 0
fi

echo "Installing Chromium for the browser tests."
log=$(mktemp)
trap 'rm -f "$log"' EXIT
export DEBIAN_FRONTEND=noninteractive
if ! { apt-get update && apt-get install -y --no-install-recommends \
    chromium fonts-liberation fonts-dejavu-core fonts-noto-color-emoji; } >"$log" 2>&1 </dev/null; then
    tail -n 20 "$log" >&2
    echo "Chromium could not be installed: browser tests will not run." >&2
fi
