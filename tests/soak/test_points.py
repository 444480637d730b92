"""Each named point of work by rules, hit by a SIGKILL of the real program, on both engines; the checker judges the rest."""

from __future__ import annotations

from pathlib import Path
from typing import Final

import pytest

from tests.fakes.postgres import Postgres
from tests.faults.points import BY_RULES
from tests.soak.episode import Episode, Scene
from tests.soak.plan import AtPoint, Leave, Line, Plan, Say, Want

pytestmark = [pytest.mark.soak, pytest.mark.timeout(300)]

ACTS: Final = {
    "workflow-step": [Line("w01000", Want.FLOW), Line("w01001", Want.FLOW)],
    "verdict": [Line("w01000", Want.GOAL)],
    "trigger-fired": [Line("w01000", Want.TELL), Line("w01001", Want.TELL)],
}
HITS: Final = 2
"""Lives that end at the point, one after the other."""


@pytest.mark.parametrize("point", BY_RULES)
@pytest.mark.parametrize("nodes", [1, 2], ids=["sqlite", "two nodes on postgresql"])
async def test_a_kill_at_a_point_of_work_by_rules_breaks_no_promise(
    point: str, nodes: int, tmp_path: Path, postgres: Postgres
) -> None:
    said = iter([Say((line,), pause=0.5) for line in ACTS[point]])
    ends = [[AtPoint(point)] * HITS] + [[Leave(1.0)] for _ in range(nodes - 1)]
    plan = Plan(point, {("key", "keyroom"): said}, ends, one_hears=True)
    url = postgres.create_database() if nodes > 1 else ""
    evidence = await Episode(Scene(plan, tmp_path / "scene", url)).play()
    assert point in [note.about["where"] for note in evidence.notes if note.what == "killed"]
