"""A whole process in a test's own loop: `serving(settings, make=...)`, where `make` calls `build`."""

from __future__ import annotations

from bot.server.app import App, build
from bot.server.process import Ready, serving
from bot.settings.settings import Settings, load

__all__ = ["App", "Ready", "Settings", "build", "load", "serving"]
