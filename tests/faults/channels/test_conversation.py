"""Ask, be answered where you asked, press Approve, and see it done: on each platform."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.contract.adapters.rig import Event, OnScreen, Place, Rig
from tests.faults.channels.rounds import rig_of, shown, usually_on
from tests.faults.program import living, until
from tests.faults.stage import Rows, Stage, stage

OFFERED = ["Approve", "Deny", "Edit…", "Why?", "This conversation", "Always…"]
"""To an owner, about a dangerous call."""
OPEN_TO_ALL = ("--set", 'access.default="allow"')


def effects(on: Stage, word: str) -> int:
    return sum(len(path.read_text().splitlines()) for path in (on.program.data / "workspaces").glob(f"*/{word}.log"))


def kinds(rig: Rig) -> list[Place]:
    """A room of each kind there is."""
    rooms = rig.rooms()
    return [place for place in (rooms.direct, rooms.shared, rooms.thread) if place]


@pytest.mark.timeout(120)  # seconds; about four where nothing else runs
@usually_on("telegram")
async def test_a_question_is_answered_where_it_was_asked_and_what_names_nobody_is_not(
    kind: str, tmp_path: Path
) -> None:
    """Scenario 5: a direct message needs no mention, a room of several does."""
    async with stage(tmp_path, kind, *OPEN_TO_ALL) as on, living(on.program):
        rig = rig_of(on)
        await on.until_connected()
        for place in kinds(rig):
            if not place.direct:
                await rig.say(place, f"among us in {place}", mention=False)
            await rig.say(place, f"hello from {place.address.room}")
        for place in kinds(rig):
            [answer] = await shown(rig, place, 1)
            assert f"hello from {place.address.room}" in answer.text
        await on.until_quiet()
        assert [len(await rig.visible(place)) for place in kinds(rig)] == [1] * len(kinds(rig))
        await on.program.leave()


@pytest.mark.timeout(120)
@usually_on("discord")
async def test_a_gated_call_is_asked_about_and_runs_once_when_the_right_person_approves(
    kind: str, tmp_path: Path
) -> None:
    """Scenarios 21 and 22, in a room of each kind."""
    async with stage(tmp_path, kind, *OPEN_TO_ALL) as on, living(on.program):
        rig = rig_of(on)
        await on.until_connected()
        for number, place in enumerate(kinds(rig), 1):
            word = f"word{number}"
            await rig.say(place, f"run: echo {word} >> {word}.log")
            [card] = await shown(rig, place, 1)
            assert [press.label for press in card.buttons] == OFFERED
            assert word in card.text
            if not place.direct:
                await a_stranger_presses(on, place, card)
                assert effects(on, word) == 0
            await rig.click(place, card, "Approve")
            card, answer = await shown(rig, place, 2)
            assert card.buttons == ()
            assert "Approved" in card.text
            assert re.search(r" UTC|<t:\d+:f>", card.text), "when, by the reader's clock where the platform has that"
            assert answer.text
            assert effects(on, word) == 1
            late = await rig.forge(place, card, card.first_buttons[0].payload)
            await told(rig, late)
            assert effects(on, word) == 1
        await on.until_quiet()
        rows = Rows(on.program.data / "signalbox.db")
        assert rows.select("SELECT DISTINCT state FROM approvals") == [("approved",)]
        assert rows.disagreements() == []
        await on.program.leave()


@pytest.mark.timeout(120)
@usually_on("slack")
async def test_who_may_decide_is_asked_in_private_and_all_cards_tell_how_it_ended(kind: str, tmp_path: Path) -> None:
    """Scenario 45: a user asks in a room where nobody who may decide ever spoke."""
    async with stage(tmp_path, kind, *OPEN_TO_ALL) as on, living(on.program):
        rig = rig_of(on)
        await on.until_connected()
        rooms = rig.rooms()
        direct, shared = rooms.direct, rooms.shared
        assert direct
        assert shared
        await rig.say(direct, "hello")
        await shown(rig, direct, 1)
        await rig.say(shared, "run: echo told >> told.log", user=rig.stranger, mention=True)
        [here] = await shown(rig, shared, 1)
        _, there = await shown(rig, direct, 2)
        assert (here.buttons, "I've asked" in here.text, "“run: echo told" in here.text) == ((), True, True)
        assert [press.label for press in there.buttons] == OFFERED
        assert "echo told" in there.text
        assert "“" not in there.text
        await rig.click(direct, there, "Approve")
        await ended(rig, shared, 0)
        await ended(rig, direct, 1)
        assert effects(on, "told") == 1
        await on.until_quiet()
        assert Rows(on.program.data / "signalbox.db").disagreements() == []
        await on.program.leave()


@pytest.mark.timeout(120)
@usually_on("telegram")
async def test_a_yes_for_the_conversation_lets_the_same_call_run_again_and_no_other(kind: str, tmp_path: Path) -> None:
    """Scenarios 25 and 46: a stranger's press grants nothing."""
    async with stage(tmp_path, kind, *OPEN_TO_ALL) as on, living(on.program):
        rig = rig_of(on)
        await on.until_connected()
        *_, place = kinds(rig)  # on Slack each message that stands in a channel begins a conversation of its own
        await rig.say(place, "run: echo again >> again.log")
        [card] = await shown(rig, place, 1)
        await told(rig, await rig.click(place, card, "This conversation", user=rig.stranger))
        assert effects(on, "again") == 0
        await rig.click(place, card, "This conversation")
        card, _ = await shown(rig, place, 2)
        assert "Approved for this conversation" in card.text
        assert card.buttons == ()
        await rig.say(place, "run: echo again >> again.log")
        await shown(rig, place, 3)
        assert effects(on, "again") == 2
        await rig.say(place, "run: echo again >> again.log; echo other >> other.log")
        *_, asked = await shown(rig, place, 4)
        assert [press.label for press in asked.buttons] == OFFERED
        assert (effects(on, "again"), effects(on, "other")) == (2, 0)
        await rig.click(place, asked, "Deny")
        await on.until_quiet()
        rows = Rows(on.program.data / "signalbox.db")
        assert rows.select("SELECT count(*) FROM audit WHERE kind = 'grant used'") == [(1,)]
        assert rows.disagreements() == []
        await on.program.leave()


async def ended(rig: Rig, place: Place, number: int) -> None:
    """Until a card tells who approved and how the call ended."""

    async def look() -> bool | None:
        card = (await rig.visible(place))[number]
        return ("Approved" in card.text and "done in" in card.text and not card.buttons) or None

    await until(look, f"the end on the card in {place}")


async def a_stranger_presses(on: Stage, place: Place, card: OnScreen) -> None:
    """Somebody who may speak here, but not approve what is dangerous."""
    rig = rig_of(on)
    event = await rig.click(place, card, "Approve", user=rig.stranger)
    await told(rig, event)


async def told(rig: Rig, event: Event) -> None:
    """Until whoever pressed in vain was told so in private."""

    async def look() -> bool | None:
        return bool(await rig.notices(event)) or None

    await until(look, "a private word")


@pytest.mark.timeout(120)
@usually_on("slack")
async def test_what_waits_for_a_person_is_called_up_and_decided_in_their_private_chat(
    kind: str, tmp_path: Path
) -> None:
    """A question of another room: pressed where it was listed it counts, and both cards tell how it ended."""
    async with stage(tmp_path, kind, *OPEN_TO_ALL) as on, living(on.program):
        rig = rig_of(on)
        await on.until_connected()
        rooms = rig.rooms()
        direct, shared = rooms.direct, rooms.shared
        assert direct
        assert shared
        await rig.say(shared, "run: echo here >> here.log", mention=True)
        await shown(rig, shared, 1)
        await rig.say(direct, "!approvals")
        listed = next(one for one in await shown(rig, direct, 2) if one.buttons)
        assert "echo here" in listed.text
        assert effects(on, "here") == 0
        await rig.click(direct, listed, "Approve")
        await ended(rig, shared, 0)
        await without_buttons(rig, direct)
        assert effects(on, "here") == 1
        await on.until_quiet()
        assert Rows(on.program.data / "signalbox.db").disagreements() == []
        await on.program.leave()


async def without_buttons(rig: Rig, place: Place) -> None:
    """Until no message there has buttons."""

    async def look() -> bool | None:
        return not any(one.buttons for one in await rig.visible(place)) or None

    await until(look, "cards without buttons")


@pytest.mark.timeout(120)
async def test_what_waits_is_listed_for_who_asks_and_never_in_the_group(tmp_path: Path) -> None:
    """Scenario 50, at Telegram, which has no message for one reader: the cards go to the private chat, if there is one."""
    async with stage(tmp_path, "telegram", *OPEN_TO_ALL) as on, living(on.program):
        rig = rig_of(on)
        await on.until_connected()
        direct, shared = rig.rooms().direct, rig.rooms().shared
        assert direct
        assert shared
        await rig.say(shared, "run: echo waits >> waits.log", mention=True)
        await shown(rig, shared, 1)
        await rig.say(shared, "/approvals", mention=True)
        _, told_there = await shown(rig, shared, 2)
        assert "1 question is waiting for you." in told_there.text
        assert ("echo waits" in told_there.text, told_there.buttons) == (False, ())
        await rig.say(direct, "hello")
        before = len(await shown(rig, direct, 1))
        await rig.say(shared, "/approvals", mention=True)
        *_, told_there = await shown(rig, shared, 3)
        assert "I've sent it to our private chat." in told_there.text
        *_, card = await shown(rig, direct, before + 1)
        assert "echo waits" in card.text
        await rig.click(direct, card, "Approve")

        async def done() -> bool | None:
            return effects(on, "waits") == 1 or None

        await until(done, "the call")
        await on.until_quiet()
        assert Rows(on.program.data / "signalbox.db").disagreements() == []
        await on.program.leave()
