"""Tools that test and compile projects, by the settings."""

from __future__ import annotations

from collections.abc import Mapping

from bot.settings.settings import Settings
from bot.wiring.engine import shell_of
from runtime.contract import Tool
from tools.builds.tools import OwnCommands, build_tools
from tools.sandbox.sandbox import Sandbox


def build_tools_of(settings: Settings, sandbox: Sandbox) -> Mapping[str, Tool]:
    """By name."""
    own = OwnCommands(settings.tools.builds.test, settings.tools.builds.compile)
    every = build_tools(sandbox, timeout=shell_of(settings).timeout, own=own)
    return {tool.spec.name: tool for tool in every}
