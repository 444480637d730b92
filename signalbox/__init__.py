"""Signalbox for programs: what packages with channels, tools and models import, and whole processes for tests.

    signalbox.channels   the words of a channel, and the table of its accounts
    signalbox.markup     Markdown for a channel: parse, split, render
    signalbox.tools      the words of a tool
    signalbox.models     the words of a model
    signalbox.testing    a process in a test's own loop

Nothing is made here: each name lives in `runtime`, `tools` or `bot`, where it may move. Here it stays.
"""

from __future__ import annotations

from bot.node.version import VERSION

__version__ = VERSION

__all__ = ["__version__"]
