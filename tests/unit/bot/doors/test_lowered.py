"""Roles that are lowered while somebody follows an answer: what they may no longer read isn't told any more."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta
from itertools import count
from types import SimpleNamespace
from typing import Any, cast

import pytest

from bot.doors.callers import Caller
from bot.doors.conversing import Conversing
from bot.doors.live.growing import Growing, GrowingAnswers
from bot.doors.live.hearing import Hearing
from bot.doors.rooms import ProgramRooms
from bot.doors.run_stream import RunStreamDoor
from bot.doors.streams import Streams
from runtime.contract import Address, Identity, Person, PersonId, Role, RunId, SignalId, Speaking
from runtime.domain.programs.followed import Followed, FollowState
from runtime.domain.programs.token import ProgramToken
from runtime.domain.runs import RunState
from runtime.http.errors import Refusal
from tests.unit.bot.doors.stage import AT, DoorStage
from tests.unit.web.stage import IDENTITY

WITHIN = timedelta(seconds=10)


class Told:
    """Somebody who listens."""

    ends_at_questions = True

    def __init__(self, beat_each: timedelta = WITHIN, then: Callable[[], None] = lambda: None) -> None:
        self.beat_each = beat_each
        self.heard: list[Growing] = []
        self._then = then

    async def tell(self, growing: Growing) -> None:
        self.heard.append(growing)
        assert len(self.heard) < 3, "nothing ends it"
        self._then()

    async def beat(self) -> None:
        """Nothing was new."""


def oscar(role: Role) -> tuple[ProgramToken, Person]:
    who = Identity("web:main/oscar")
    return ProgramToken(name=who, role=role, speaks_as=who), Person(PersonId("oscar"), "Oscar", role)


async def lowered() -> tuple[ProgramToken, Person]:
    return oscar(Role.USER)


async def adas_answer(signal_id: SignalId) -> Followed:
    place = Address("web", IDENTITY, "adas01")
    told = {"id": signal_id, "platform": IDENTITY, "address": place, "agent": "main", "own": "", "body": "", "at": AT}
    return Followed(state=FollowState.DONE, text="Ada's answer", **cast(Any, told))


async def adas_run(_: str) -> tuple[object, list[object]]:
    place = Address("web", IDENTITY, "adas01")
    return SimpleNamespace(address=place, session="main|x", state=RunState.DONE), []


@pytest.mark.parametrize("way", ["waiting", "stream", "run"])
async def test_an_answer_is_told_no_longer_than_the_role_opens_its_room(way: str) -> None:
    stage = DoorStage()
    stage.spoke("Ada", "adas01")
    context = stage.context()
    store = cast(Any, context.store)
    store.programs.followed, store.operations = adas_answer, SimpleNamespace(run=adas_run)
    rooms = ProgramRooms(context)
    conversing, caller = Conversing(context, rooms), Caller(*oscar(Role.OPERATOR), lowered, at_page=True)
    assert (await conversing.look(caller, "s1")).text == "Ada's answer"
    match way:
        case "waiting":
            with pytest.raises(Refusal, match="no such message"):
                await conversing.answered(caller, "s1", WITHIN)
        case "stream":
            listener = Told()
            await GrowingAnswers(context, conversing, Hearing()).follow(caller, "s1", listener, WITHIN)
            assert listener.heard == []
        case _:
            with pytest.raises(Refusal, match="no such run"):
                await anext(RunStreamDoor(context, rooms, Streams())._batches(caller, "r1", 0))


async def test_a_text_that_is_said_for_long_is_told_no_longer_than_its_room_may_be_read() -> None:
    stage = DoorStage()
    stage.spoke("Ada", "adas01")
    context, hearing, words = stage.context(), Hearing(), count(1)
    store = cast(Any, context.store)
    known = [oscar(Role.USER), oscar(Role.OPERATOR)]

    async def at_work(signal_id: SignalId) -> Followed:
        return replace(await adas_answer(signal_id), state=FollowState.WORKING, run=RunId("r1"))

    async def nothing_recorded(run: RunId) -> tuple[()]:
        return ()

    async def still() -> tuple[ProgramToken, Person]:
        return known.pop()

    def say_more() -> None:
        place = SimpleNamespace(run_id=RunId("r1"), address=Address("web", IDENTITY, "adas01"))
        hearing.heard(cast(Any, place), Speaking(f"word {next(words)}", 1))

    store.programs.followed, store.programs.said_by = at_work, nothing_recorded
    say_more()
    conversing = Conversing(context, ProgramRooms(context))
    listener = Told(beat_each=timedelta(microseconds=1), then=say_more)
    caller = Caller(*oscar(Role.OPERATOR), still, at_page=True)
    await GrowingAnswers(context, conversing, hearing).follow(caller, "s1", listener, WITHIN)
    assert [one.live for one in listener.heard] == ["word 1"]
