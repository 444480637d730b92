"""“Edit…” on each platform, by its own kind of form, with the program killed while it counts and while it runs."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from tests.faults.channels.forms import send
from tests.faults.channels.rounds import each_point_somewhere, rig_of, shown
from tests.faults.program import PATIENCE, Kill, living, until
from tests.faults.stage import Rows, Stage, stage

FIRST, CHANGED = "first", "changed"


def notes(data: Path, name: str) -> list[str]:
    return [path.read_text() for path in (data / "workspaces").glob(f"*/{name}.txt")]


async def back(on: Stage) -> None:
    """After every planned kill, and all that was left to do."""
    await asyncio.wait_for(on.program.spent.wait(), PATIENCE)
    await on.until_connected()
    await on.until_quiet()


@pytest.mark.timeout(180)  # seconds; about ten where nothing else runs
@pytest.mark.parametrize(("kind", "point"), each_point_somewhere(["approval-decided", "claimed"]))
async def test_the_changed_call_runs_once_and_the_one_asked_about_never(kind: str, point: str, tmp_path: Path) -> None:
    plan = [Kill(point)] if point else []
    async with stage(tmp_path, kind) as on, living(on.program, plan):
        rig = rig_of(on)
        await on.until_connected()
        place = rig.rooms().direct
        assert place
        await rig.say(place, f"write hello to {FIRST}.txt")
        [card] = await shown(rig, place, 1)
        asks = f'"path": "{FIRST}.txt"'
        await send(rig, place, card, "Edit…", {"arguments": "[]"}, asks)  # no call: said in the form, nothing else
        rows = Rows(on.program.data / "signalbox.db")

        async def refused() -> bool | None:
            return (
                bool(rows.select("SELECT 1 FROM audit WHERE kind = 'click refused'")) or None
            )  # perhaps sent once more

        await until(refused, "the refusal")
        assert rows.select("SELECT state, asked_arguments FROM approvals") == [("pending", "")]
        arguments = f'{{"path": "{CHANGED}.txt", "content": "bye"}}'
        await send(rig, place, card, "Edit…", {"arguments": arguments}, asks)

        async def decided() -> bool | None:
            return rows.select("SELECT state FROM approvals") == [("approved",)] or None

        await until(decided, "the decision")
        await back(on)
        assert on.program.kills == plan
        assert (notes(on.program.data, FIRST), notes(on.program.data, CHANGED)) == ([], ["bye"])
        [first, *_] = await rig.visible(place)
        assert "Asked:" in first.text
        assert "Runs:" in first.text
        assert rows.select("SELECT count(*) FROM audit WHERE kind = 'approval edited'") == [(1,)]
        assert rows.select("SELECT count(*) FROM audit WHERE kind = 'tool ran'") == [(1,)]
        assert rows.disagreements() == []
        await on.program.leave()
