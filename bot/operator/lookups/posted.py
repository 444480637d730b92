"""Messages on screen by a link: on their platform where that has addresses, and in the outbox for all else about them."""

from __future__ import annotations

from adapters.web.adapter import CHANNEL
from bot.operator.context import OperatorContext
from bot.operator.views import View
from runtime.contract import Address
from runtime.store.protocol import Posted


def posted_view(has: OperatorContext, row: Posted) -> View:
    """`link` leads to the message itself; it is empty where its platform has no addresses, or nothing is on screen."""
    return {
        "id": row.delivery,
        "kind": row.kind,
        "state": row.state,
        "address": has.named(row.address),
        "room": has.called(row.address),
        "link": _link(has, row),
    }


def _link(has: OperatorContext, row: Posted) -> str:
    if not row.receipt:
        return ""
    return page_link(row.address, f"{row.delivery}.{row.ordinal}") or has.message_link(row.address, row.receipt)


def page_link(address: Address, entry: str) -> str:
    """Place of a message on the page; empty for a room of another channel."""
    return f"/#{address.room}/{entry}" if address.channel == CHANNEL else ""
