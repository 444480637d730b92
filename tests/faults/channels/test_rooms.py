"""Who is heard where: threads, other programs, changed words, people nobody knows, and "stop"."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from functools import partial
from pathlib import Path

import pytest

from tests.contract.adapters.rig import Event, OnScreen, Place, Rig, Skill
from tests.faults.channels.rounds import rig_of, shown, usually_on
from tests.faults.program import living, until
from tests.faults.stage import PLATFORMS, Rows, Stage, stage

CODE = re.compile(r"\b[A-Z0-9]{8}\b")


def skip_without(rig: Rig, *skills: Skill) -> None:
    for skill in skills:
        if skill in rig.lacks:
            pytest.skip(f"{rig.name}: not that {skill}, since {rig.lacks[skill]}")


def owners(rig: Rig) -> Sequence[str]:
    return ("--set", f"access.owners={json.dumps([rig.owner])}")


async def heard(on: Stage, *texts: str) -> None:
    """Until these words are in our records."""
    rows = Rows(on.program.data / "signalbox.db")

    async def look() -> bool | None:
        known = {text for (text,) in rows.select("SELECT text FROM signals WHERE kind = 'said'")}
        return set(texts) <= known or None

    await until(look, f"{texts} in our records")


@pytest.mark.timeout(120)
@usually_on("slack")
async def test_a_thread_that_was_joined_needs_no_mention_also_after_a_restart(kind: str, tmp_path: Path) -> None:
    """Scenario 5."""
    async with stage(tmp_path, kind, *FORUM[kind], stutter=False) as on:
        rig = rig_of(on)
        skip_without(rig, Skill.THREADS)
        thread = rig.rooms().thread
        assert thread
        async with living(on.program):
            await on.until_connected()
            await rig.say(thread, "not for you", mention=False)
            await rig.say(thread, "join us", mention=True)
            await shown(rig, thread, 1)
            await rig.say(thread, "and now", mention=False)
            await shown(rig, thread, 2)
            await on.program.leave()
        async with living(on.program):
            await rig.say(thread, "still there?", mention=False)
            texts = [message.text for message in await shown(rig, thread, 3)]
            await on.until_quiet()
            await on.program.leave()
    for said, told in zip(("join us", "and now", "still there?"), texts, strict=True):
        assert said in told
    assert "not for you" not in "".join(texts)


FORUM = dict.fromkeys(PLATFORMS, ()) | {"telegram": ("--set", 'access.rooms="thread"')}
"""A topic of a forum lasts, so it is only joined where its room's rule says so."""


@pytest.mark.timeout(120)
@usually_on("discord")
async def test_neither_programs_nor_ourselves_nor_changed_words_are_answered(kind: str, tmp_path: Path) -> None:
    """Scenario 6."""
    async with stage(tmp_path, kind, "--set", 'access.default="allow"', stutter=False) as on, living(on.program):
        rig = rig_of(on)
        skip_without(rig, Skill.SHARED, Skill.EDITED)
        shared = rig.rooms().shared
        assert shared
        await on.until_connected()
        first = await rig.say(shared, "one")
        await shown(rig, shared, 1)
        await rig.say(shared, "beep", bot=True, mention=True)
        if Skill.OWN not in rig.lacks:
            await rig.echo(shared, "boop")
        await rig.edit(first, "one, I mean")
        await rig.say(shared, "two")
        await heard(on, "two")
        await on.until_quiet()
        ours = [message.text for message in await rig.visible(shared) if "You said" in message.text]
        assert len(ours) == 2
        assert "one" in ours[0]
        assert "two" in ours[1]
        await on.program.leave()


@pytest.mark.timeout(120)
@usually_on("telegram")
async def test_an_unknown_person_is_let_in_by_a_button_and_told_once_in_a_room_alone(kind: str, tmp_path: Path) -> None:
    """Scenario 8."""
    async with stage(tmp_path, kind, stutter=False) as on:
        rig = rig_of(on)
        rooms = rig.rooms()
        assert rooms.apart
        assert rooms.shared
        on.program.add(*owners(rig))
        async with living(on.program):
            await on.until_connected()
            await rig.say(rooms.direct, "good morning")
            await shown(rig, rooms.direct, 1)
            await rig.say(rooms.shared, "psst", user=rig.stranger, mention=True)
            second = await rig.say(rooms.shared, "hey", user=rig.stranger, mention=True)
            await rig.say(rooms.apart, "hello")
            [told] = await shown(rig, rooms.apart, 1)
            assert "I've asked the people who run me" in told.text
            _, card = await shown(rig, rooms.direct, 2)
            assert f"id: {rig.stranger}" in card.text
            assert [button.label for button in card.buttons] == ["As user", "No", "Other role…"]
            await rig.click(rooms.direct, card, "Other role…")
            card = await changed(rig, rooms.direct, card)
            assert [button.label for button in card.buttons] == ["As user", "As viewer", "As operator", "No"]
            await rig.click(rooms.direct, card, "As user")
            card = await changed(rig, rooms.direct, card)
            assert card.text.startswith("✅ Let in as user by owner, ")
            assert card.buttons == ()
            [_, welcome] = await shown(rig, rooms.apart, 2)
            assert "You're in: I know you as" in welcome.text
            await rig.say(rooms.apart, "hello again")
            assert "hello again" in (await shown(rig, rooms.apart, 3))[2].text
            await on.until_quiet()
            assert not await rig.visible(rooms.shared)
            lines = await rig.notices(second)  # on Slack all that this person was told in this room
            assert len(lines) == (1 if kind == "slack" else 0)
            await on.program.leave()


async def changed(rig: Rig, place: Place, card: OnScreen) -> OnScreen:
    """The card once it says something else."""

    async def look() -> OnScreen | None:
        [now] = [message for message in await rig.visible(place) if message.id == card.id]
        return now if (now.text, now.buttons) != (card.text, card.buttons) else None

    return await until(look, "the card to change")


@pytest.mark.timeout(120)
@usually_on("slack")
async def test_an_unknown_person_is_paired_in_a_direct_message_and_ignored_in_a_room(kind: str, tmp_path: Path) -> None:
    """Scenario 8: the code is entered by an owner, in a direct message of theirs."""
    async with stage(tmp_path, kind, stutter=False) as on:
        rig = rig_of(on)
        rooms = rig.rooms()
        assert rooms.apart
        on.program.add(*owners(rig))
        async with living(on.program):
            await on.until_connected()
            if rooms.shared:
                await rig.say(rooms.shared, "psst", user=rig.stranger, mention=True)
            await rig.say(rooms.apart, "hello")
            [told] = await shown(rig, rooms.apart, 1)
            code = CODE.search(told.text)
            assert code, told.text
            await rig.say(rooms.apart, "hello?")
            await rig.say(rooms.direct, f"!pair {code[0]}")
            await shown(rig, rooms.direct, 1)
            await rig.say(rooms.apart, "hello again")
            await until(partial(says, rig, rooms.apart, "hello again"), "an answer")
            await on.until_quiet()
            assert rooms.shared is None or await rig.visible(rooms.shared) == []
            assert sum(bool(CODE.search(m.text)) for m in await rig.visible(rooms.apart)) == 1, "told once"
            await on.program.leave()


async def says(rig: Rig, place: Place, words: str) -> bool | None:
    return any(words in message.text for message in await rig.visible(place)) or None


@pytest.mark.timeout(120)
@usually_on("discord")
async def test_stop_ends_the_work_in_its_room(kind: str, tmp_path: Path) -> None:
    """Scenario 9."""
    async with stage(tmp_path, kind, "--think", "60", stutter=False) as on, living(on.program):
        rig = rig_of(on)
        place = rig.rooms().direct
        await on.until_connected()
        await rig.say(place, "think about it")
        await heard(on, "think about it")
        await rig.command(place, "stop")
        [told] = await shown(rig, place, 1)
        assert "stopped" in told.text.lower()
        await on.until_quiet()
        await on.program.leave()


@pytest.mark.timeout(120)
@usually_on("telegram")
async def test_a_message_while_a_question_waits_is_answered_now(kind: str, tmp_path: Path) -> None:
    """Scenario 9."""
    async with stage(tmp_path, kind, stutter=False) as on, living(on.program):
        rig = rig_of(on)
        place = rig.rooms().direct
        await on.until_connected()
        await rig.say(place, "run: echo done >> done.log")
        [card] = await shown(rig, place, 1)
        await rig.say(place, "are you there?")
        _, answer = await shown(rig, place, 2)
        assert "are you there?" in answer.text
        await rig.click(place, card, "Deny")
        card, *_ = await shown(rig, place, 3)
        assert "Denied" in card.text
        await on.until_quiet()
        await on.program.leave()


@pytest.mark.timeout(120)
@pytest.mark.parametrize("kind", ["slack", "discord"])
async def test_what_one_person_asked_for_only_they_read(kind: str, tmp_path: Path) -> None:
    """Scenario 50. Telegram has no message for one reader of a group."""
    async with stage(tmp_path, kind, "--set", 'access.default="allow"', stutter=False) as on, living(on.program):
        rig = rig_of(on)
        shared = rig.rooms().shared
        assert shared
        await on.until_connected()
        for name, words in (("help", "status"), ("status", "ready"), ("approvals", "No question")):
            asked = await rig.command(shared, name)
            await until(partial(whispered, rig, asked, words), f"a private answer to {name}")
        await rig.command(shared, "new")
        [anew] = await shown(rig, shared, 1)
        assert "new" in anew.text
        await on.program.leave()


async def whispered(rig: Rig, asked: Event, words: str) -> bool | None:
    return any(words in told for told in await rig.notices(asked)) or None
