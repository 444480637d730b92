"""A model that returns listed answers."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from runtime.contract import Call, ModelReply, ModelRequest, OnText, Usage

USAGE = Usage("scripted", 1, 1)


@dataclass(frozen=True, slots=True)
class Held:
    """Give `then` only once `until` is set; `begun` is set when the model was asked and `said` was streamed."""

    until: asyncio.Event
    then: Answer
    begun: asyncio.Event
    said: str = ""


Answer = str | Call | tuple[Call, ...] | ModelReply | Exception | Held | Callable[[ModelRequest], ModelReply]
"""Words, one call, several calls, a whole reply, an error to raise, any of these held back, or a function."""


def held(then: Answer, *, said: str = "") -> Held:
    return Held(asyncio.Event(), then, asyncio.Event(), said)


class Scripted:
    """Gives one answer a request, in order; asked once more than it has answers, it fails the test.

    `requests` are those it got, and `unanswered` counts those for which it had no answer.
    """

    name = "scripted"

    def __init__(self, answers: Iterable[Answer]) -> None:
        self._answers = list(answers)
        self.requests: list[ModelRequest] = []
        self.unanswered = 0

    @property
    def left(self) -> int:
        """Answers nobody asked for yet."""
        return len(self._answers)

    async def reply(self, request: ModelRequest, on_text: OnText) -> ModelReply:
        self.requests.append(request)
        if not self._answers:
            self.unanswered += 1
            raise AssertionError(f"request {len(self.requests)} has no scripted answer")
        return await self._give(self._answers.pop(0), request, on_text)

    async def _give(self, answer: Answer, request: ModelRequest, on_text: OnText) -> ModelReply:
        match answer:
            case Held(until, then, begun, said):
                if said:
                    on_text(said)
                begun.set()
                await until.wait()
                return await self._give(then, request, on_text)
            case Exception():
                raise answer
            case Call():
                return ModelReply("", (answer,), USAGE)
            case tuple():
                return ModelReply("", answer, USAGE)
            case str():
                on_text(answer)
                return ModelReply(answer, (), USAGE)
            case ModelReply():
                on_text(answer.text)
                return answer
            case _:
                return answer(request)
