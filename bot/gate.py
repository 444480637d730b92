"""The gate: what acceptance needs to know from the settings."""

from __future__ import annotations

from bot.settings import Settings
from runtime.approvals import Rights
from runtime.store.protocol import Gate


def gate_of(settings: Settings) -> Gate:
    """What acceptance needs to know from the settings."""
    access = settings.access
    return Gate(
        open_to_all=access.default == "allow",
        busy=settings.sessions.busy,
        rights=Rights(frozenset(access.approvers), access.self_approval),
    )
