"""A private chat holds ten open cards; further questions stand behind a line, and get cards as the others are decided."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import Final

from runtime.chat.inbox import CHAT_CARDS_MAX, NONE_DEFERRED
from runtime.contract import Addressing, Choice, Commanded, Identity, Outcome, Role, Said
from tests.contract.runtime.stage import ADA, SHELL, UMA, Process, Stage
from tests.contract.runtime.strict import Planned
from tests.contract.runtime.test_approvers import NAMED, alone, shell, tell

BEYOND: Final = CHAT_CARDS_MAX + 3
LINE: Final = (
    "more questions are waiting for you.** The newest, from Uma: `shell`.\n\nThey get cards here as you decide"
)


async def asked(stage: Stage, rooms: int) -> Process:
    """Uma asks in that many rooms for a dangerous call; Ada, who may decide, has a chat with the agent."""
    process = await stage.process(Planned(end="hello"), [shell()], places=NAMED)
    await alone(process, ADA)
    for number in range(rooms):
        await ask(process, number)
    return process


async def ask(process: Process, number: int) -> None:
    process.ask(Planned(SHELL, end="Linux"))
    await tell(process, "look", who=UMA, room=f"room-{number}")


def cards(screen: list[str]) -> list[str]:
    return [one for one in screen if "[Approve]" in one]


async def test_ten_cards_stand_in_a_private_chat_and_one_line_for_all_others(any_stage: Stage) -> None:
    await asked(any_stage, BEYOND)
    screen = await any_stage.screen("ada")
    assert len(cards(screen)) == CHAT_CARDS_MAX
    [line] = [one for one in screen if "waiting for you" in one]
    assert line.startswith(f"**3 {LINE}")
    assert len(await any_stage.pending()) == BEYOND
    assert "I've asked Ada." in (await any_stage.screen(f"room-{BEYOND - 1}"))[-1]


async def test_the_others_get_their_cards_as_those_are_decided_and_nothing_is_lost(any_stage: Stage) -> None:
    process = await asked(any_stage, BEYOND)
    decided = 0
    while pending := await any_stage.pending():
        for one in pending[:CHAT_CARDS_MAX]:
            assert (await process.click(one.id, who=ADA, room="ada")).outcome is Outcome.DECIDED
            decided += 1
        await process.answer_all()
        await asyncio.gather(*(process.reminders.look() for _ in range(3)))  # as three nodes would
        await process.answer_all()
    assert decided == BEYOND
    screen = await any_stage.screen("ada")
    assert cards(screen) == []
    assert screen.count(NONE_DEFERRED) == 1
    assert sum("**Approved** by Ada" in one for one in screen) == BEYOND


async def test_a_line_counts_what_is_left_and_a_refill_repeats_nothing(stage: Stage) -> None:
    process = await asked(stage, BEYOND)
    await process.click((await stage.pending())[0].id, who=ADA, room="ada")
    for _ in range(3):
        await process.reminders.look()
        await process.answer_all()
    screen = await stage.screen("ada")
    assert len(cards(screen)) == CHAT_CARDS_MAX
    assert sum("**2 more questions are waiting for you.**" in one for one in screen) == 1


async def test_what_stands_behind_the_line_is_decided_elsewhere_and_the_line_ends(stage: Stage) -> None:
    process = await asked(stage, CHAT_CARDS_MAX + 1)
    last = (await stage.pending())[-1]
    assert (await process.click(last.id, who=ADA, room="ada")).outcome is Outcome.UNCHANGED  # it does not stand there
    await stage.store.people.add_person("Eve", Role.OWNER, [Identity("page:eve")], actor="test")
    assert (await process.click(last.id, who=Identity("page:eve"), room=last.address.room)).outcome is Outcome.DECIDED
    await process.reminders.look()
    await process.answer_all()
    assert NONE_DEFERRED in await stage.screen("ada")
    await ask(process, 77)
    assert sum("**1 more question is waiting for you.**" in one for one in await stage.screen("ada")) == 1


async def test_approvals_shows_first_what_has_no_card(any_stage: Stage) -> None:
    process = await asked(any_stage, BEYOND)
    behind = [one.id for one in (await any_stage.pending())[CHAT_CARDS_MAX:]]
    signal = replace(process.stage.signal(Commanded("approvals"), ADA, "ada"), reach=Addressing.DIRECT)
    await process.reception.sink(signal)
    await process.answer_all()
    for one in behind:
        assert (await process.click(one, Choice.DENY, who=ADA, room="ada")).outcome is Outcome.DECIDED
    assert any("13 questions are waiting for you. Here are 5 of them." in one for one in await any_stage.screen("ada"))


async def test_a_shared_room_that_a_rule_names_holds_every_card(stage: Stage) -> None:
    process = await asked(stage, 0)
    for number in range(CHAT_CARDS_MAX + 2):
        process.ask(Planned(SHELL, end="Linux"))
        await tell(process, "look", who=UMA, room="busy")
        await process.reception.sink(process.stage.signal(Said(f"and {number}"), UMA, "busy"))
    assert not any("waiting for you" in one for one in await stage.screen("busy"))
