"""Cards that one person sees: the messages behind the answer to a command. Pure."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from adapters.discord.interactions import EPHEMERAL
from adapters.discord.outgoing.render import render
from runtime.contract import Address, Content, Delivery, DeliveryId, Kind

Body = dict[str, Any]


def follow_ups(address: Address, cards: Sequence[Content]) -> list[Body]:
    """Bodies of the messages, in order. Nobody is called by them, and nobody else sees them."""
    shown = [Delivery(DeliveryId(""), "", 0, Kind.APPROVAL, address, card) for card in cards]
    bodies = [json.loads(wire.body) for delivery in shown for wire in render(delivery)]
    return [{**body, "flags": EPHEMERAL, "allowed_mentions": {"parse": []}} for body in bodies]
