"""“Always…” on each platform, by its own kind of form: what was filled in holds for later calls, and for no others."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.faults.channels.forms import send
from tests.faults.channels.rounds import rig_of, shown, usually_on
from tests.faults.program import living, until
from tests.faults.stage import Rows, stage

THEN = (("git status --short", "done"), ("git status; rm -rf /", "parked"), ("git status", "parked"))
ASKS = "pattern: command = git status"
WANTED = {"pattern": "command = git status *", "uses": "1"}


@pytest.mark.timeout(120)
@usually_on("slack")
async def test_what_was_always_allowed_runs_at_once_until_its_uses_end(kind: str, tmp_path: Path) -> None:
    """Scenarios 25 and 46."""
    async with stage(tmp_path, kind) as on, living(on.program):
        rig = rig_of(on)
        await on.until_connected()
        place = rig.rooms().direct
        assert place
        await rig.say(place, "run: git status")
        [card] = await shown(rig, place, 1)
        await send(rig, place, card, "Always…", {"pattern": "command = *"}, ASKS)  # wider than a dangerous call may be
        await send(rig, place, card, "Always…", WANTED, ASKS)
        rows = Rows(on.program.data / "signalbox.db")

        async def given() -> bool | None:
            return rows.select("SELECT room, uses_left FROM grants") == [(str(place.address), 1)] or None

        await until(given, "the grant")
        await on.until_quiet()  # what is said before that joins the work
        for number, (line, state) in enumerate(THEN, 2):
            await rig.say(place, f"run: {line}")

            async def settled(number: int = number) -> list[tuple[str, ...]] | None:
                found = rows.select("SELECT state FROM runs WHERE state IN ('done', 'parked') ORDER BY id")
                return found if len(found) == number else None

            states = await until(settled, f"the end of {line}")
            assert states[-1] == (state,), line
        assert rows.select("SELECT count(*) FROM audit WHERE kind = 'grant used'") == [(1,)]
        await on.program.leave()
