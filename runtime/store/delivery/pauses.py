"""Waits that a platform named, kept over restarts: whoever sends next for the account must honour them too."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime

from sqlalchemy import bindparam, delete, select

from runtime.store.common import add, held
from runtime.store.protocol import Duty
from runtime.store.schema import pauses
from runtime.store.sql.driver import Op, micros, moment

_NEW = add(pauses)
KEEP = _NEW.on_conflict_do_update(
    index_elements=[pauses.c.channel, pauses.c.account, pauses.c.room],
    set_={"until": _NEW.excluded.until},
    where=pauses.c.until < _NEW.excluded.until,
)
OVER = delete(pauses).where(
    pauses.c.channel == bindparam("c"), pauses.c.account == bindparam("a"), pauses.c.until <= bindparam("now")
)
STILL = select(pauses.c.room, pauses.c.until).where(
    pauses.c.channel == bindparam("c"), pauses.c.account == bindparam("a"), pauses.c.until > bindparam("now")
)


def pause(duty: Duty, channel: str, account: str, room: str, until: datetime, now: datetime) -> Op[bool]:
    if not (yield from held(duty)):
        return False
    yield OVER, {"c": channel, "a": account, "now": micros(now)}
    yield KEEP, {"channel": channel, "account": account, "room": room, "until": micros(until)}
    return True


def paused(channel: str, account: str, now: datetime) -> Op[Mapping[str, datetime]]:
    rows = yield STILL, {"c": channel, "a": account, "now": micros(now)}
    return {room: moment(until) for room, until in rows}
