"""What people do reaches the sink: each thing once, whole, and acknowledged only after it was taken in."""

from __future__ import annotations

import asyncio
from datetime import timedelta
from functools import partial
from pathlib import Path
from typing import Final

import pytest

from runtime.contract import (
    Addressing,
    Amended,
    ApprovalId,
    Button,
    ChannelAdapter,
    Choice,
    Clicked,
    Commanded,
    Said,
    Stopped,
)
from runtime.domain.approvals import OPTIONS
from runtime.domain.ids import new_id
from tests.contract.adapters.conftest import Opened
from tests.contract.adapters.rig import Event, OnScreen, Skill
from tests.contract.adapters.stage import Stage, until

A_WHILE: Final = 0.25
"""Seconds in which something would have happened that must not."""


LABELS: Final = [
    "Red",
    "Вишнёвый",
    "like the old one, only a little darker, and with a rounder …",
    "👍🏽 yes",
]


def buttons() -> tuple[Button, Button]:
    approval = ApprovalId(new_id()[:22])
    return Button(approval, Choice.APPROVE, "Approve"), Button(approval, Choice.DENY, "Deny")


async def card(stage: Stage, adapter: ChannelAdapter, *pressed: Button) -> OnScreen:
    """A card on screen."""
    await stage.say(adapter, "**May I run `shell`?**", *pressed)
    return (await stage.visible())[-1]


# --------------------------------------------------------------------------------------------------- what was said


async def test_what_a_person_says_is_a_signal_that_knows_its_room(opened: Opened) -> None:
    async with opened() as stage, stage.life() as adapter:
        await stage.rig.say(stage.place, "Hello, *you* & <me>! 漢字 👋🏽")
        await until(lambda: len(stage.sink.taken) == 1, "signal")
        [signal] = stage.sink.taken
        assert signal.body == Said("Hello, *you* & <me>! 漢字 👋🏽")
        assert (signal.actor, signal.reach, signal.by_bot) == (stage.place.user, Addressing.DIRECT, False)
        assert signal.actor_name
        assert bool(signal.room_name) is (Skill.SHARED not in stage.rig.lacks), "what people call the room comes along"
        assert (signal.address.channel, signal.address.account) == (adapter.channel, adapter.identity)
        assert signal.address.room == stage.place.address.room
        assert abs((stage.clock() - signal.received_at).total_seconds()) < 60


@pytest.mark.parametrize("hours", [25, -25])
async def test_with_our_clock_set_wrong_what_was_said_now_was_said_now(opened: Opened, hours: int) -> None:
    """Else somebody is told that we were away for a day."""
    async with opened() as stage:
        stage.clock.ahead = timedelta(hours=hours)
        async with stage.life():
            await stage.rig.say(stage.place, "hello")
            await until(lambda: len(stage.sink.taken) == 1, "signal")
            [signal] = stage.sink.taken
            assert abs((stage.clock() - signal.received_at).total_seconds()) < 60


async def test_an_event_that_comes_twice_is_one_signal(opened: Opened) -> None:
    async with opened(Skill.AGAIN) as stage, stage.life():
        event = await stage.rig.say(stage.place, "once")
        await stage.taken("once")
        await stage.rig.again(event)
        await stage.rig.say(stage.place, "after it")
        await stage.taken("after it")
        assert stage.sink.texts == ["once", "after it"]


async def test_an_event_that_comes_again_in_another_life_is_one_signal(opened: Opened) -> None:
    async with opened(Skill.AGAIN) as stage:
        async with stage.life():
            event = await stage.rig.say(stage.place, "once")
            await stage.taken("once")
        async with stage.life():
            await stage.rig.again(event)
            await stage.rig.say(stage.place, "after it")
            await stage.taken("after it")
        assert stage.sink.texts == ["once", "after it"]


async def test_the_same_words_said_twice_are_two_signals(opened: Opened) -> None:
    async with opened() as stage, stage.life():
        for _ in range(2):
            await stage.rig.say(stage.place, "again")
        await until(lambda: len(stage.sink.texts) == 2, "second signal")
        assert stage.sink.texts == ["again"] * 2


async def test_what_one_person_says_comes_in_order(opened: Opened) -> None:
    async with opened() as stage, stage.life():
        said = [f"line {number}" for number in range(12)]
        for text in said:
            await stage.rig.say(stage.place, text)
        await stage.taken(*said)
        assert stage.sink.texts == said


async def test_our_own_messages_are_nobodys_words(opened: Opened) -> None:
    async with opened(Skill.OWN) as stage, stage.life():
        await stage.rig.echo(stage.place, "this was I")
        await stage.rig.say(stage.place, "and this was not")
        await stage.taken("and this was not")
        assert [signal.body for signal in stage.sink.calls] == [Said("and this was not")]


async def test_what_another_program_says_is_known_as_such(opened: Opened) -> None:
    async with opened(Skill.BOTS, Skill.SHARED) as stage, stage.life():
        shared = stage.rig.rooms().shared
        assert shared
        await stage.rig.say(shared, "beep", bot=True)
        await stage.rig.say(shared, "and I am a person")
        await stage.taken("and I am a person")
        told = [signal.by_bot for signal in stage.sink.taken]
        assert told in ([False], [True, False])  # a platform may not tell bots of each other at all


async def test_a_mention_in_a_room_of_several_is_taken_off_the_words(opened: Opened) -> None:
    async with opened(Skill.SHARED) as stage, stage.life():
        shared = stage.rig.rooms().shared
        assert shared
        await stage.rig.say(shared, "what time is it?", mention=True)
        await stage.taken("what time is it?")
        signal = stage.sink.said("what time is it?")
        assert signal
        assert signal.reach is Addressing.MENTION
        assert signal.address.room == shared.address.room


async def test_what_is_said_to_others_is_overheard(opened: Opened) -> None:
    async with opened(Skill.SHARED) as stage, stage.life():
        shared = stage.rig.rooms().shared
        assert shared
        await stage.rig.say(shared, "lunch?", mention=False)
        await stage.rig.say(shared, "and you?", mention=True)
        await stage.taken("and you?")
        overheard = stage.sink.said("lunch?")
        assert overheard is None or overheard.reach is Addressing.OVERHEARD


async def test_a_thread_is_part_of_the_address_and_may_be_joined(opened: Opened) -> None:
    async with opened(Skill.THREADS) as stage, stage.life():
        thread = stage.rig.rooms().thread
        assert thread
        await stage.rig.say(thread, "in here", mention=True)
        await stage.taken("in here")
        signal = stage.sink.said("in here")
        assert signal
        assert signal.address == thread.address
        assert signal.joinable


async def test_changed_words_are_no_new_request(opened: Opened) -> None:
    async with opened(Skill.EDITED) as stage, stage.life():
        event = await stage.rig.say(stage.place, "helo")
        await stage.taken("helo")
        await stage.rig.edit(event, "hello")
        await until(lambda: bool(stage.sink.amended), "changed words")
        first, second = stage.sink.taken
        assert second.body == Amended("hello")
        assert second.message_id == first.message_id != ""
        assert second.address == first.address


async def test_a_file_is_named_and_its_bytes_can_be_had(opened: Opened, tmp_path: Path) -> None:
    async with opened(Skill.FILES) as stage, stage.life() as adapter:
        await stage.rig.say(stage.place, "look at this", files={"notes.txt": b"one\ntwo\n"})
        await until(lambda: len(stage.sink.taken) == 1, "signal")
        [signal] = stage.sink.taken
        assert isinstance(signal.body, Said)
        assert signal.body.text == "look at this"
        [file] = signal.body.files
        assert (file.name, file.size) == ("notes.txt", 8)
        if not file.remote:  # it is in the workspace already
            assert (stage.given.workspaces.folder(signal.address) / file.path).read_bytes() == b"one\ntwo\n"
            return
        fetch = adapter.features().fetch
        assert fetch
        await fetch(file, tmp_path / "here", most=100)
        assert (tmp_path / "here").read_bytes() == b"one\ntwo\n"


@pytest.mark.parametrize("name", ["help", "status", "new"])
async def test_a_command_is_a_command_or_its_text(opened: Opened, name: str) -> None:
    """Where the platform has none of its own, the words are looked at when they are taken in, on all channels alike."""
    async with opened() as stage, stage.life():
        rooms = stage.rig.rooms()
        places = [place for place in (rooms.direct, rooms.shared, rooms.thread) if place]
        for number, place in enumerate(places, 1):
            await stage.rig.command(place, name)
            await until(partial(has_taken, stage, number), f"/{name} in {place}")
        for signal in stage.sink.taken:
            assert signal.body in (Commanded(name), Said(f"/{name}"), Said(f"!{name}"))
            assert signal.reach in (Addressing.DIRECT, Addressing.MENTION)


def has_taken(stage: Stage, count: int) -> bool:
    return len(stage.sink.taken) == count


async def test_stop_is_understood_whatever_its_form(opened: Opened) -> None:
    async with opened() as stage, stage.life():
        await stage.rig.command(stage.place, "stop")
        await until(lambda: len(stage.sink.taken) == 1, "stop")
        assert stage.sink.taken[0].body in (Stopped(), Commanded("stop"), Said("/stop"), Said("!stop"))


# ------------------------------------------------------------------------------------------------------- buttons


@pytest.mark.parametrize(("label", "choice"), [("Approve", Choice.APPROVE), ("Deny", Choice.DENY)])
async def test_a_button_press_names_the_approval_and_the_choice(opened: Opened, label: str, choice: Choice) -> None:
    async with opened() as stage, stage.life() as adapter:
        pressed = buttons()
        shown = await card(stage, adapter, *pressed)
        assert [press.label for press in shown.buttons] == ["Approve", "Deny"]
        await stage.rig.click(stage.place, shown, label)
        await until(lambda: len(stage.sink.taken) == 1, "click")
        [signal] = stage.sink.taken
        assert signal.body == Clicked(pressed[0].approval_id, choice)
        assert (signal.actor, signal.address.room) == (stage.place.user, stage.place.address.room)


async def test_options_of_a_question_to_a_person_are_buttons(opened: Opened) -> None:
    """As long as the agent's may be: their labels are cut before they come here."""
    async with opened() as stage, stage.life() as adapter:
        approval = ApprovalId(new_id()[:22])
        options = [Button(approval, choice, label) for choice, label in zip(OPTIONS, LABELS, strict=True)]
        shown = await card(stage, adapter, *options)
        assert [press.label for press in shown.buttons] == LABELS
        for label in reversed(LABELS):
            await stage.rig.click(stage.place, shown, label)
        await until(lambda: len(stage.sink.taken) == 4, "click")
        assert stage.sink.clicks == [Clicked(approval, choice) for choice in reversed(OPTIONS)]


async def test_a_press_that_comes_twice_is_one_signal(opened: Opened) -> None:
    async with opened(Skill.AGAIN) as stage, stage.life() as adapter:
        shown = await card(stage, adapter, *buttons())
        event = await stage.rig.click(stage.place, shown, "Approve")
        await until(lambda: len(stage.sink.clicks) == 1, "click")
        await stage.rig.again(event)
        await stage.rig.say(stage.place, "after it")
        await stage.taken("after it")
        assert len(stage.sink.clicks) == 1


async def test_a_press_in_another_life_than_the_cards_counts(opened: Opened) -> None:
    async with opened() as stage:
        pressed = buttons()
        async with stage.life() as adapter:
            shown = await card(stage, adapter, *pressed)
        async with stage.life():
            await stage.rig.click(stage.place, shown, "Approve")
            await until(lambda: bool(stage.sink.clicks), "click")
        assert stage.sink.clicks == [Clicked(pressed[0].approval_id, Choice.APPROVE)]


async def test_a_forged_press_is_told_as_it_came_and_breaks_nothing(opened: Opened) -> None:
    async with opened() as stage, stage.life() as adapter:
        pressed = buttons()
        shown = await card(stage, adapter, *pressed)
        own, forged = pressed[0].approval_id, "x" * len(pressed[0].approval_id)
        await stage.rig.forge(stage.place, shown, shown.button("Approve").payload.replace(own, forged))
        await until(lambda: bool(stage.sink.clicks), "click")
        await stage.rig.say(stage.place, "still here?")
        await stage.taken("still here?")
        assert stage.sink.clicks == [Clicked(ApprovalId(forged), Choice.APPROVE)]
        assert stage.sink.texts == ["still here?"]


async def test_a_press_is_answered_with_the_private_word(opened: Opened) -> None:
    async with opened() as stage, stage.life() as adapter:
        shown = await card(stage, adapter, *buttons())
        stage.sink.notice = "That question is already answered."
        event = await stage.rig.click(stage.place, shown, "Approve")

        async def told() -> bool:
            return bool(await stage.rig.notices(event))

        await until(told, "private word")
        assert list(await stage.rig.notices(event)) == ["That question is already answered."]


# ------------------------------------------------------------------------------------------------ acknowledging


async def acknowledged(stage: Stage, event: Event) -> None:
    async def told() -> bool:
        return await stage.rig.acknowledged(event)

    await until(told, "acknowledgement")


async def test_a_message_is_acknowledged_only_after_it_was_taken_in(opened: Opened) -> None:
    async with opened(Skill.ACKNOWLEDGED) as stage, stage.life():
        stage.sink.open.clear()
        event = await stage.rig.say(stage.place, "hello")
        await until(lambda: bool(stage.sink.calls), "signal")
        await asyncio.sleep(A_WHILE)
        assert not await stage.rig.acknowledged(event)
        stage.sink.open.set()
        await acknowledged(stage, event)
        assert stage.sink.texts == ["hello"]


async def test_a_press_is_acknowledged_only_after_it_was_taken_in(opened: Opened) -> None:
    async with opened() as stage, stage.life() as adapter:
        shown = await card(stage, adapter, *buttons())
        stage.sink.open.clear()
        event = await stage.rig.click(stage.place, shown, "Approve")
        await until(lambda: bool(stage.sink.calls), "signal")
        await asyncio.sleep(A_WHILE)
        assert not await stage.rig.acknowledged(event)
        stage.sink.open.set()
        await acknowledged(stage, event)


async def test_what_the_store_could_not_take_in_comes_again(opened: Opened) -> None:
    async with opened() as stage, stage.life():
        stage.sink.away = 2
        await stage.rig.say(stage.place, "first")
        await stage.taken("first")
        await stage.rig.say(stage.place, "second")
        await stage.taken("second")
        assert stage.sink.texts == ["first", "second"]
        assert [s.body for s in stage.sink.calls if s.body == Said("first")] == [Said("first")] * 3


async def test_a_message_that_the_store_could_not_take_in_is_not_acknowledged(opened: Opened) -> None:
    async with opened(Skill.ACKNOWLEDGED) as stage, stage.life():
        stage.sink.away = 10_000
        event = await stage.rig.say(stage.place, "first")
        await until(lambda: bool(stage.sink.calls), "signal")
        await asyncio.sleep(A_WHILE)
        assert not await stage.rig.acknowledged(event)
        stage.sink.away = 0
        await stage.taken("first")
        await acknowledged(stage, event)


async def test_a_request_without_proof_is_refused_and_nothing_comes_of_it(opened: Opened) -> None:
    async with opened(Skill.SIGNED) as stage, stage.life():
        assert await stage.rig.unsigned(stage.place, "let me in") == 401
        await stage.rig.say(stage.place, "I am who I am")
        await stage.taken("I am who I am")
        assert [signal.body for signal in stage.sink.calls] == [Said("I am who I am")]


# ------------------------------------------------------------------------------------------------------ while away


async def test_what_was_said_while_we_were_away_comes_after_the_start_in_order(opened: Opened) -> None:
    async with opened(Skill.GAP) as stage:
        async with stage.life():
            await stage.rig.say(stage.place, "before")
            await stage.taken("before")
        for number in range(5):
            await stage.rig.say(stage.place, f"away {number}")
        async with stage.life():
            await stage.taken(*(f"away {number}" for number in range(5)))
            await stage.rig.say(stage.place, "after")
            await stage.taken("after")
        assert stage.sink.texts == ["before", *(f"away {number}" for number in range(5)), "after"]
