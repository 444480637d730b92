"""Triggers of the settings in a whole process: what is said in a room begins work in another one."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import Final

from runtime.contract import Address, Said, Signal
from runtime.domain.ids import new_id
from tests.unit.bot.notebook import ADA, running

ROOM: Final = Address("notebook", "notebook-1", "room1")


async def test_words_in_a_room_begin_the_work_of_a_trigger(tmp_path: Path) -> None:
    trigger = {"name": "deploys", "on": "words", "words": ["deploy*"], "prompt": "Tell us who.", "most": 1}
    async with running(tmp_path, ["answer 1.", "Ada deploys."], triggers=[trigger]) as at_work:
        await at_work.app.sink(Signal("notebook-1", new_id(), ADA, "Ada", ROOM, Said("deploying"), datetime.now(UTC)))
        await at_work.notebook.until("answer 1.")
        await at_work.notebook.until("Ada deploys.")
