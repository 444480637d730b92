"""Models that rest, in a table that nodes share and that outlives them."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from sqlalchemy import bindparam, delete, or_, select, update

from runtime.errors import Cause
from runtime.models.choice.cooling import PROBE_TIME, Failed, Rest, concerns_operators, is_news, rest_after
from runtime.store.common import fact, put
from runtime.store.schema import cooldowns
from runtime.store.sql.base import Base
from runtime.store.sql.driver import Op, maybe_moment, micros, moment

COLUMNS = (
    cooldowns.c.model,
    cooldowns.c.mark,
    cooldowns.c.cause,
    cooldowns.c.since,
    cooldowns.c.until,
    cooldowns.c.count,
    cooldowns.c.reason,
    cooldowns.c.probe_until,
)
ALL = select(*COLUMNS).order_by(cooldowns.c.model)
ONE = select(*COLUMNS).where(cooldowns.c.model == bindparam("of")).with_for_update()
SET_COOLDOWN = put(cooldowns)
CLEAR = delete(cooldowns).where(cooldowns.c.model == bindparam("of")).returning(*COLUMNS)
PROBE = (
    update(cooldowns)
    .where(
        cooldowns.c.model == bindparam("of"),
        cooldowns.c.until <= bindparam("now"),
        or_(cooldowns.c.probe_until.is_(None), cooldowns.c.probe_until <= bindparam("now")),
    )
    .values(probe_until=bindparam("probing"))
    .returning(cooldowns.c.model)
)


class CooldownStore(Base):
    """Implements `protocol.Cooling`."""

    async def resting(self) -> list[Rest]:
        return await self._driver.read(_all)

    async def failed(self, failed: Failed) -> Rest:
        now = self.now()
        return await self._driver.write(lambda: _failed(failed, now))

    async def clear(self, model: str, by: str = "") -> bool:
        now = self.now()
        return await self._driver.write(lambda: _clear(model, by, now))

    async def probe(self, model: str) -> bool:
        now = self.now()
        return await self._driver.write(lambda: _probe(model, now))


def _all() -> Op[list[Rest]]:
    return [_rest(row) for row in (yield ALL, {})]


def _failed(failed: Failed, now: datetime) -> Op[Rest]:
    rows = yield ONE, {"of": failed.model}
    before = _rest(rows[0]) if rows else None
    rest = rest_after(before, failed, now)
    yield (
        SET_COOLDOWN,
        {
            "model": rest.model,
            "mark": rest.mark,
            "cause": rest.cause.value,
            "since": micros(rest.since),
            "until": rest.until and micros(rest.until),
            "count": rest.count,
            "reason": rest.reason,
            "probe_until": rest.probe_until and micros(rest.probe_until),
        },
    )
    if is_news(rest) and not (before and is_news(before) and before.since == rest.since):
        yield from fact(now, "model benched", "", rest.model, rest.reason)
    return rest


def _clear(model: str, by: str, now: datetime) -> Op[bool]:
    rows = yield CLEAR, {"of": model}
    if rows and (by or concerns_operators(_rest(rows[0]))):
        yield from fact(now, "model well", by, model)
    return bool(rows)


def _probe(model: str, now: datetime) -> Op[bool]:
    rows = yield PROBE, {"of": model, "now": micros(now), "probing": micros(now + PROBE_TIME)}
    return bool(rows)


def _rest(row: Any) -> Rest:
    model, mark, cause, since, until, count, reason, probe_until = row
    times = maybe_moment(until), maybe_moment(probe_until)
    return Rest(model, mark, Cause(cause), moment(since), times[0], count, reason, times[1])
