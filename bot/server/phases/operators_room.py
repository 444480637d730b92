"""The operators' room, in which they are told what only they can mend, and what was changed."""

from __future__ import annotations

from bot.server.phases.accounts import AccountsPhase
from bot.server.phases.engine import EnginePhase
from bot.server.phases.store import StorePhase
from runtime.contract import Content, DeliveryId, Kind
from runtime.errors import Rejected
from runtime.store.protocol import NewDelivery


async def post_to_operators(
    base: StorePhase, at: AccountsPhase, engine: EnginePhase, origin: str, told: str | Content
) -> None:
    """Post into the operators' room, once however many processes do so. Errors: Rejected while that is not known yet."""
    named = at.reload.settings.operators.room
    if not named:
        return
    room = at.lookup.known(named)
    if room is None:
        raise Rejected("the account of the operators' room is not known yet")
    content = Content(told) if isinstance(told, str) else told
    await engine.couriers.post(NewDelivery(DeliveryId(base.new_id()), origin, 1, Kind.REPORT, room, content))
