"""Scenario 59 as people have it: remember, recall, correct, why, forget; in a private chat and in a group of each platform."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.contract.adapters.rig import Place, Rig
from tests.faults.channels.rounds import rig_of, shown, usually_on
from tests.faults.program import living
from tests.faults.stage import Rows, stage

OPEN_TO_ALL = ("--set", 'access.default="allow"')
REX = "remember that my dog is called Rex"
DOG = "what do you know about my dog?"


async def answered(rig: Rig, place: Place, words: str, number: int) -> str:
    """Say something, and read the answer, which is the message with this number there."""
    await rig.say(place, words)
    return (await shown(rig, place, number))[-1].text


@pytest.mark.timeout(120)  # seconds; about six where nothing else runs
@usually_on("discord")
async def test_a_private_fact_is_kept_corrected_explained_and_forgotten_and_no_group_hears_of_it(
    kind: str, tmp_path: Path
) -> None:
    async with stage(tmp_path, kind, *OPEN_TO_ALL) as on, living(on.program):
        rig = rig_of(on)
        await on.until_connected()
        rooms = rig.rooms()
        direct, group = rooms.direct, rooms.shared
        assert direct
        assert group
        assert "alone as" in await answered(rig, direct, REX, 1)
        assert "Rex" in await answered(rig, direct, DOG, 2)
        assert "It replaces: my dog is called Rex" in await answered(rig, direct, "correct: my dog is called Max", 3)
        recalled = await answered(rig, direct, DOG, 4)
        assert "Max" in recalled
        assert "Rex" not in recalled
        why = await answered(rig, direct, "!memory why", 5)
        assert "my dog is called Max" in why
        assert "another one had taken its place" in why
        assert "Nothing is kept about that here" in await answered(rig, group, DOG, 1)
        assert "only, not in this room" in await answered(rig, group, "remember that my cat is called Tom", 2)
        assert "Nothing is kept about that here" in await answered(rig, group, "what do you know about my cat?", 3)
        assert "Tom" in await answered(rig, direct, "what do you know about my cat?", 6)
        assert "Forgotten for good" in await answered(rig, direct, "forget what you know about my dog", 7)
        assert "Nothing is kept about that here" in await answered(rig, direct, DOG, 8)
        await on.until_quiet()
        rows = Rows(on.program.data / "signalbox.db")
        assert rows.select("SELECT text FROM memories") == [("my cat is called Tom",)]
        assert rows.disagreements() == []
        await on.program.leave()
