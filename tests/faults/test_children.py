"""Scenario 54: two processes on one PostgreSQL, a parent with five children and an approval, and nodes that are killed.

In the suite one kill. All of them, in turn:

    make cuts ARGS="-k children"
"""

from __future__ import annotations

import asyncio
import os
import re
import signal
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import asyncpg
import pytest

from bot.testing.channel.driver import Driver
from tests.fakes.postgres import Postgres
from tests.fakes.serve import spawned
from tests.faults.program import until
from tests.faults.sides import FakeSide, Seen
from tests.faults.story import effects_of
from tests.faults.test_firings import nodes

ROOM: Final = "room0001"
WORDS: Final = ("w0001", "w0002", "w0003", "w0004")
LAST: Final = "w0005"
GOALS: Final = (*WORDS, f"run: echo {LAST} >> {LAST}.log")
"""Four whose words come back, and one that asks whether it may."""
TREE: Final = re.compile(r"\s*- (⏳|✋|✅|❌|⏹️|⌛) ")
THINK: Final = "0.4"
"""Seconds that the model takes, so that a kill finds somebody at work."""
VICTIMS: Final = {
    "parent": "SELECT n.label FROM runs r JOIN nodes n ON n.id = r.node WHERE n.state = 'live' AND r.trigger = 'message' "
    "AND r.ended_at IS NULL AND EXISTS (SELECT 1 FROM children c WHERE c.parent_run = r.id AND c.state = 'open')",
    "child": "SELECT n.label FROM runs r JOIN nodes n ON n.id = r.node WHERE n.state = 'live' AND r.trigger = 'child' "
    "AND r.ended_at IS NULL ORDER BY r.state DESC LIMIT 1",
    "both": "SELECT label FROM nodes WHERE state = 'live'",
}
"""Labels of the nodes that work, or worked last, on a part of it that is not over."""
LEFT: Final = (
    "SELECT (SELECT count(*) FROM deliveries WHERE state <> 'shown') + (SELECT count(*) FROM waits WHERE settled_at IS NULL)"
    " + (SELECT count(*) FROM children WHERE state = 'open') + (SELECT count(*) FROM runs WHERE ended_at IS NULL)"
    " + (SELECT count(*) FROM sessions WHERE state <> 'idle' OR owner IS NOT NULL)"
)
"""How much is open."""


@dataclass(frozen=True, slots=True)
class Plan:
    """Whose nodes are killed before the card is there, while it waits, and once somebody said yes: one at a time."""

    before: Sequence[str] = ()
    waiting: Sequence[str] = ()
    after: Sequence[str] = ()

    def __str__(self) -> str:
        return "-".join((*self.before, "card", *self.waiting, "yes", *self.after))


PLANS: Final = (
    Plan(["parent"], ["parent"], ["parent"]),
    Plan(["child", "parent"], ["both"], ["child"]),
    Plan(["both"], ["parent"], ["both"]),
    Plan(["child", "child"], [], ["child", "child"]),
    Plan(["both", "child"], ["both", "both"], ["parent"]),
)


class Play:
    """One message in one room, and what becomes of it."""

    def __init__(self, side: FakeSide, database: asyncpg.Connection, workspaces: Path) -> None:
        self.side = side
        self.database = database
        self.workspaces = workspaces
        self.kills = 0
        self.said_yes = asyncio.Event()
        self._pressed: set[str] = set()

    async def seen(self) -> list[Seen]:
        return await self.side.seen(ROOM)

    async def answer(self) -> str:
        """All that is on screen beside cards and the tree."""
        return "\n".join(seen.text for seen in await self.seen() if not (seen.is_card or TREE.match(seen.text)))

    async def kill(self, whose: str) -> None:
        """Kill the nodes that work on it now; none once the answer is there."""

        async def look() -> list[int] | None:
            if await self.answer():
                return []
            rows = await self.database.fetch(VICTIMS[whose])
            return [int(row["label"].rpartition("/")[2]) for row in rows] or None

        for pid in await until(look, f"a node that works on the {whose}"):
            try:
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                continue  # it died before, and its lease is not over yet
            self.kills += 1

    async def card(self) -> None:
        async def look() -> bool | None:
            return any(seen.buttons for seen in await self.seen()) or None

        await until(look, "a card")

    async def approve(self) -> None:
        """Press the button of each card that comes up. A cut command is looked at: it is done, or done again."""

        async def look() -> bool | None:
            for seen in await self.seen():
                if seen.buttons and seen.buttons[0].approval_id not in self._pressed:
                    self._pressed.add(seen.buttons[0].approval_id)
                    await self._press(seen)
            return bool(await self.answer()) or None

        await until(look, "an answer")

    async def _press(self, card: Seen) -> None:
        offered, done = {button.choice for button in card.buttons}, effects_of(self.workspaces, LAST)
        choice = "approve" if "approve" in offered else "done" if done else "again"
        await self.side.click(ROOM, card.buttons[0].approval_id, choice)
        self.said_yes.set()

    async def rest(self) -> None:
        async def look() -> bool | None:
            return (await self.database.fetchval(LEFT)) == 0 or None

        await until(look, "an end of all work")


@asynccontextmanager
async def stage(server: Postgres, folder: Path) -> AsyncIterator[Play]:
    url, journal = server.newest_database(), folder / "journal"
    database = await asyncpg.connect(url)
    try:
        async with (
            spawned("bot.testing.channel.server", "--kind", "lookup", "--journal", str(journal)) as (_, fake),
            nodes(folder, url, fake, "--think", THINK) as both,
        ):
            for node in both:
                await node.up()
            yield Play(FakeSide(Driver(fake)), database, folder / "workspaces")
    finally:
        await database.close()


async def play(plan: Plan, server: Postgres, folder: Path) -> int:
    """Number of kills. Errors: AssertionError tells what was not kept."""
    async with stage(server, folder) as on:
        await on.side.say(ROOM, f"delegate each: {'; '.join(GOALS)}")
        for whose in plan.before:
            await on.kill(whose)
        await on.card()
        for whose in plan.waiting:
            await on.kill(whose)
        async with asyncio.TaskGroup() as group:
            group.create_task(on.approve())
            await on.said_yes.wait()
            for whose in plan.after:
                await on.kill(whose)
        await on.rest()
        await checked(on)
        return on.kills


async def checked(on: Play) -> None:
    answer = await on.answer()
    assert [answer.count(f"{number}. main answered:") for number in range(1, 6)] == [1] * 5, answer
    assert [answer.count(word) for word in WORDS] == [1] * len(WORDS), answer
    [tree] = [seen.text for seen in await on.seen() if TREE.match(seen.text)]
    assert tree.count("✅") == len(GOALS), tree
    assert effects_of(on.workspaces, LAST) == 1
    runs = await on.database.fetch("SELECT trigger, state, count(*) FROM runs GROUP BY 1, 2 ORDER BY 1")
    assert [tuple(row) for row in runs] == [("child", "done", 5), ("message", "done", 1)]


@pytest.mark.timeout(180)  # seconds; about six where nothing else runs
async def test_a_child_whose_node_is_killed_answers_its_parent_and_the_person_once(
    postgres: Postgres, tmp_path: Path
) -> None:
    assert await play(Plan(["child"]), postgres, tmp_path) == 1


@pytest.mark.soak
@pytest.mark.timeout(600)
@pytest.mark.parametrize("plan", PLANS, ids=str)
async def test_parent_and_children_are_killed_in_turn_and_the_person_gets_one_answer(
    plan: Plan, postgres: Postgres, tmp_path: Path
) -> None:
    assert await play(plan, postgres, tmp_path) >= len(plan.before)
