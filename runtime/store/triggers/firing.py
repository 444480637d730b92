"""A trigger fires in the transaction of its event, once for each event: work with a session of its own begins.

the event's transaction: candidates -> row locked -> state, cooldown, depth -> its fire noted -> the work's signal
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Final

from sqlalchemy import bindparam, delete, update

from runtime.contract import Address, Content, DeliveryId, Identity, Kind, NewId, OccurrenceId, Report, Role
from runtime.domain.triggers.chains import DEPTH_MAX, is_too_deep, one_deeper
from runtime.domain.triggers.firing import Course, Happening, because, course_of, state_after, task_of
from runtime.domain.triggers.kept import KeptTrigger
from runtime.domain.triggers.matching import fits
from runtime.domain.triggers.trigger import EventTrigger, TriggerState
from runtime.store.common import ADD_DELIVERY, add, delivery_row, fact
from runtime.store.delegation.chains import whole_chain
from runtime.store.intake.occurrences import begin_report
from runtime.store.protocol import NewDelivery
from runtime.store.schema import trigger_fires, triggers
from runtime.store.sql.driver import Op, micros
from runtime.store.triggers.rows import (
    SET_TRIGGER_STATE,
    TRIGGER_LOCKED,
    TRIGGERS_FOR_EVENT,
    Row,
    kept_of,
)
from runtime.store.triggers.waking import wake_run
from runtime.text.retold import retold
from runtime.text.words import marked, said_at, say

FIRED_IN_A_ROW: Final = marked("its work made triggers fire {number} times in a row")
STOPPED_OF_FILE: Final = marked(
    "The trigger **{name}** is stopped, because {why}. Change it in the settings, then run "
    '`signalbox triggers resume "{name}"`.'
)
STOPPED_OF_PERSON: Final = marked("The trigger **{name}** is stopped, because {why}. End it, and ask for another one.")
FIRES_KEPT: Final = timedelta(days=30)
"""For how long a fire is kept: no event is taken in again after that."""
NO_ZONE: Final = "UTC"
TO_PEOPLE: Final = Kind.REPORT

ADD_FIRE = add(trigger_fires).on_conflict_do_nothing().returning(trigger_fires.c.trigger)
DROP_OLD_FIRES = delete(trigger_fires).where(
    trigger_fires.c.trigger == bindparam("trigger"), trigger_fires.c.at < bindparam("before")
)
COUNT_FIRE = (
    update(triggers)
    .where(triggers.c.id == bindparam("trigger"))
    .values(fires=triggers.c.fires + 1, fired_at=bindparam("at"), state=bindparam("new_state"))
)


def happened(event: Happening, now: datetime, new_id: NewId) -> Op[bool]:
    """Fire the triggers that wait for an event which is no message; true where work began."""
    rows = yield TRIGGERS_FOR_EVENT, {"event": event.kind.value, "now": micros(now)}
    if not rows:
        return False
    room, thread = (str(event.room.whole_room), str(event.room)) if event.room else ("", "")
    found = [one for one in (Row(*row).trigger for row in rows) if fits(one, event.kind, room, thread, event.text)]
    return (yield from fire_all(found, event, now, new_id)) if found else False


def fire_all(found: Sequence[EventTrigger], event: Happening, now: datetime, new_id: NewId) -> Op[bool]:
    """Fire each of these for an event, in one order, as every transaction locks them; true where work began."""
    chain = (yield from whole_chain(event.run)) if event.run else ()
    began = False
    for one in sorted(found, key=lambda trigger: trigger.id):
        began |= yield from _fire(one.id, event, chain, now, new_id)
    return began


def _fire(trigger: str, event: Happening, chain: Sequence[str], now: datetime, new_id: NewId) -> Op[bool]:
    rows = yield TRIGGER_LOCKED, {"trigger": trigger}
    kept = kept_of(rows[0]) if rows else None  # ended since this node looked
    if kept is None or not _may(kept, event, now):
        return False
    if kept.trigger.wakes:
        return (yield from wake_run(kept, event, now))
    match course_of(kept.trigger, kept.state, kept.fired_at, now, deep=is_too_deep(chain)):
        case Course.REST:
            return False
        case Course.STOP:
            yield from _stop(kept, event, now, new_id)
            return False
        case Course.FIRE:
            return (yield from _begin(kept, event, chain, now, new_id))


def _may(kept: KeptTrigger, event: Happening, now: datetime) -> bool:
    """A person's trigger counts while it lasts and they may speak, and not for what they do themselves."""
    if kept.ends_at is not None and kept.ends_at <= now:
        return False
    if kept.by_file or kept.trigger.wakes:
        return True
    return kept.owner is not None and kept.owner.role >= Role.USER and kept.owner.id != event.person


def _begin(kept: KeptTrigger, event: Happening, chain: Sequence[str], now: datetime, new_id: NewId) -> Op[bool]:
    trigger, to = kept.trigger, _room_of(kept, event)
    occurrence = OccurrenceId(new_id())
    fire = {"trigger": trigger.id, "event": event.key, "occurrence": occurrence, "at": micros(now)}
    if to is None or not (yield ADD_FIRE, fire):
        return False
    after = state_after(trigger, kept.fires + 1)
    yield COUNT_FIRE, {"trigger": trigger.id, "at": micros(now), "new_state": after.value}
    yield DROP_OLD_FIRES, {"trigger": trigger.id, "before": micros(now - FIRES_KEPT)}
    report = Report(
        id=occurrence,
        name=trigger.name,
        task=task_of(trigger, event),
        to=(to,),
        zone=NO_ZONE,
        agent=trigger.agent,
        actor=Identity(kept.actor),
        owner=kept.owner,
        because=because(event),
    )
    yield from fact(now, "trigger fired", event.who, trigger.id, f"{trigger.name}: {event.kind} {event.key}")
    yield from begin_report(report, trigger.name, now, new_id, one_deeper(chain, trigger.name))
    return True


def _room_of(kept: KeptTrigger, event: Happening) -> Address | None:
    """The room of the report: its own, that in which a person asked for it, or the event's."""
    if own := kept.trigger.to or kept.home:
        return Address.parse(own)
    return event.room


def _stop(kept: KeptTrigger, event: Happening, now: datetime, new_id: NewId) -> Op[None]:
    """Its own work made it fire again: it stops, and its room is told."""
    trigger, to = kept.trigger, _room_of(kept, event)
    why = FIRED_IN_A_ROW.format(number=DEPTH_MAX)
    yield SET_TRIGGER_STATE, {"trigger": trigger.id, "new_state": TriggerState.STOPPED.value, "why": why}
    yield from fact(now, "trigger stopped", "", trigger.id, why)
    if to is None:
        return
    with said_at(to):
        text = say(STOPPED_OF_FILE if kept.by_file else STOPPED_OF_PERSON, name=trigger.name, why=retold(why))
    new = NewDelivery(DeliveryId(new_id()), f"trigger:{trigger.id}:{micros(now)}", 0, TO_PEOPLE, to, Content(text))
    yield ADD_DELIVERY, delivery_row(new, now)
