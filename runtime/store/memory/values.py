"""Values of programs under a key: set, compared and set, listed and deleted."""

from __future__ import annotations

from datetime import datetime
from typing import Final

from sqlalchemy import Integer, Text, bindparam, delete, func, select, update

from runtime.contract.memory.facts import Scope
from runtime.contract.memory.values import StateValue
from runtime.domain.memory.scopes import reach_of
from runtime.domain.memory.values import KEYS_FULL, KEYS_MAX, changed_meanwhile
from runtime.store.common import add
from runtime.store.schema import state_values
from runtime.store.sql.base import Base
from runtime.store.sql.driver import Op, micros, moment

VALUE_COLUMNS: Final = (state_values.c.key, state_values.c.value, state_values.c.version, state_values.c.changed_at)
_here = (state_values.c.reach == bindparam("reach")) & (state_values.c.key == bindparam("name"))
STATE_VALUE = select(*VALUE_COLUMNS).where(_here)
LOCKED_VALUE = STATE_VALUE.with_for_update()
VALUES_FROM = (
    select(*VALUE_COLUMNS)
    .where(
        state_values.c.reach == bindparam("reach"),
        func.substr(state_values.c.key, 1, func.length(bindparam("prefix", type_=Text)))
        == bindparam("prefix", type_=Text),
    )
    .order_by(state_values.c.key)
    .limit(bindparam("n", type_=Integer))
)
ADD_VALUE = add(state_values).on_conflict_do_nothing().returning(*VALUE_COLUMNS)
CHANGE_VALUE = (
    update(state_values)
    .where(_here)
    .values(value=bindparam("new_value"), version=state_values.c.version + 1, changed_at=bindparam("at"))
    .returning(*VALUE_COLUMNS)
)
DROP_VALUE = delete(state_values).where(_here).returning(state_values.c.key)
COUNT_KEYS = select(func.count()).select_from(state_values).where(state_values.c.reach == bindparam("reach"))


def _value(row: tuple[str, str, int, int]) -> StateValue:
    return StateValue(row[0], row[1], row[2], moment(row[3]))


def put(agent: str, scope: Scope, key: str, value: str, expected: int | None, now: datetime) -> Op[StateValue | str]:
    """Set a value; with `expected` only where that is its version by now. A racer that was first is seen as such."""
    here: dict[str, object] = {"reach": reach_of(agent, scope), "name": key}
    row = {"reach": here["reach"], "key": key, "agent": agent, "scope": str(scope), "value": value}
    for _ in range(2):
        found = yield LOCKED_VALUE, here
        version = found[0][2] if found else 0
        if expected is not None and expected != version:
            return changed_meanwhile(key, expected, version)
        if found:
            return _value((yield CHANGE_VALUE, here | {"new_value": value, "at": micros(now)})[0])
        if (yield COUNT_KEYS, {"reach": here["reach"]})[0][0] >= KEYS_MAX:
            return KEYS_FULL
        if added := (yield ADD_VALUE, row | {"version": 1, "changed_at": micros(now)}):
            return _value(added[0])
    return changed_meanwhile(key, expected or 0, 1)


def value_of(agent: str, scope: Scope, key: str) -> Op[StateValue | None]:
    rows = yield STATE_VALUE, {"reach": reach_of(agent, scope), "name": key}
    return _value(rows[0]) if rows else None


def values_from(agent: str, scope: Scope, prefix: str, limit: int) -> Op[list[StateValue]]:
    rows = yield VALUES_FROM, {"reach": reach_of(agent, scope), "prefix": prefix, "n": limit}
    return [_value(row) for row in rows]


def drop(agent: str, scope: Scope, key: str) -> Op[bool]:
    return bool((yield DROP_VALUE, {"reach": reach_of(agent, scope), "name": key}))


class StateValueStore(Base):
    """Implements `protocol.memory.StateValues`."""

    async def get(self, agent: str, scope: Scope, key: str) -> StateValue | None:
        return await self._driver.read(lambda: value_of(agent, scope, key))

    async def put(
        self, agent: str, scope: Scope, key: str, value: str, *, expected: int | None = None
    ) -> StateValue | str:
        now = self.now()
        return await self._driver.write(lambda: put(agent, scope, key, value, expected, now))

    async def listed(self, agent: str, scope: Scope, prefix: str = "", *, limit: int = KEYS_MAX) -> list[StateValue]:
        return await self._driver.read(lambda: values_from(agent, scope, prefix, limit))

    async def delete(self, agent: str, scope: Scope, key: str) -> bool:
        return await self._driver.write(lambda: drop(agent, scope, key))
