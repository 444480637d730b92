"""Wire to Signal: what a person at the page said, pressed or stopped."""

from __future__ import annotations

from datetime import datetime

from runtime.contract import Address, Body, Said, Signal
from runtime.http.authentication import Visitor
from runtime.text.words import LANGUAGE


def signal_of(visitor: Visitor, address: Address, event_id: str, body: Body, received_at: datetime) -> Signal:
    """Signal of a request. Its key includes the person, so nobody can use up another's id."""
    return Signal(
        platform=address.account,
        dedupe_key=f"{visitor.identity}#{event_id}",
        actor=visitor.identity,
        actor_name=visitor.person.name,
        address=address,
        body=body,
        received_at=received_at,
        language=LANGUAGE.get() if isinstance(body, Said) else "",  # a press may be for another's conversation
    )
