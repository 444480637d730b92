"""One model that no other can take the place of."""

from __future__ import annotations

from runtime.contract import Model, ModelReply, ModelRequest, Now, OnText
from runtime.errors import ModelFailed
from runtime.models.choice.cooling import BENCHED, Cooldowns, Failed, ended_by_an_answer


class Alone:
    """Implements `contract.Model`. It is asked each time, and how often it failed is known to operators as of any other."""

    def __init__(self, model: Model, name: str, mark: str, *, cooldowns: Cooldowns, now: Now) -> None:
        self.name = model.name
        self.model = model
        self._called = name
        self._mark = mark
        self._cooldowns = cooldowns
        self._now = now

    async def reply(self, request: ModelRequest, on_text: OnText) -> ModelReply:
        began = self._now()
        try:
            reply = await self.model.reply(request, on_text)
        except ModelFailed as error:
            if error.cause in BENCHED:
                failed = Failed(self._called, self._mark, error.cause, began, str(error), error.wait, alone=True)
                await self._cooldowns.failed(failed)
            raise
        if ended_by_an_answer(self._cooldowns.of(self._called), began):
            await self._cooldowns.well(self._called)
        return reply
