"""An owner's answer by a button of a skill's card."""

from __future__ import annotations

from datetime import datetime

from sqlalchemy import bindparam, select

from runtime.chat.views.skills import (
    ANSWERED_ALREADY,
    FORM_GONE,
    ONLY_OWNERS_ACCEPT,
    answered_card,
    card_origin,
    left_out,
)
from runtime.contract import Address, Choice, Clicked, Content, DeliveryId, Kind, NewId, Person, Role
from runtime.store.common import ADD_DELIVERY, delivery_row, fact
from runtime.store.protocol import NewDelivery
from runtime.store.protocol.intake import SkillAnswer
from runtime.store.schema import deliveries
from runtime.store.skills.locking import DIGEST_SHOWN, accept_skill
from runtime.store.sql.driver import Op
from runtime.text.words import say

CARD_OF = (
    select(deliveries.c.id, deliveries.c.address, deliveries.c.content)
    .where(deliveries.c.origin == bindparam("o"))
    .order_by(deliveries.c.ordinal)
)


def answer_card(
    click: Clicked, answer: SkillAnswer | None, who: Person, now: datetime, new_id: NewId
) -> Op[tuple[str, tuple[Address, ...]]]:
    """Words for whoever clicked, and where a courier is to look: the card tells how it was answered."""
    if who.role < Role.OWNER:
        return say(ONLY_OWNERS_ACCEPT), ()
    if answer is None or (skill := answer.accepts) is None:
        return (answer.text if answer else say(FORM_GONE)), ()
    found = yield CARD_OF, {"o": card_origin(skill)}
    if len(found) != 1:
        return say(ANSWERED_ALREADY), ()
    is_accepted = click.choice is Choice.APPROVE
    if is_accepted:
        yield from accept_skill(skill, answer.skill_text, who.name, now)
    else:
        yield from fact(now, "skill left out", who.name, skill.locked_as, skill.digest[:DIGEST_SHOWN])
    [(card, at, content)] = found
    told = answered_card(Content.from_json(content), skill.name, who.name, accepted=is_accepted)
    room, edit = Address.parse(at), DeliveryId(new_id())
    settled = NewDelivery(edit, card_origin(skill), 2, Kind.REPORT, room, told, DeliveryId(card))
    yield ADD_DELIVERY, delivery_row(settled, now, None)
    return (answer.text if is_accepted else left_out(skill.name)), (room,)
