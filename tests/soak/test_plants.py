"""The checker finds each planted bug within seconds, and has nothing to say about the same scene without it."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

import pytest

from bot.testing.channel.faults import Do
from tests.fakes.postgres import Postgres
from tests.soak.episode import BrokenPromise, Episode, Scene
from tests.soak.plan import (
    WEB,
    Act,
    AtMoment,
    AtPoint,
    End,
    Freeze,
    Gust,
    Leave,
    Line,
    Manner,
    Plan,
    Say,
    Want,
)
from tests.soak.plants import BUGS

PATIENCE: Final = 10.0  # seconds without any progress
PLAYS: Final = 3
"""Of one scene, at most: where a freeze lands is a matter of moments, and on a busy machine it may hit a node at rest."""


@dataclass(frozen=True)
class Aim:
    """A scene in which a planted bug cannot hide, and what the first line of its story says."""

    told: str
    acts: Mapping[str, Sequence[Act]]  # by place
    ends: Sequence[End] = (Leave(1.2),)
    weather: Mapping[str, Sequence[Gust]] = field(default_factory=dict)
    think: float = 0.0
    nodes: int = 1
    besides: Sequence[str] = ()  # what is put in with and without the bug
    settings: Mapping[str, object] = field(default_factory=dict)

    def plan(self) -> Plan:
        rooms = {(place, f"{place}room"): iter(acts) for place, acts in self.acts.items()}
        weather = {place: iter(gusts) for place, gusts in self.weather.items()}
        return Plan("aimed", rooms, [self.ends, *[()] * (self.nodes - 1)], weather, think=self.think, one_hears=True)


def says(*lines: Line, again: tuple[float, ...] = (), pause: float = 0.0) -> list[Act]:
    return [Say((line,), again=again, pause=pause) for line in lines]


def chat(number: int, length: int = 0) -> Line:
    return Line(f"w01{number:03}", Want.CHAT, length=length)


THREE: Final = [chat(1), chat(2), chat(3)]
TWELVE: Final = [chat(number) for number in range(1, 13)]
FIRE: Final = Line("w01009", Want.FIRE, slowly=True, manner=Manner.APPROVE)
POSTS: Final = [Line(f"w01{number:03}", Want.POST, slowly=True) for number in range(20, 32)]
"""Some eight seconds of work for one lane."""

AIMS: Final[Mapping[str, Aim]] = {
    "skipped-marker": Aim("is on screen 2 times", {"lookup": says(*THREE)}, [AtPoint("part-shown")]),
    "early-acknowledgement": Aim(
        "was acknowledged, and no record has it",
        {WEB: says(*TWELVE, pause=0.1), "key": says(*TWELVE, pause=0.1)},
        [AtMoment(0.5)],  # while they talk, on a busy machine too
    ),
    "repeated-part": Aim("is on screen 2 times", {"probe": says(*THREE)}),
    "dropped-fence": Aim(
        "There is|The log of|was asked 1 times and called 2 times",
        {"key": says(*POSTS)},
        [Freeze(1.2, 2.0, 1.5)],
        nodes=2,
        besides=["deaf-node"],
        settings={"nodes.lease_seconds": 0.6},
    ),
    "checkpoint-not-written": Aim("a delivery that is not settled", {"key": says(*THREE, chat(4), pause=0.1)}),
    "doubt-forgotten": Aim("ran 2 times, and people allowed 1", {WEB: says(FIRE)}, [AtPoint("tool-finished")]),
    "counter-kept": Aim("a lane that miscounts its waiting signals", {WEB: says(*THREE, pause=0.6)}, think=1.5),
    "dedupe-ignored": Aim("The event ev-00001 was", {"none": says(chat(1), again=(0.0,))}),
    "one-look": Aim(
        "is on screen 2 times",
        {"lookup": says(*THREE, pause=0.4)},
        weather={"lookup": [Gust(0.0, Do.CUT_LATE, 1, 0.8)]},
    ),
    "order-swapped": Aim("The model heard", {"key": says(*THREE, chat(4))}, think=0.3),
    "parts-swapped": Aim("The parts of", {"key": says(chat(1, 60))}),
    "children-doubled": Aim("The call w01001-1 began", {"key": says(Line("w01001", Want.HAND))}),
    "child-wait-kept": Aim(
        "a parked run that waits for nobody|a child at work without its parent's wait",
        {"key": says(Line("w01001", Want.HAND))},
    ),
    "answers-swapped": Aim("was not told", {"key": says(Line("w01001", Want.SPLIT))}),
    "end-untold": Aim("whose end was not told", {"key": says(Line("w01001", Want.LATER))}),
    "task-claim-kept": Aim("a task that is at work in a run that is over", {"key": says(Line("w01002", Want.TASK))}),
    "task-told-twice": Aim("an ended run without a last word", {"key": says(Line("w01002", Want.TASK))}),
}


ALWAYS = ("skipped-marker", "early-acknowledgement")
"""Two of all; `test_soak` has a repeated part. The others are looked for by `make cuts`, also the one whose freeze takes a
minute on a busy machine."""


@pytest.mark.timeout(120)  # seconds; about five where nothing else runs
@pytest.mark.parametrize(
    "plant", [plant if plant in ALWAYS else pytest.param(plant, marks=pytest.mark.soak) for plant in BUGS]
)
async def test_a_planted_bug_is_found_and_nothing_else(plant: str, tmp_path: Path, postgres: Postgres) -> None:
    aim = AIMS[plant]
    async with asyncio.TaskGroup() as group:
        group.create_task(played(aim, tmp_path / "clean", postgres))
        planted = group.create_task(told(aim, plant, tmp_path / "planted", postgres))
    story = planted.result()
    assert re.search(aim.told, story.partition("\n")[0]), story
    assert "Broken promise: " in story


async def told(aim: Aim, plant: str, folder: Path, postgres: Postgres) -> str:
    """The story of what was found. Errors: AssertionError when nothing was."""
    for number in range(PLAYS):
        try:
            await played(aim, folder / str(number), postgres, plant)
        except BrokenPromise as broken:
            return str(broken)
    raise AssertionError(f"{plant} was played {PLAYS} times, and nobody saw it")


async def played(aim: Aim, folder: Path, postgres: Postgres, *plants: str) -> None:
    url = postgres.create_database() if aim.nodes > 1 else ""
    await Episode(Scene(aim.plan(), folder, url, [*aim.besides, *plants], aim.settings, PATIENCE)).play()
