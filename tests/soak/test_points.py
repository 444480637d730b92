"""Each named point of work by rules and of posting, hit by a SIGKILL of the real program, on both engines; the checker judges the rest."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Final

import pytest

from tests.fakes.postgres import Postgres
from tests.faults.points import BY_RULES
from tests.soak.clerk import sent
from tests.soak.episode import Episode, Scene
from tests.soak.evidence import Evidence, content
from tests.soak.plan import AtPoint, Leave, Line, Plan, Say, Want

pytestmark = [pytest.mark.soak, pytest.mark.timeout(300)]

ACTS: Final = {
    "workflow-step": [Line("w01000", Want.FLOW), Line("w01001", Want.FLOW)],
    "verdict": [Line("w01000", Want.GOAL)],
    "trigger-fired": [Line("w01000", Want.TELL), Line("w01001", Want.TELL)],
}
POSTING: Final = ("step-recorded", "tool-marked", "tool-finished", "part-marked", "part-shown", "part-checkpointed")
"""Where a call of `channel_send` may be cut: none of them shows its message twice."""
SURE: Final = 30.0
"""Seconds for which the first life waits for the point: it comes at once, but on a busy machine nothing does. In the second
life the work may be another node's."""


@pytest.mark.parametrize("point", BY_RULES)
@pytest.mark.parametrize("nodes", [1, 2], ids=["sqlite", "two nodes on postgresql"])
async def test_a_kill_at_a_point_of_work_by_rules_breaks_no_promise(
    point: str, nodes: int, tmp_path: Path, postgres: Postgres
) -> None:
    await killed_at(point, ACTS[point], tmp_path / "scene", postgres.create_database() if nodes > 1 else "")


@pytest.mark.parametrize("point", POSTING)
@pytest.mark.parametrize("nodes", [1, 2], ids=["sqlite", "two nodes on postgresql"])
async def test_a_killed_channel_send_shows_once(point: str, nodes: int, tmp_path: Path, postgres: Postgres) -> None:
    line = Line("w01000", Want.SEND)
    evidence = await killed_at(point, [line], tmp_path / "scene", postgres.create_database() if nodes > 1 else "")
    posted = [row for row in evidence.tables["deliveries"] if row["origin"].startswith("posted:")]
    assert [(row["state"], content(row)) for row in posted] == [("shown", sent(line.tag))]


async def killed_at(point: str, lines: Sequence[Line], folder: Path, url: str) -> Evidence:
    """What is left of an episode in which these are said, one life after the other ends there. `url`: two nodes on it."""
    said = iter([Say((line,), pause=0.5) for line in lines])
    ends = [[AtPoint(point, within=SURE), AtPoint(point)]] + [[Leave(1.0)]] * bool(url)
    plan = Plan(point, {("key", "keyroom"): said}, ends, one_hears=True)
    evidence = await Episode(Scene(plan, folder, url)).play()
    assert point in [note.about["where"] for note in evidence.notes if note.what == "killed"]
    return evidence
