"""One account looked at live, with neither a store nor a process: for `doctor`, and for whoever sets it up."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from datetime import timedelta
from typing import Final

from bot.plugins.channels import channel
from bot.wiring.channels import absent
from runtime.contract import Finding, Level
from runtime.errors import BotError
from runtime.settings.accounts import Account

ACCOUNT_TRIAL_TIMEOUT: Final = timedelta(seconds=20)  # a platform that does not answer is told, and the others with it
WHY_ACCOUNT: Final = "Nobody is answered there."


async def look_at(account: Account, patience: timedelta = ACCOUNT_TRIAL_TIMEOUT) -> Sequence[Finding]:
    """Ask the platform about an account. Whatever goes wrong is a finding too."""
    try:
        return await _checked(account, patience)
    except BotError as error:
        return [
            _finding(
                account,
                Level.ERROR,
                "settings",
                str(error),
                WHY_ACCOUNT,
                "change it, then check again: signalbox doctor",
            )
        ]
    except TimeoutError:
        what = f"the platform did not answer within {patience.total_seconds():g} s"
        fix = "check this machine's network and the platform's status page"
        return [_finding(account, Level.ERROR, "reachable", what, WHY_ACCOUNT, fix)]
    except Exception as error:  # noqa: BLE001 - what breaks with one account must not hide the others
        what = f"the check failed: {type(error).__name__}: {error}"
        return [
            _finding(account, Level.ERROR, "check", what, WHY_ACCOUNT, "please report it: this is a bug in Signalbox")
        ]


async def _checked(account: Account, patience: timedelta) -> Sequence[Finding]:
    """Errors: ConfigError, TimeoutError, and whatever breaks in the channel."""
    plugin = channel(account.channel)
    if plugin is None or plugin.check is None:
        return [_finding(account, Level.OK, "checks", "there is nothing to check first")]
    try:
        async with asyncio.timeout(patience.total_seconds()):
            return await plugin.check(account)
    except ModuleNotFoundError as error:
        raise absent(account, error.name) from error


def _finding(account: Account, level: Level, step: str, what: str, why: str = "", fix: str = "") -> Finding:
    return Finding(level, f"{account.channel}.{account.name}.{step}", what, why, fix)
