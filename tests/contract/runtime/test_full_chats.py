"""A private chat holds ten open cards; further questions stand behind a line, and get cards as the others are decided."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import Final

import pytest

from runtime.chat.cards.listing import OPEN_CARDS_MAX
from runtime.chat.inbox import ASKED_AGAIN, CHAT_CARDS_MAX, NONE_DEFERRED
from runtime.contract import Addressing, Call, Choice, Commanded, Effect, Identity, Outcome, Role, Said
from runtime.domain.approvals import Approval
from runtime.domain.ids import new_id
from runtime.store.operations.after_restore import Origin, after_restore
from tests.contract.runtime.approvers import NAMED, alone, shell, tell
from tests.contract.runtime.stage import ADA, SHELL, UMA, Process, Stage, fake_tool
from tests.contract.runtime.strict import Planned
from tests.sample import sample

BEYOND: Final = CHAT_CARDS_MAX + 3
LINE: Final = (
    "more questions are waiting for you.** The newest, from Uma: `shell`.\n\nThey get cards here as you decide"
)
MARKED: Final = replace(NAMED, mark=lambda room: "/signalbox " if room.room == "ada" else "/")
SEND: Final = "Send `/signalbox approvals` to see them now."


async def asked(stage: Stage, rooms: int) -> Process:
    """Uma asks in that many rooms for a dangerous call; Ada, who may decide, has a chat with the agent."""
    process = await stage.process(Planned(end="hello"), [shell()], places=MARKED)
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
    assert line.endswith(SEND)
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
    [line] = [one for one in screen if "**2 more questions are waiting for you.**" in one]
    assert line.endswith(SEND)


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


async def line(process: Process) -> list[str]:
    """Lines about further questions in Ada's chat, once somebody looked."""
    for _ in range(2):
        await process.reminders.look()
        await process.answer_all()
    return [one.partition(".")[0] for one in await process.stage.screen("ada") if "more question" in one.lower()]


async def test_the_line_follows_the_role_of_its_reader(any_stage: Stage) -> None:
    process = await asked(any_stage, BEYOND)
    assert await line(process) == ["**3 more questions are waiting for you"]
    await any_stage.store.people.add_person("Eve", Role.OWNER, [Identity("page:eve")], actor="test")
    for role, told in (
        (Role.USER, NONE_DEFERRED.rstrip(".")),
        (Role.OPERATOR, "**3 more questions are waiting for you"),
    ):
        assert await any_stage.store.people.set_role("Ada", role, actor="test")
        assert await line(process) == [told]


async def test_the_line_follows_what_is_decided_elsewhere(any_stage: Stage) -> None:
    process = await asked(any_stage, BEYOND)
    last = (await any_stage.pending())[-1]
    await any_stage.store.people.add_person("Eve", Role.OWNER, [Identity("page:eve")], actor="test")
    await process.click(last.id, who=Identity("page:eve"), room=last.address.room)
    assert await line(process) == ["**2 more questions are waiting for you"]


# ------------------------------------------------------------------------------------------- nothing is an eleventh card


async def filled(stage: Stage) -> tuple[Process, list[Approval]]:
    """Ten cards in Ada's chat, of which the last lists two calls; the questions about those."""
    write = Call("c-0", "write", '{"text": "0"}')
    process = await stage.process(Planned(end="hello"), [shell(), fake_tool("write", Effect.WRITE)], places=MARKED)
    await alone(process, ADA)
    for number in range(CHAT_CARDS_MAX - OPEN_CARDS_MAX):
        await ask(process, number)
    calls = [replace(write, id=f"c-{n}", arguments=f'{{"text": "{n}"}}') for n in range(OPEN_CARDS_MAX + 1)]
    process.ask(Planned(tuple(calls)))
    await tell(process, "do it all", who=UMA, room="busy")
    assert len(cards(await stage.screen("ada"))) == CHAT_CARDS_MAX
    return process, [one for one in await stage.pending() if one.lead]


@pytest.mark.parametrize("number", sample([0, 1], 1))
async def test_a_call_of_a_list_that_is_asked_about_leaves_ten_cards(number: int, any_stage: Stage) -> None:
    process, listed = await filled(any_stage)
    told = await process.why(listed[number].id, "what for?", room="ada")
    await process.answer_all()
    screen = await any_stage.screen("ada")
    assert len(cards(screen)) == CHAT_CARDS_MAX
    assert any("**1 more question is waiting for you.**" in one for one in screen)
    is_behind = listed[number].id != listed[number].lead
    assert ("This chat is full" in told) is is_behind
    await process.click((await any_stage.pending())[0].id, who=ADA, room="ada")
    await process.reminders.look()
    await process.answer_all()
    screen = await any_stage.screen("ada")
    assert len(cards(screen)) == CHAT_CARDS_MAX
    assert NONE_DEFERRED in screen
    assert sum("Ada asked a question" in one for one in screen) == 1


@pytest.mark.parametrize("number", sample([1, 0], 1))
async def test_a_call_of_a_list_that_is_changed_leaves_ten_cards_and_shows_what_ran(
    number: int, any_stage: Stage
) -> None:
    process, listed = await filled(any_stage)
    assert (await process.edit(listed[number].id, room="ada", argument="other")).outcome is Outcome.DECIDED
    await process.answer_all()
    screen = await any_stage.screen("ada")
    assert len(cards(screen)) == CHAT_CARDS_MAX
    assert not any("waiting for you" in one for one in screen)
    assert sum("**Approved** by Ada" in one and "other" in one for one in screen) == 1


async def test_of_questions_asked_in_one_instant_none_is_an_eleventh_card(any_stage: Stage) -> None:
    process = await asked(any_stage, CHAT_CARDS_MAX - 1)
    for number in range(20, 28):
        signal = replace(process.stage.signal(Said("look"), UMA, f"room-{number}"), reach=Addressing.MENTION)
        await process.reception.sink(signal)
    process.ask(Planned(SHELL, end="Linux"))
    await process.answer_all()
    screen = await any_stage.screen("ada")
    assert (len(await any_stage.pending()), len(cards(screen))) == (CHAT_CARDS_MAX + 7, CHAT_CARDS_MAX)
    assert sum("waiting for you" in one for one in screen) == 1


async def test_after_a_restore_ten_cards_stand_there_and_one_line(any_stage: Stage) -> None:
    await asked(any_stage, BEYOND)
    origin = Origin("b1", any_stage.clock(), "1.0")
    await any_stage.store.driver.write(lambda: after_restore(origin, "command line of kim", any_stage.clock(), new_id))
    process = await any_stage.process(Planned(end="Linux"), [shell()], places=MARKED)
    await process.answer_all()
    screen = await any_stage.screen("ada")
    assert len(cards(screen)) == CHAT_CARDS_MAX
    assert [one.startswith(f"**3 {LINE}") for one in screen if "waiting for you" in one] == [True]
    assert screen.count(ASKED_AGAIN) == 1
    for _ in range(2):
        for question in await any_stage.pending():
            await process.click(question.id, Choice.DENY, who=ADA, room="ada")
        await process.reminders.look()
    await process.answer_all()
    screen = await any_stage.screen("ada")
    assert (await any_stage.pending(), cards(screen), screen.count(NONE_DEFERRED)) == ([], [], 1)
