#!/bin/sh
# The browser tests open the built site in a real Chromium. Take one that is installed; else install it
# where the system's package manager runs as root already; else say what to type.
for name in "${CHROMIUM:-}" chromium chromium-browser google-chrome google-chrome-stable; do
  [ -n "$name" ] && command -v "$name" >/dev/null 2>&1 && exit 0
done
if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null 2>&1; then
  echo "Installing Chromium for the browser tests (once) …"
  apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq chromium >/dev/null && exit 0
fi
echo "The browser tests need Chromium. Install it, for example:  sudo apt-get install chromium" >&2
echo "or name one that is installed:  make test CHROMIUM=/path/to/chromium" >&2
exit 1
