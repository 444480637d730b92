"""A chart in a run: its picture is on the answer, once, also after a kill."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from runtime.contract import Call, Content
from tests.contract.runtime.stage import LEASE, Stage, address, crash_at
from tests.contract.runtime.strict import Strict
from tests.sample import sample
from tools.charting.chart import chart_tool
from tools.charting.renderer import ChartRenderer

SALES = Call(
    "c-chart",
    "chart",
    json.dumps(
        {
            "kind": "bar",
            "title": "Sales",
            "labels": ["North", "South"],
            "series": [{"name": "2026", "values": [12, 34]}],
        }
    ),
)


@pytest.mark.parametrize("point", sample(["tool-finished", "tool-marked", "model-answered"], 1))
async def test_a_kill_draws_it_again_and_shows_it_once(stage: Stage, tmp_path: Path, point: str) -> None:
    """Between the picture and the record of it nobody is asked: drawing again changes nothing."""
    tools: Any = [chart_tool(ChartRenderer(tmp_path / "fonts"))]
    before = await stage.process(Strict([SALES, "here it is"]), tools, probe=crash_at(point, 1 + (point[0] == "m")))
    await before.say("draw the sales")
    await before.until_crash()
    stage.clock.advance(LEASE)
    after = await stage.process(Strict(["here it is"]), tools)
    await after.answer_all()
    [row] = await stage.rows("SELECT content FROM deliveries WHERE kind = 'final'")
    [file] = Content.from_json(row[0]).files
    drawn = list((stage.workspaces.folder(address("r1")) / "charts").iterdir())
    assert [path.name for path in drawn] == [Path(file.path).name]
    assert (file.name, file.mime, file.size) == ("sales.png", "image/png", drawn[0].stat().st_size)
