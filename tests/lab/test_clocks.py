"""Clocks are set while it works: a machine's, one node's beside right ones, and the database's.

The real program runs under libfaketime, and so does PostgreSQL where its clock is set.
"""

from __future__ import annotations

import asyncio
import json
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path
from typing import Any, Final

import pytest

from tests.contract.adapters.rig import OnScreen, Place
from tests.fakes.postgres import Postgres
from tests.fakes.serve import ROOT
from tests.faults.program import until
from tests.lab.faked import CLOCKED, clock_of, clocked, library, put
from tests.lab.node import Node
from tests.lab.stage import Lab, lab

pytestmark = [
    pytest.mark.soak,
    pytest.mark.timeout(240),
    pytest.mark.skipif(
        library() is None, reason="no libfaketime on this machine (tests/setup.sh faketime installs it)"
    ),
]

HOUR: Final = 3600
DAY: Final = 24 * HOUR
LEASE: Final = 3.0  # seconds
ASKED: Final = "write hello to notes.txt"
BERLIN: Final = "Europe/Berlin"
OWNERS: Final[dict[str, Any]] = {"access.owners": ["telegram:11", "slack:T1/U1", "discord:42"]}
"""Whoever asks in a private chat may decide there."""
SHORT: Final[dict[str, Any]] = {"nodes.lease_seconds": LEASE, "approvals.expires_hours": 0.5}


def planned(on: str, when: str, zone: str = "UTC") -> dict[str, Any]:
    return {"schedules": [{"name": "round", "when": when, "zone": zone, "prompt": "say now", "to": [on]}]}


async def card(on: Lab, place: Place) -> OnScreen:
    """The question that is open there."""

    async def look() -> OnScreen | None:
        return next((one for one in reversed(await on.rig.visible(place)) if one.buttons), None)

    return await until(look, f"a question\n{on.nodes[0].log()}", 40)


def to(file: Path, moment: datetime) -> None:
    """Set the clock in `file` to a moment."""
    put(file, (moment - datetime.now(UTC)).total_seconds())


async def occurrences(on: Lab) -> Sequence[Any]:
    return await on.select("SELECT state, planned_at FROM occurrences ORDER BY planned_at")


async def fired(on: Lab, count: int, seconds: float = 30, *, at: datetime | None = None) -> None:
    """Until so many instants were worked on; with `at`, of that moment."""
    instant = at and int(at.timestamp() * 1_000_000)

    async def look() -> bool | None:
        done = [state for state, planned in await occurrences(on) if state == "done" and instant in (None, planned)]
        return len(done) >= count or None

    try:
        await until(look, f"{count} firings", seconds)
    except AssertionError as error:
        raise AssertionError(f"{error}: {await occurrences(on)}\n{on.nodes[0].log()}") from None


# ------------------------------------------------------------------------------------------------ a machine's clock


@pytest.mark.parametrize("by", [HOUR, -HOUR, DAY, -DAY])
@pytest.mark.parametrize("platform", ["telegram", "discord", "slack"])
async def test_a_clock_that_is_set_ends_no_question_and_keeps_nobody_from_being_answered(
    tmp_path: Path, platform: str, by: int
) -> None:
    """Approvals last an hour at most in one direction: here they last a day, and the clock is set by as much."""
    async with lab(tmp_path, None, platform=platform, prefix=CLOCKED, **OWNERS) as on:
        (node,) = on.nodes
        await node.until_ready()
        room = on.rig.rooms().direct
        await on.answered(room)
        await on.rig.say(room, ASKED)
        asked = await card(on, room)
        put(clock_of(node.data), by)
        await on.answered(room)
        await until(lambda: in_log(node, "the clock was set"), "a word about the clock")
        assert (await card(on, room)).id == asked.id
        await on.rig.click(room, await card(on, room), "Approve")

        async def look() -> bool | None:
            return any(state == "done" for (state,) in await on.select("SELECT state FROM steps")) or None

        await until(look, "the call that was approved")
        put(clock_of(node.data), 0)
        await on.answered(room)
        await on.judged()


async def in_log(node: Node, words: str) -> bool | None:
    return words in node.log() or None


async def test_an_instant_that_comes_twice_is_fired_once_and_one_that_was_passed_by_its_rule(tmp_path: Path) -> None:
    """A schedule of each minute: the clock goes to before an instant, back before it, and an hour on."""
    async with lab(tmp_path, None, prefix=CLOCKED, **planned("telegram:tg/11", "* * * * *")) as on:
        (node,) = on.nodes
        await node.until_ready()
        clock = clock_of(node.data)
        whole = (datetime.now(UTC) + timedelta(minutes=5)).replace(second=0, microsecond=0)
        to(clock, whole - timedelta(seconds=2))
        await fired(on, 1, at=whole)
        before = len([one for one in await occurrences(on) if one[0] == "done"])
        to(clock, whole - timedelta(seconds=3))
        await asyncio.sleep(6)
        assert len([one for one in await occurrences(on) if one[0] == "done"]) == before
        to(clock, whole + timedelta(hours=1, seconds=1))
        await fired(on, before + 1)
        await asyncio.sleep(3)
        rows = await occurrences(on)
        assert len({at for _, at in rows}) == len(rows)
        assert len([one for one in rows if one[0] == "done"]) == before + 1, "what was passed is made up for once"
        await on.judged()


@pytest.mark.parametrize(
    ("when", "passes", "fires"),
    [
        pytest.param("30 2 * * *", datetime(2027, 3, 28, 0, 59, 57, tzinfo=UTC), 0, id="gap-at-the-change"),
        pytest.param("30 2 * * *", datetime(2027, 3, 28, 1, 29, 57, tzinfo=UTC), 1, id="gap-later-by-it"),
        pytest.param("30 2 * * *", datetime(2027, 10, 31, 0, 29, 57, tzinfo=UTC), 1, id="overlap-first-pass"),
        pytest.param("30 2 * * *", datetime(2027, 10, 31, 1, 29, 57, tzinfo=UTC), 0, id="overlap-second-pass"),
        pytest.param("*/30 * * * *", datetime(2027, 10, 31, 1, 29, 57, tzinfo=UTC), 1, id="overlap-pattern"),
    ],
)
async def test_a_change_of_clocks_for_summer_and_winter_fires_by_the_stated_rule(
    tmp_path: Path, when: str, passes: datetime, fires: int
) -> None:
    """The program lives through the moment itself."""
    clock = tmp_path / "node0" / "clock"
    clock.parent.mkdir(mode=0o755)
    to(clock, passes - timedelta(minutes=10))
    async with lab(tmp_path, None, prefix=CLOCKED, **planned("telegram:tg/11", when, BERLIN)) as on:
        await on.nodes[0].until_ready()
        to(clock, passes)
        await (fired(on, fires) if fires else asyncio.sleep(8))
        await asyncio.sleep(2)
        assert len(await occurrences(on)) == fires
        assert "error" not in on.nodes[0].log()
        await on.judged()


# ------------------------------------------------------------------------------------- one node beside right ones


@pytest.mark.parametrize("by", [HOUR, -HOUR])
async def test_one_node_an_hour_off_beside_a_right_one_is_told_and_breaks_nothing(
    postgres: Postgres, tmp_path: Path, by: int
) -> None:
    settings: dict[str, Any] = {"nodes.lease_seconds": LEASE, **planned("telegram:tg/11", "* * * * *")}
    async with lab(tmp_path, postgres, prefix=CLOCKED, **settings) as on:
        wrong, right = on.nodes
        for node in on.nodes:
            await node.until_ready()
        put(clock_of(wrong.data), by)
        await until(lambda: in_log(wrong, "the clock of this machine is wrong"), "a word in the log", 20)
        assert "the clock of this machine is wrong" not in right.log()
        room = on.rig.rooms().direct
        for _ in range(3):
            await on.answered(room)
        await fired(on, 1, 75)
        rows = await occurrences(on)
        assert len({at for _, at in rows}) == len(rows)
        assert set((await on.rows()).values()) == {"live"}, "nobody was taken for dead"
        finding = await found_by_doctor(wrong, "clock.database")
        assert finding["level"] == "warning"
        assert "3600" in finding["what"] or "3599" in finding["what"]
        wrong.kill()
        await on.until_missed(wrong)
        await on.answered(room, 30)
        await until(partial(roles_are_held, on), "somebody with each role", 80)  # who fires is settled each minute
        await on.judged()


async def found_by_doctor(node: Node, id: str) -> dict[str, Any]:
    """What the doctor says on the machine of a node, by its clock."""
    command = [*CLOCKED, sys.executable, "-m", "tests.lab.examined", "--data", str(node.data), *node.arguments]
    doctor = await asyncio.create_subprocess_exec(*command, cwd=ROOT, stdout=asyncio.subprocess.PIPE)
    told, _ = await doctor.communicate()
    found: dict[str, dict[str, Any]] = {one["id"]: one for one in json.loads(told.splitlines()[-1])}
    return found[id]


async def roles_are_held(on: Lab) -> bool | None:
    return all((await on.roles()).values()) or None


# ------------------------------------------------------------------------------------------- the database's clock


class ClockedPostgres(Postgres):
    """A server by a clock of its own."""

    def __init__(self, clock: Path) -> None:
        self._clock = clock
        super().__init__()

    def _ground(self) -> dict[str, object]:
        given = super()._ground()
        environment = given["env"]
        assert isinstance(environment, dict)
        return {**given, "env": {**environment, **clocked(self._clock)}}


@pytest.fixture
def clocked_postgres() -> Iterator[tuple[Postgres, Path]]:
    with tempfile.TemporaryDirectory() as folder:
        Path(folder).chmod(0o755)
        clock = Path(folder) / "clock"
        put(clock, 0)
        with ClockedPostgres(clock) as server:
            yield server, clock


@pytest.mark.parametrize("by", [HOUR, -HOUR, DAY, -DAY])
async def test_a_step_of_the_databases_clock_loses_nothing_and_frees_what_a_dead_node_held(
    clocked_postgres: tuple[Postgres, Path], tmp_path: Path, by: int, tell: Callable[[str], None]
) -> None:
    server, clock = clocked_postgres
    async with lab(tmp_path, server, **OWNERS, **SHORT) as on:
        for node in on.nodes:
            await node.until_ready()
        room = on.rig.rooms().direct
        await on.answered(room)
        await on.rig.say(room, ASKED)
        asked = await card(on, room)
        put(clock, by)
        took = [await on.answered(room)]
        for node in on.nodes:
            await until(partial(in_log, node, "the clock was set"), "a word about the clock", 20)
            await on.until_serving(node)
        assert (await card(on, room)).id == asked.id
        assert await on.select("SELECT state FROM approvals") == [("pending",)]
        assert len(await on.select("SELECT subject FROM audit WHERE kind = 'clock set'")) == 1
        owner = await on.owner("courier:telegram")
        put(clock, 0)
        owner.kill()
        took.append(await on.answered(room, 40))
        await on.until_missed(owner)
        await until(partial(roles_are_held, on), "somebody with each role", 20)
        await on.judged()
    tell(f"{by:+} s: answered after {took[0]:.1f} s; the dead one's work {took[1]:.1f} s after its end")
