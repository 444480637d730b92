"""Attacks on whom a question reaches: no private chat is flooded, no question is lost, and no call is shown to somebody who may not decide."""

from __future__ import annotations

import json
from datetime import timedelta
from typing import Any, Final

import pytest

from runtime.chat import inbox
from runtime.chat.inbox import NONE_DEFERRED
from runtime.contract import Call, Choice, Clicked, Effect, Identity, Outcome, Role
from runtime.policy.terms import Terms
from tests.contract.runtime.approvers import NAMED, alone, tell
from tests.contract.runtime.stage import ADA, OTTO, SHELL, UMA, Process, Stage, fake_tool
from tests.contract.runtime.strict import Planned

HELD: Final = 3
"""Cards that a private chat holds here: with as many as it really holds, the same takes longer."""
MANY: Final = tuple(Call(f"c-{n}", "write", json.dumps({"path": f"secret-{n}"})) for n in range(7))


@pytest.fixture(autouse=True)
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(inbox, "CHAT_CARDS_MAX", HELD)


def cards(screen: list[str]) -> list[str]:
    return [one for one in screen if "[Approve]" in one]


async def full(stage: Stage, *, of: Identity = ADA, rooms: int = HELD, **more: Any) -> Process:
    """Uma asked in as many rooms as a private chat holds cards."""
    tools = [fake_tool("write", Effect.WRITE), fake_tool("shell", Effect.DANGER)]
    process = await stage.process(Planned(end="hello"), tools, **{"places": NAMED} | more)
    await alone(process, of)
    for number in range(rooms):
        process.ask(Planned(SHELL, end="Linux"))
        await tell(process, "look", who=UMA, room=f"room-{number}")
    return process


async def ask(process: Process, *calls: Call, room: str = "beyond") -> None:
    process.ask(Planned(calls, end="done"))
    await tell(process, "look", who=UMA, room=room)


async def looked(process: Process) -> None:
    await process.reminders.look()
    await process.answer_all()


async def test_an_escalation_floods_no_private_chat(any_stage: Stage) -> None:
    terms = Terms(to=("room",), escalate=timedelta(hours=8), escalate_to=("dm",), remind=(timedelta(hours=11),))
    process = await full(any_stage, rooms=HELD + 3, terms=terms)
    assert cards(await any_stage.screen("ada")) == []
    any_stage.clock.advance(timedelta(hours=9))
    for _ in range(3):
        await looked(process)
    screen = await any_stage.screen("ada")
    assert len(cards(screen)) == HELD
    assert sum("**3 more questions are waiting for you.**" in one for one in screen) == 1
    for one in (await any_stage.pending())[:3]:
        assert (await process.click(one.id, Choice.DENY, who=ADA, room=one.address.room)).outcome is Outcome.DECIDED
    await looked(process)
    screen = await any_stage.screen("ada")
    assert (len(cards(screen)), screen.count(NONE_DEFERRED)) == (HELD, 1)


@pytest.mark.parametrize("which", [0, 1, 2])
@pytest.mark.parametrize("choice", [Choice.EDIT, Choice.WHY])
async def test_a_call_that_leaves_a_list_behind_the_line_takes_no_question_from_the_others(
    stage: Stage, which: int, choice: Choice
) -> None:
    """Ada's chat was full when it was asked; somebody else singles a call out in the room of the request."""
    process = await full(stage)
    await ask(process, *MANY)
    listed = [one for one in await stage.pending() if one.lead]
    assert len(listed) == 3
    shown, values = listed[which].as_shown, {"arguments": '{"path": "other"}', "question": "Why?"}
    press = stage.signal(Clicked(shown, choice, values=values), OTTO, "beyond")
    await process.reception.sink(press)
    await process.answerer.look()
    for _ in range(2 * len(MANY)):  # Ada decides what has a card in her chat, until nothing is left
        for one in await stage.pending():
            await process.click(one.as_shown, Choice.DENY, who=ADA, room="ada")
        await looked(process)
    assert await stage.pending() == []


async def test_what_waits_behind_the_line_is_shown_to_nobody_who_may_not_decide_by_then(any_stage: Stage) -> None:
    assert await any_stage.store.people.add_person("Eve", Role.OWNER, [Identity("page:eve")], actor="test")
    process = await full(any_stage, of=OTTO)
    await ask(process, Call("c", "shell", json.dumps({"command": "the secret"})))
    await any_stage.store.people.set_role("Otto", Role.USER, actor="test")
    for one in (await any_stage.pending())[:3]:
        assert (await process.click(one.id, Choice.DENY, who=ADA, room=one.address.room)).outcome is Outcome.DECIDED
    await looked(process)
    assert not any("the secret" in one for one in await any_stage.screen("otto"))
