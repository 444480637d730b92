"""“Why?” on each platform, by its own kind of form, with the program killed before, while and after the agent answers."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from tests.contract.adapters.rig import OnScreen
from tests.faults.channels.forms import send
from tests.faults.channels.rounds import each_point_somewhere, rig_of, shown
from tests.faults.program import PATIENCE, Kill, living, until
from tests.faults.stage import Rows, stage

ANSWER = "You asked me"


@pytest.mark.timeout(180)  # seconds; about ten where nothing else runs
@pytest.mark.parametrize(
    ("kind", "point"), each_point_somewhere(["answer-kept", "answer-begun", "accepted", "answer-made"], most=2)
)
async def test_the_agents_answer_comes_beneath_the_card_once_and_the_call_waits(
    kind: str, point: str, tmp_path: Path
) -> None:
    plan = [Kill(point, 2 if point == "accepted" else 1)] if point else []
    async with stage(tmp_path, kind) as on, living(on.program, plan):
        rig = rig_of(on)
        await on.until_connected()
        place = rig.rooms().direct
        assert place
        await rig.say(place, "write hello to first.txt")
        [card] = await shown(rig, place, 1)
        await send(rig, place, card, "Why?", {"question": "What is it for?"}, "Your question:")
        rows = Rows(on.program.data / "signalbox.db")

        async def answered() -> bool | None:
            return rows.select("SELECT count(*) FROM audit WHERE kind = 'asked back answered'") == [(1,)] or None

        await until(answered, "the answer")
        if plan:
            await asyncio.wait_for(on.program.spent.wait(), PATIENCE)
        await on.until_connected()

        async def beneath() -> OnScreen | None:
            first = (await rig.visible(place))[0]
            return first if ANSWER in first.text else None

        first = await until(beneath, "the answer beneath the card")
        assert first.text.count("What is it for?") == 1
        assert first.text.count(ANSWER) == 1
        assert rows.select("SELECT state FROM approvals") == [("pending",)]
        assert rows.select("SELECT count(*) FROM asked_back") == [(0,)]
        await rig.click(place, first, "Approve")
        files = on.program.data / "workspaces"

        async def written() -> bool | None:
            return [path.read_text() for path in files.glob("*/first.txt")] == ["hello"] or None

        await until(written, "the approved call")
        await on.until_quiet()
        assert ANSWER in (await rig.visible(place))[0].text
        assert rows.disagreements() == []
        await on.program.leave()
