"""The doctor over the settings of a node: `python -m tests.lab.examined --data DIR …` prints what it finds as JSON."""

from __future__ import annotations

import asyncio
import json
import sys

from bot.doctor.examine import examine
from tests.faults.app import settings_of
from tests.lab.app import given


async def examined() -> None:
    told = given()
    settings = settings_of(told.data, dict(told.set))
    found = [{"id": one.id, "level": one.level, "what": one.what} async for one in examine(settings)]
    sys.stdout.write(f"\n{json.dumps(found)}")  # log lines may stand before it


if __name__ == "__main__":
    asyncio.run(examined())
