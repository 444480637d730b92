"""Costs of embeddings: recorded as usage, and counted in budgets. No run makes these calls, so each has an id of its own."""

from __future__ import annotations

from runtime.contract import Usage
from runtime.contract.people import Address, PersonId
from runtime.policy.budgets import exceeded
from runtime.store.budgets.counters import Change, Moment, Payer, changed, looked_at
from runtime.store.common import add
from runtime.store.schema import usage
from runtime.store.sql.base import Base
from runtime.store.sql.driver import Op, micros

ADD_USAGE = add(usage)


class EmbeddingCostStore(Base):
    """Implements `protocol.memory.vectors.EmbeddingCosts`."""

    async def affords(self, agent: str, room: Address, person: PersonId | None) -> bool:
        rules, now, payer = self._budgets.rules, self.now(), Payer(agent, room, person)

        def look() -> Op[bool]:
            return exceeded(rules, (yield from looked_at(payer, rules, now))) is None

        return await self._driver.read(look) if rules.is_set else True

    async def charge(self, agent: str, room: Address, person: PersonId | None, used: Usage) -> None:
        at = Moment(self._budgets.rules, self.now(), self._new_id)
        await self._driver.write(lambda: _charged(Payer(agent, room, person), used, at))


def _charged(payer: Payer, used: Usage, at: Moment) -> Op[None]:
    row: dict[str, object] = {
        "run_id": at.new_id(),
        "step": 0,
        "agent": payer.agent,
        "address": str(payer.room),
        "person_id": payer.person,
        "model": used.model,
        "input_tokens": used.input_tokens,
        "output_tokens": used.output_tokens,
        "cost_micros": used.cost_micros,
        "at": micros(at.now),
        "cached_tokens": used.cached_tokens,
        "instead_of": "",
        "unpriced": int(used.unpriced),
    }
    yield ADD_USAGE, row
    if at.rules.is_set:
        yield from changed(payer, Change.of(used), at.rules, at.now)
