"""The program's version."""

from __future__ import annotations

from importlib.metadata import PackageNotFoundError, version

try:
    VERSION = version("signalbox-bot")
except PackageNotFoundError:  # started from a source tree that was not installed
    VERSION = "0+source"
