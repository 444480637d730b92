"""Calls that wait for a person: kept sealed over restarts, and led on one step at a time.

A run asks before each model call which call comes next on its own account: the next question, or the call that goes on.
Both are ordinary steps of the run, so they park, survive a kill and are made once, as any other.
"""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any, Final, Protocol

import structlog

from runtime.contract import Call, Json, RunId, ToolTurn, Turn
from tools.mcp.asked.fields import (
    DECLINE,
    Field,
    Unfit,
    accepted,
    address_of,
    fields_of,
    is_refusal,
    question_of,
    value_of,
)
from tools.mcp.asked.needs import GoesOn, Needs

log = structlog.get_logger("mcp")

MOST_QUESTIONS: Final = 30  # of one call
MOST_ROUNDS: Final = 5  # times that a server may ask anew in one call
MOST_HELD: Final = 200  # calls of one server
ASKS: Final = "asks_you"
GO_ON: Final = "goes_on"
OWN: Final = (ASKS, GO_ON)
"""Names of our two tools of a server: a tool of its own by such a name is left out."""
ANSWERED_WITH: Final = re.compile(r' answered: ("(?:[^"\\]|\\.)*")')


@dataclass(frozen=True, slots=True)
class Waiting:
    """A call of `run` that waits. `answers` are whole ones by the server's keys, `content` those of the form being asked.

    `issued` is the last call that the run made for it, as `id`, short name and arguments.
    """

    run: str
    call: str
    tool: str
    form: str
    arguments: Mapping[str, Json]
    needs: Needs
    answers: Mapping[str, Json] = field(default_factory=dict)
    content: Mapping[str, Json] = field(default_factory=dict)
    unfit: str = ""
    asked: int = 0
    rounds: int = 1
    issued: tuple[str, str, str] = ("", "", "")

    @property
    def key(self) -> str:
        return f"{self.run}-{self.call}"

    def open(self) -> tuple[str, Mapping[str, Json], Field | None] | None:
        """The request, its parameters and the field that is to be asked next; None where all is answered."""
        for key, params in self.needs.questions.items():
            if key in self.answers:
                continue
            left = [] if address_of(params) else [one for one in fields_of(params) if one.name not in self.content]
            return key, params, left[0] if left else None
        return None

    def refused(self, action: str) -> Waiting:
        """All that is not answered is answered with `action`."""
        left = {key: {"action": action} for key in self.needs.questions if key not in self.answers}
        return replace(self, answers={**self.answers, **left}, content={}, unfit="")

    def answered(self, told: str) -> Waiting:
        """With what a person said, as the result of the question tells it."""
        found = ANSWERED_WITH.search(told)
        now = self.open()
        if found is None or now is None:
            return self.refused("cancel")
        said = str(json.loads(found[1]))
        if is_refusal(said) or said == DECLINE:
            return self.refused("decline")
        key, params, asked = now
        if asked is None:
            return self._whole(key, params)
        try:
            value = value_of(asked, said)
        except Unfit as error:
            return replace(self, unfit=str(error))
        filled = replace(self, content={**self.content, asked.name: value}, unfit="")
        left = filled.open()
        return filled if left and left[0] == key and left[2] else filled._whole(key, params)

    def _whole(self, key: str, params: Mapping[str, Json]) -> Waiting:
        content = {name: value for name, value in self.content.items() if value is not None}
        answer = accepted(content, is_form=not address_of(params))
        return replace(self, answers={**self.answers, key: answer}, content={}, unfit="")


class Keep(Protocol):
    """Texts of one server by their keys, over restarts. Blocks."""

    def read(self) -> Mapping[str, str]: ...

    def write(self, key: str, text: str) -> None: ...

    def remove(self, key: str) -> None: ...


class Held:
    """Waiting calls of one server, by their runs."""

    def __init__(self, server: str, keep: Keep) -> None:
        self._server = server
        self._keep = keep
        self._waiting: dict[str, Waiting] = {}

    async def load(self) -> None:
        """Take up calls of the last life. One that the server held open then is lost, which going on with it will tell."""
        for key, text in (await asyncio.to_thread(self._keep.read)).items():
            if waiting := _read(text):
                self._waiting[key] = waiting

    async def wait(self, waiting: Waiting) -> None:
        """Keep a call, before its run is told that it waits. Errors: Unfit where it cannot be asked about.

        Nobody tells us of runs that were stopped while they waited: where there are too many calls, the oldest is given up.
        """
        waiting.open()  # a form of too many values is refused at once
        if len(self._waiting) >= MOST_HELD and waiting.key not in self._waiting:
            oldest = next(iter(self._waiting))
            log.warning("a call that waited for an answer is given up: too many wait", server=self._server, call=oldest)
            await self.drop(oldest)
        for params in waiting.needs.questions.values():  # what can't be asked is refused at once
            question_of(self._server, params, next(iter(fields_of(params)), None))
        await self._put(waiting)

    def of(self, key: str) -> Waiting | None:
        return self._waiting.get(key)

    async def drop(self, key: str) -> None:
        if self._waiting.pop(key, None):
            await asyncio.to_thread(self._keep.remove, key)

    async def next_call(self, run: RunId, turns: Sequence[Turn]) -> Call | None:
        """The call that `run` makes next for one that waits; None where none does."""
        for waiting in [one for one in self._waiting.values() if one.run == run]:
            ident, name, arguments = waiting.issued
            told = next(_results(turns, ident), None) if ident else None
            if ident and told is None:
                return Call(ident, f"{self._server}_{name}", arguments)  # it was cut before the step was kept
            if name == GO_ON:
                await self.drop(waiting.key)
                continue
            return await self._issue(waiting.answered(told) if told is not None else waiting)
        return None

    async def _issue(self, waiting: Waiting) -> Call:
        if waiting.asked >= MOST_QUESTIONS:
            waiting = waiting.refused("cancel")
        number = waiting.asked + 1
        ident = f"{self._server}-{number}-{waiting.run[-12:]}-{waiting.call}"[:100]
        if asked := waiting.open():
            _, params, one = asked
            question = question_of(self._server, params, one, waiting.unfit)
            told: dict[str, Json] = {"question": question.text, "options": list(question.options), "number": number}
            name = ASKS
        else:
            told, name = {"call": waiting.key, "answers": dict(waiting.answers)}, GO_ON
        arguments = json.dumps(told, ensure_ascii=False)
        await self._put(replace(waiting, asked=number, issued=(ident, name, arguments)))
        return Call(ident, f"{self._server}_{name}", arguments)

    async def _put(self, waiting: Waiting) -> None:
        await asyncio.to_thread(self._keep.write, waiting.key, json.dumps(asdict(waiting)))
        self._waiting[waiting.key] = waiting


def _results(turns: Sequence[Turn], call: str) -> Iterator[str]:
    return (turn.text for turn in reversed(turns) if isinstance(turn, ToolTurn) and turn.call_id == call)


def _read(text: str) -> Waiting | None:
    try:
        raw: Any = json.loads(text)
        needs = Needs(**{**raw["needs"], "goes_on": GoesOn(raw["needs"]["goes_on"])})
        return Waiting(**{**raw, "needs": needs, "issued": tuple(raw["issued"])})
    except (ValueError, TypeError, KeyError):
        log.warning("a call that waited for an answer can't be read any more")
        return None


class Forgetful:
    """Implements Keep for one life."""

    def read(self) -> Mapping[str, str]:
        return {}

    def write(self, key: str, text: str) -> None:
        """Nothing lasts here."""

    def remove(self, key: str) -> None:
        """Nothing is here."""
