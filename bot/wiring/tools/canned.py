"""Canned results in tools' place, to try a policy or a workflow."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import structlog

from bot.settings.settings import Settings
from runtime.contract import Tool
from runtime.errors import ConfigError

log = structlog.get_logger("executors")


def canned_of(settings: Settings) -> Callable[[Mapping[str, Tool]], Mapping[str, Tool]]:
    """Puts canned results in tools' place, where the settings say so. Errors: ConfigError."""
    file = settings.tools.mock
    if file is None:
        return lambda tools: tools
    from tools.executors.canned import canned_tools, read_canned
    from tools.executors.files import FileFault

    try:
        results = read_canned(file)
    except FileFault as fault:  # it changed since the settings were read
        raise ConfigError(f"tools.mock: {fault}") from None
    log.warning("tools are only tried: their results are canned", file=str(file), results=len(results))
    return lambda tools: canned_tools(tools, results, file)
