"""Which secrets an account needs, and under which variables people usually keep them. Pure."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Final

USUAL: Final[Mapping[str, Mapping[str, str]]] = {
    "telegram": {"token": "TELEGRAM_BOT_TOKEN"},
    "slack": {
        "bot_token": "SLACK_BOT_TOKEN",
        "app_token": "SLACK_APP_TOKEN",
        "signing_secret": "SLACK_SIGNING_SECRET",
    },
    "discord": {"token": "DISCORD_BOT_TOKEN"},
}
"""By channel and setting. An account that names no variable finds its secrets here."""

NEEDED: Final[Mapping[str, Mapping[str, Sequence[str]]]] = {
    "telegram": {"polling": ("token",), "webhook": ("token",)},
    "slack": {"socket": ("bot_token", "app_token"), "http": ("bot_token", "signing_secret")},
    "discord": {"": ("token",)},
}
"""By channel and mode, of which the first is the default."""


def needed(channel: str, mode: object = None) -> Sequence[str]:
    """Settings without which the account cannot work; for a mode that does not exist, those of the default."""
    modes = NEEDED[channel]
    return modes.get(mode, ()) if isinstance(mode, str) and mode in modes else next(iter(modes.values()))


def complete(is_set: Callable[[str], bool]) -> Iterator[str]:
    """Channels whose usual variables are all set: an account can be made of them alone."""
    return (channel for channel in USUAL if all(is_set(USUAL[channel][name]) for name in needed(channel)))


def incomplete(is_set: Callable[[str], bool]) -> Iterator[tuple[str, str, Sequence[str]]]:
    """(channel, a variable that is set, those that are missing beside it)."""
    for channel, usual in USUAL.items():
        there = [variable for variable in usual.values() if is_set(variable)]
        missing = [usual[name] for name in needed(channel) if not is_set(usual[name])]
        if there and missing:
            yield channel, there[0], missing
