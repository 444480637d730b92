"""Values of other bots' files, taken as what they should be. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any, Final

ACCOUNT_SIGNS: Final = re.compile(r"[^a-z0-9]+")
ACCOUNT_NAME_CHARS: Final = 32
REFERENCE: Final = re.compile(r"\$\{?[A-Za-z_]\w*\}?")
IDS: Final[Mapping[str, re.Pattern[str]]] = {
    "telegram": re.compile(r"[1-9]\d{0,19}"),
    "discord": re.compile(r"\d{15,22}"),
    "slack": re.compile(r"[UW][A-Z0-9]{5,20}"),
}
"""People's ids on each platform."""
ROOMS: Final[Mapping[str, re.Pattern[str]]] = {
    "telegram": re.compile(r"-?[1-9]\d{0,19}"),
    "discord": re.compile(r"\d{15,22}"),
    "slack": re.compile(r"[CDG][A-Z0-9]{5,20}"),
}
CAMEL_TOKENS: Final[Mapping[str, Mapping[str, str]]] = {
    "telegram": {"token": "botToken"},
    "slack": {"bot_token": "botToken", "app_token": "appToken"},
    "discord": {"token": "token"},
}
"""Secrets of an account as OpenClaw and nanobot write them, by our setting."""
NO_WORKSPACE: Final = "Slack's user ids count within a workspace, which that folder doesn't name"


def table(value: object) -> Mapping[str, Any]:
    """The table that it is, else an empty one."""
    return value if isinstance(value, dict) else {}


def tables(value: object) -> Iterator[Mapping[str, Any]]:
    """Tables of a list; what is none is passed over."""
    yield from (one for one in value if isinstance(one, dict)) if isinstance(value, list) else ()


def words(value: object) -> list[str]:
    """Texts and numbers of a list, as texts."""
    return [str(one).strip() for one in value if isinstance(one, str | int)] if isinstance(value, list) else []


def text(value: object) -> str:
    return value.strip() if isinstance(value, str) else ""


def on(value: object, *, usual: bool = False) -> bool:
    return bool(value) if isinstance(value, bool | int) else usual


def secret(value: object) -> str:
    """A secret that stands there itself: neither a reference to a variable nor to a store of secrets."""
    found = text(value)
    return "" if REFERENCE.fullmatch(found) else found


def account_name(given: str, taken: frozenset[str] | set[str]) -> str:
    """A name for an account, as ours are written, that none of `taken` has."""
    plain = ACCOUNT_SIGNS.sub("-", given.lower()).strip("-")[:ACCOUNT_NAME_CHARS].strip("-") or "main"
    number, name = 1, plain
    while name in taken:
        number += 1
        name = f"{plain[: ACCOUNT_NAME_CHARS - 4]}-{number}"
    return name


def room_id(channel: str, given: str) -> str:
    """The id of a room as the platform has it, without words before it; empty for one that can't be one."""
    bare = given.rpartition(":")[2]
    pattern = ROOMS.get(channel)
    return bare if pattern and pattern.fullmatch(bare) else ""
