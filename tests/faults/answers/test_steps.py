"""SIGKILL at each step between a press and its outcome: one decision, one call, and a card that says so.

A sample of them by a seed; `make cuts` plays all. Scenarios 21-25 and 44-47; docs/promises.md has the table.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Sequence
from functools import partial
from itertools import product
from pathlib import Path
from random import Random
from typing import Final

import pytest

from tests.fakes.postgres import Postgres
from tests.faults.answers.database import rows_of
from tests.faults.answers.hands import Hands, Shown, hands
from tests.faults.answers.ways import SENDING, WAYS, Scene, Way
from tests.faults.program import Kill, living, until
from tests.faults.stage import PLATFORMS, WEB, Stage, stage

CHANNELS: Final = (WEB, *PLATFORMS)
ENGINES: Final = ("sqlite", "postgresql")
SEED: Final = 47
DOUBTS: Final = {"tool-marked": [0], "tool-finished": [1]}
"""Where nobody knows whether a call ran, and how often it had. A card is sent beside the run: there it may be cut or not."""
SAMPLE: Final = (
    ("telegram", "sqlite", "deny", 1),
    ("web", "postgresql", "edit", 1),
    ("discord", "sqlite", "forged", 1),
    ("web", "sqlite", "expire", 1),
    ("slack", "postgresql", "private", 1),
)
"""Rows of every run of the suite, each with so many kills."""


def rows_of_the_product() -> list[tuple[str, str, str]]:
    return list(product(CHANNELS, ENGINES, WAYS))


def points(channel: str, way: Way) -> Sequence[str]:
    return way.points if channel == WEB else (*way.points, *SENDING)


async def play(on: Stage, url: str, way: Way, killed_at: Sequence[str]) -> None:
    """The way once for each point, each time with a word of its own."""
    async with living(on.program, [Kill(point, armed=True) for point in killed_at]):
        await on.until_connected()
        rows = rows_of(on, url)
        async with hands(on, role=way.role, private=way.private) as people:
            for number, point in enumerate(killed_at, 1):
                at = Scene(on, people, rows, f"w{number}x{point.replace('-', '')}")
                await killed_once(at, way, point, number)
            await on.until_quiet()
            assert rows.disagreements() == []
        assert [one.point for one in on.program.kills] == [*killed_at]
        await on.program.leave()


async def killed_once(at: Scene, way: Way, point: str, number: int) -> None:
    on = at.on
    await way.ask(at)
    await until(partial(is_shown, at), "the end of all sends")
    on.program.arm()
    answering = asyncio.ensure_future(way.answer(at))

    async def killed() -> bool | None:
        if answering.done():
            answering.result()
        return len(on.program.kills) == number or None

    await until(killed, f"kill {number}")
    await answering
    await on.until_connected()
    doubts = await settled(at, way)
    await on.until_quiet()
    expected = ([], [0], [1]) if point in SENDING else (DOUBTS.get(point, []),)
    assert doubts in expected, f"asked about {doubts} at {point}"
    way.check(at, sum(doubts))
    for card in await at.people.cards(at.word):
        assert "approve" not in card.buttons, f"a card of what is over still asks: {card}"


async def settled(at: Scene, way: Way) -> list[int]:
    """Until it is decided and nothing is left; people say "Run again" of what was cut off. How often each of that had run."""
    doubts: list[int] = []

    async def look() -> bool | None:
        if doubt := await doubted(at.people):
            doubts.append(way.began(at, doubt))
            for number in range(way.people):
                await at.people.press(doubt, "again", second=number > 0)
            await gone(at.people, doubt)
        return (await way.is_decided(at) and await is_quiet(at)) or None

    await until(look, f"the end of {at.word}")
    return doubts


async def is_shown(at: Scene) -> bool | None:
    """Nothing is being sent: what is killed then is a step of the answer."""
    return at.count("deliveries", "state IN ('queued', 'open')") == 0 or None


async def is_quiet(at: Scene) -> bool:
    open_runs = at.count("runs", "state <> 'done'")
    return open_runs == 0 and at.count("signals", "state = 'waiting'") == 0


async def doubted(people: Hands) -> Shown | None:
    """A question whether a call that was cut off happened."""
    return next((one for one in await people.cards() if "again" in one.buttons), None)


async def gone(people: Hands, card: Shown) -> None:
    async def look() -> bool | None:
        return await doubted(people) is None or None

    await until(look, f"the end of {card}")


async def killed(channel: str, engine: str, name: str, points: Sequence[str], folder: Path, server: Postgres) -> None:
    url = "" if engine == ENGINES[0] else server.newest_database()
    database = ("--set", f"database_url={json.dumps(url)}") if url else ()
    more = ("--set", 'access.default="allow"', *WAYS[name].settings, *database)
    async with stage(folder, channel, *more, stutter=False) as on:
        await play(on, url, WAYS[name], points)


@pytest.mark.timeout(120)  # seconds; about five where nothing else runs
@pytest.mark.parametrize(("channel", "engine", "name", "kills"), SAMPLE)
async def test_a_sample_of_answers_killed_on_the_way_counts_once(
    channel: str, engine: str, name: str, kills: int, tmp_path: Path, postgres: Postgres
) -> None:
    chosen = Random(SEED).sample(points(channel, WAYS[name]), kills)
    await killed(channel, engine, name, chosen, tmp_path, postgres)


@pytest.mark.soak
@pytest.mark.timeout(900)
@pytest.mark.parametrize(("channel", "engine", "name"), rows_of_the_product())
async def test_each_answer_killed_at_each_step_counts_once(
    channel: str, engine: str, name: str, tmp_path: Path, postgres: Postgres
) -> None:
    await killed(channel, engine, name, points(channel, WAYS[name]), tmp_path, postgres)
