"""Globs of the tools that rooms have: each is to fit some tool."""

from __future__ import annotations

from collections.abc import Iterator

from bot.settings.agents.together import names_no_tool
from bot.settings.sources import Layers


def faults_together(layers: Layers) -> Iterator[tuple[str, str]]:
    """Globs that fit no tool: probably a slip, which would leave the room without one."""
    for place, table in layers.tables("rooms"):
        globs = table.get("tools")
        for glob in globs if isinstance(globs, list | tuple) else ():
            if isinstance(glob, str) and (why := names_no_tool(glob, layers)):
                yield f"{place}.tools", why
