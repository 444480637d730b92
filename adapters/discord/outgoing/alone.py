"""Cards that one person sees: the messages behind the answer to a command. Pure."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from adapters.discord.interactions import EPHEMERAL
from adapters.discord.outgoing.render import render
from runtime.contract import Address, Content, Delivery, DeliveryId, Kind, Wire
from runtime.markup.attachment import NOT_HERE, unabridged

Body = dict[str, Any]


def follow_ups(address: Address, cards: Sequence[Content]) -> list[Body]:
    """Bodies of messages that one person alone sees, in order. They mention nobody."""
    bodies = []
    for card in cards:
        wires = _rendered(address, unabridged(card))
        bodies.append(json.loads((wires if len(wires) == 1 else _rendered(address, Content(NOT_HERE)))[0].body))
    return [{**body, "flags": EPHEMERAL, "allowed_mentions": {"parse": []}} for body in bodies]


def _rendered(address: Address, card: Content) -> list[Wire]:
    return render(Delivery(DeliveryId(""), "", 0, Kind.APPROVAL, address, card))
