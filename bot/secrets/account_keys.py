"""Accounts that their usual variables alone would make: of channels built in, since others are not looked for. Pure."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from bot.plugins.channels import BUILT_IN
from runtime.contract import ChannelPlugin


def complete(is_set: Callable[[str], bool]) -> Iterator[ChannelPlugin]:
    """Channels whose usual variables are all set."""
    return (one for one in BUILT_IN.values() if all(is_set(secret.variable) for secret in one.needed().values()))


def incomplete(is_set: Callable[[str], bool]) -> Iterator[tuple[ChannelPlugin, str, Sequence[str]]]:
    """(channel, a variable that is set, those that are missing beside it)."""
    for plugin in BUILT_IN.values():
        there = [secret.variable for secret in plugin.secrets.values() if is_set(secret.variable)]
        missing = [secret.variable for secret in plugin.needed().values() if not is_set(secret.variable)]
        if there and missing:
            yield plugin, there[0], missing


def usual_variables() -> str:
    """In words: those that make an account, of each channel."""
    every = (" and ".join(one.variable for one in plugin.needed().values()) for plugin in BUILT_IN.values())
    return "; ".join(every)
