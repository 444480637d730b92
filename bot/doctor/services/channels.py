"""The accounts on chat platforms: each looked at by its own channel; and tokens that are set and used by none."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from itertools import chain

from bot.doctor.subject import Subject, fault, fine
from bot.tryouts.account import WHY_ACCOUNT, look_at
from bot.wiring.unused_settings import half_set_accounts
from runtime.contract import Finding
from runtime.errors import ConfigError
from runtime.settings.accounts import Account

Look = Callable[[Account], Awaitable[Sequence[Finding]]]


async def check_channels(subject: Subject, look: Look = look_at) -> Sequence[Finding]:
    """All side by side: a platform that is away must not make the others wait."""
    settings = subject.settings
    wrong = [account for account in settings.accounts if account.enabled and _is_wrong(account, subject.faults)]
    whole = [account for account in settings.accounts if account.enabled and account not in wrong]
    found = await asyncio.gather(*(look(account) for account in whole))
    off = [fine(f"{a.channel}.{a.name}", "turned off: enabled is false") for a in settings.accounts if not a.enabled]
    return [*chain.from_iterable(found), *map(_not_looked_at, wrong), *off, *half_set_accounts(settings)]


def _is_wrong(account: Account, faults: ConfigError | None) -> bool:
    """Check whether a setting of the account was left out: what would be missing then is there, and wrong."""
    left_out = faults.left_out if faults else ()
    return any(name.startswith("accounts[") and f'("{account.name}")' in name for name in left_out)


def _not_looked_at(account: Account) -> Finding:
    what = "not checked, because its settings are wrong (see above)"
    return fault(f"{account.channel}.{account.name}.settings", what, WHY_ACCOUNT, "change them, then: signalbox doctor")
