"""Secrets that were removed or replaced: they stay in their sealed file, for the leak guard alone to look for. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Final

from bot.secrets.sealed import Entry

REMOVED: Final = " removed "
"""In the name under which one stays. No variable has blanks in its name, so nobody is ever given its value."""

REMOVED_MOST: Final = 200
"""Of more the oldest go for good."""


def put_aside(entries: dict[str, Entry], name: str, now: datetime) -> None:
    """Take `name` out, and leave its value for the guard."""
    if entry := entries.pop(name, None):
        for other in [one for one in removed(entries) if entries[one].value == entry.value]:
            del entries[other]
        entries[f"{name}{REMOVED}{now.isoformat()}"] = entry
        for oldest in sorted(removed(entries), key=removed_at)[:-REMOVED_MOST]:
            del entries[oldest]


def removed(entries: Mapping[str, Entry]) -> list[str]:
    return [name for name in entries if REMOVED in name]


def at_work(entries: Mapping[str, Entry]) -> dict[str, Entry]:
    return {name: entry for name, entry in entries.items() if REMOVED not in name}


def removed_at(name: str) -> str:
    return name.partition(REMOVED)[2]


def name_before(name: str) -> str:
    """The name that it had.

    >>> name_before("GITHUB_TOKEN removed 2026-11-26T02:00:00+00:00")
    'GITHUB_TOKEN'
    """
    return name.partition(REMOVED)[0]
