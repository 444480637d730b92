"""A model between interceptors: they see what it is asked and what it answers, and nothing is shown before they have."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Final

from runtime.contract import AssistantTurn, Model, ModelReply, ModelRequest, OnText, ToolTurn, Turn, Work
from runtime.contract.agents.interceptors import AnswerKind, InterceptorFailed, Occasion, Point
from runtime.contract.people import Json
from runtime.errors import ModelFailed
from runtime.interceptors.chain import Interceptors
from runtime.models.guarded import GuardedModel

HELD_BACK: Final = "I held my answer back:"
NOT_ASKED: Final = "The model was not asked:"


def intercepted(model: Model, chain: Interceptors, agent: str) -> Model:
    """`model` with those points that somebody looks at. The guard looks at what they replace, on either side."""
    if not chain.has(Point.BEFORE_MODEL, Point.AFTER_MODEL, Point.BEFORE_SHOW):
        return model
    return GuardedModel(InterceptedModel(model, chain, agent), chain.door)


class InterceptedModel:
    """Implements `contract.Model`."""

    def __init__(self, model: Model, chain: Interceptors, agent: str) -> None:
        self.name = model.name
        self._model = model
        self._chain = chain
        self._agent = agent

    async def reply(self, request: ModelRequest, on_text: OnText) -> ModelReply:
        request = await self._before(request)
        is_hidden = any(
            self._chain.fitting(self._occasion(point, request, {})) for point in (Point.AFTER_MODEL, Point.BEFORE_SHOW)
        )
        reply = await self._model.reply(request, _shows_nothing if is_hidden else on_text)
        return await self._after(request, reply)

    def _occasion(self, at: Point, request: ModelRequest, values: Mapping[str, Json]) -> Occasion:
        return Occasion(at, self._agent, request.room, request.step.partition("/")[0], request.step, values=values)

    async def _before(self, request: ModelRequest) -> ModelRequest:
        """Errors: ModelFailed where one denies."""
        if not self._chain.has(Point.BEFORE_MODEL):
            return request
        told = {
            "work": request.work.value,
            "system": request.system,
            "working": request.working,
            "messages": [_message(turn) for turn in request.turns],
        }
        occasion = self._occasion(Point.BEFORE_MODEL, request, told)
        outcome = await self._chain.judged(occasion, _take_texts)
        if outcome.kind is AnswerKind.DENY:
            raise ModelFailed(f"{NOT_ASKED} {' '.join(outcome.words)}")
        values = outcome.occasion.values
        turns = [_retold(turn, one["text"]) for turn, one in zip(request.turns, values["messages"], strict=True)]
        return replace(request, system=values["system"], working=values["working"], turns=turns)

    async def _after(self, request: ModelRequest, reply: ModelReply) -> ModelReply:
        """Errors: ModelFailed where one denies what is no answer to people."""
        if not self._chain.has(Point.AFTER_MODEL):
            return reply
        calls = [{"tool": call.tool, "arguments": call.arguments} for call in reply.calls]
        told = {"work": request.work.value, "text": reply.text, "calls": calls}
        outcome = await self._chain.judged(self._occasion(Point.AFTER_MODEL, request, told), _take_text)
        if outcome.kind is not AnswerKind.DENY:
            text = outcome.occasion.values["text"]
            return reply if text == reply.text else replace(reply, text=text, reasoning=None)
        if request.work is Work.SUMMARY:
            raise ModelFailed(f"{HELD_BACK} {' '.join(outcome.words)}")
        return replace(reply, text=f"{HELD_BACK} {' '.join(outcome.words)}", calls=(), reasoning=None)


def _shows_nothing(text: str) -> None:
    """Text that somebody still has to look at."""


async def _take_text(before: Occasion, values: Mapping[str, Json]) -> Occasion:
    return replace(before, values={**before.values, **values})


async def _take_texts(before: Occasion, values: Mapping[str, Json]) -> Occasion:
    """Texts may be others, and none may be added or left out: calls and their results stand at their places."""
    known: Sequence[Mapping[str, Json]] = before.values["messages"]
    given = values.get("messages", known)
    if not isinstance(given, list) or len(given) != len(known):
        raise InterceptorFailed(f"its messages are not the {len(known)} that it was given")
    for old, new in zip(known, given, strict=True):
        if not isinstance(new, Mapping) or new.get("role") != old["role"] or not isinstance(new.get("text"), str):
            raise InterceptorFailed('each of its messages needs the "role" that it had and a "text"')
    return replace(before, values={**before.values, **values})


def _message(turn: Turn) -> dict[str, Json]:
    told: dict[str, Json] = {"role": _role(turn), "text": turn.text}
    if isinstance(turn, AssistantTurn) and turn.calls:
        told["calls"] = [{"tool": call.tool, "arguments": call.arguments} for call in turn.calls]
    return told


def _role(turn: Turn) -> str:
    if isinstance(turn, ToolTurn):
        return "tool"
    return "assistant" if isinstance(turn, AssistantTurn) else "user"


def _retold(turn: Turn, text: str) -> Turn:
    return turn if text == turn.text else replace(turn, text=text)
