"""A call that waits, an approver who asks about it, and a model that explains."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Final

from bot.testing.scripted import Answer
from runtime.chat.audience import Places
from runtime.chat.cards.exchanges import Exchange, exchanges
from runtime.contract import Addressing, Call, Effect, Identity, ModelReply, ModelRequest, OnText, Said
from runtime.domain.approvals import Approval
from tests.contract.runtime.stage import ADA, SHELL, UMA, FakeTool, Process, Stage, fake_tool
from tests.contract.runtime.strict import Planned

GENERAL: Final = "general"
NAMED: Final = Places(room_name=lambda address: f"#{address.room}" if address.room == GENERAL else "")
BECAUSE: Final = "You asked for the kernel's name."


class Explaining(Planned):
    """Makes its plan; where words alone are wanted it gives the explanations, and then the first again."""

    def __init__(self, *explanations: Answer, plan: Sequence[Call | tuple[Call, ...]] = (SHELL,)) -> None:
        super().__init__(*plan, end="done")
        self.explanations = list(explanations) or [BECAUSE]
        self.asked: list[ModelRequest] = []

    async def reply(self, request: ModelRequest, on_text: OnText) -> ModelReply:
        if not request.words_only:
            return await super().reply(request, on_text)
        self.asked.append(request)
        now = self.explanations.pop(0) if len(self.explanations) > 1 else self.explanations[0]
        return await self._give(now, request, on_text)


def shell() -> FakeTool:
    return fake_tool("shell", Effect.DANGER)


async def waiting(stage: Stage, model: Explaining | None = None, *, room: str = GENERAL, **setting: Any) -> Process:
    """Uma asked for a call in a room of several people, which waits for a decision."""
    process = await stage.process(model or Explaining(), [shell()], places=NAMED, **setting)
    signal = replace(stage.signal(Said("the kernel, please"), UMA, room), reach=Addressing.MENTION)
    await process.reception.sink(signal)
    await process.answer_all()
    return process


async def known_alone(stage: Stage) -> None:
    """Ada wrote to the agent alone, so she can be asked there."""
    process = await stage.process(Planned())
    await process.say("hi", who=ADA, room="ada")
    await process.answer_all()


async def only(stage: Stage) -> Approval:
    [question] = await stage.pending()
    return question


async def ask(process: Process, question: str = "", who: Identity = ADA, *, room: str = GENERAL) -> str:
    """Somebody asks, and all that follows; what they alone are told."""
    notice = await process.why((await only(process.stage)).as_shown, question, who, room=room)
    await process.answerer.look()
    await process.answer_all()
    return notice


async def card(stage: Stage, room: str = GENERAL) -> str:
    return (await stage.screen(room))[0]


async def kept(stage: Stage) -> list[Exchange]:
    [approval] = await stage.store.approvals.approvals()
    return exchanges(approval.card)
