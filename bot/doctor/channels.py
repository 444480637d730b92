"""Checks that a channel brings itself: its token, its rights, its platform."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol, runtime_checkable

from bot.doctor.subject import Check, Subject
from runtime.contract import Finding


@runtime_checkable
class HasChecks(Protocol):
    """An adapter that can look at its own account. It needs no store, and no process that listens."""

    async def checks(self) -> Sequence[Finding]:
        """Ids begin with the account, such as "slack.work.scopes". Changes nothing; ends within seconds."""


def check_channels(channels: Sequence[HasChecks]) -> Check:
    async def check(_subject: Subject) -> Sequence[Finding]:
        return [finding for channel in channels for finding in await channel.checks()]

    return check
