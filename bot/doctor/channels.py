"""The accounts on chat platforms: each looked at by its own channel; and tokens that are set and used by none."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterator, Sequence
from itertools import chain

from bot import account_keys
from bot.account_trial import look_at
from bot.doctor.subject import Subject, fine, warning
from bot.settings import Settings
from bot.settings_accounts import AnyAccount
from runtime.contract import Finding

Look = Callable[[AnyAccount], Awaitable[Sequence[Finding]]]


async def check_channels(subject: Subject, look: Look = look_at) -> Sequence[Finding]:
    """All side by side: a platform that is away must not make the others wait."""
    settings = subject.settings
    found = await asyncio.gather(*(look(account) for account in settings.accounts if account.enabled))
    off = [fine(f"{a.channel}.{a.name}", "turned off: enabled is false") for a in settings.accounts if not a.enabled]
    return [*chain.from_iterable(found), *off, *_half_set(settings)]


def _half_set(settings: Settings) -> Iterator[Finding]:
    """A variable is set, and the one that belongs to it is not: one may wonder why there is no account."""
    theirs = {account.channel for account in settings.accounts}
    for channel, there, missing in account_keys.incomplete(lambda name: bool(settings.chain.variables.get(name))):
        if channel not in theirs:
            what = f"{there} is set, and {missing} is not: that makes no account"
            yield warning(
                channel, what, "Nobody is answered there.", f"set {missing} too, or write it under [[accounts]]"
            )
