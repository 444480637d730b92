"""Signalbox for programs: agents in a program of one's own, what packages import, and what tests need.

    signalbox.Agent      an agent inside a program, and its errors
    signalbox.tool       the decorator that makes a function a tool
    signalbox.channels   the words of a channel, and the table of its accounts
    signalbox.markup     Markdown for a channel: parse, split, render
    signalbox.tools      the words of a tool
    signalbox.models     the words of a model
    signalbox.sdk        events, answers and questions of an agent's runs
    signalbox.testing    an agent with a scripted model, a chat platform and a clock, for tests

Nothing is made here: each name lives in `runtime`, `tools` or `bot`, where it may move. Here it stays. Each is loaded when it
is first used, so that `import signalbox` costs next to nothing.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from bot.node.version import VERSION as __version__  # noqa: N811 - its usual name
    from bot.sdk.agent import Agent
    from runtime.contract import Effect
    from runtime.errors import AgentClosed, BotError, ConfigError, Declined, RunFailed
    from tools.kit.declare import tool

HOMES: Final = {
    "Agent": "bot.sdk.agent",
    "AgentClosed": "runtime.errors",
    "BotError": "runtime.errors",
    "ConfigError": "runtime.errors",
    "Declined": "runtime.errors",
    "Effect": "runtime.contract",
    "RunFailed": "runtime.errors",
    "tool": "tools.kit.declare",
}

__all__ = [
    "Agent",
    "AgentClosed",
    "BotError",
    "ConfigError",
    "Declined",
    "Effect",
    "RunFailed",
    "__version__",
    "tool",
]


def __getattr__(name: str) -> Any:
    if name == "__version__":
        return import_module("bot.node.version").VERSION
    if name not in HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    found = globals()[name] = getattr(import_module(HOMES[name]), name)
    return found


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
