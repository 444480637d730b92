"""Two models in place of one: the first is busy now and then, and the second stands in for it."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from itertools import count
from typing import Final

from runtime.contract import Model, ModelReply, ModelRequest, OnText, Probe
from runtime.errors import Cause, ModelFailed
from runtime.models.choice.chain import Member, ModelChain
from runtime.models.choice.cooling import Failed, Rest, rest_after
from runtime.models.choice.routing import Route

BUSY_EVERY: Final = 6
"""Calls of which the first model fails one."""
RESTS: Final = timedelta(seconds=0.05)


class Moody:
    """Fails one call in some, as a vendor does that has too many requests."""

    def __init__(self, model: Model) -> None:
        self.name = model.name
        self._model = model
        self._calls = count(1)

    async def reply(self, request: ModelRequest, on_text: OnText) -> ModelReply:
        if next(self._calls) % BUSY_EVERY == 0:
            raise ModelFailed("It is busy.", cause=Cause.BUSY, wait=RESTS)
        return await self._model.reply(request, on_text)


class OwnCooldowns:
    """Models that rest, as this process alone knows it."""

    def __init__(self) -> None:
        self._rests: dict[str, Rest] = {}

    def of(self, model: str) -> Rest | None:
        return self._rests.get(model)

    async def failed(self, failed: Failed) -> None:
        self._rests[failed.model] = rest_after(self.of(failed.model), failed, now())

    async def well(self, model: str) -> None:
        self._rests.pop(model, None)

    async def may_probe(self, model: str) -> bool:
        return True


def with_a_stand_in(model: Model, probe: Probe) -> ModelChain:
    members = [Member(Route("first"), Moody(model), "m"), Member(Route("second"), model, "m")]
    return ModelChain(members, ["second"], cooldowns=OwnCooldowns(), now=now, probe=probe)


def now() -> datetime:
    return datetime.now(UTC)
