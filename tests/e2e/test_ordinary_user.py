"""The program as an ordinary user: everything works without root, and it leaves when it is asked to."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Iterator
from uuid import uuid4

import psutil
import pytest

from tests.e2e import ordinary
from tests.e2e.conftest import not_here
from tests.e2e.house import House
from tests.e2e.visitor import Visitor, until, visiting

pytestmark = [pytest.mark.xdist_group("e2e-ordinary"), pytest.mark.timeout(120)]

OURS = ordinary.UID if os.geteuid() == 0 else os.geteuid()


@pytest.fixture(scope="module")
def house(tmp_path_factory: pytest.TempPathFactory) -> Iterator[House]:
    """Runs until the last test asks it to leave."""
    folder = tmp_path_factory.mktemp("house")
    house = House(folder, '[web]\nport = 0\n[log]\nlevel = "warning"\n', command=ordinary.command(folder))
    ordinary.give_away(folder)
    house.start()
    try:
        yield house
    finally:
        house.kill()


async def test_asked_to_leave_in_the_middle_it_ends_in_time_and_loses_nothing(house: House) -> None:
    room = uuid4().hex
    async with visiting(house.link) as owner:
        approval = await owner.question(room, "run: sleep 2; echo done")
        await owner.click(room, approval, "approve")
        await owner.say(room, "and then this")
        assert house.leave() == 0
        house.start()
        replies = await owner.told(room)
        assert any("done" in reply or "sandbox" in reply for reply in replies)
        await until(lambda: _answered(owner, room), "answers to all")


async def test_an_ordinary_user_talks_approves_and_leaves(house: House) -> None:
    assert psutil.Process(house.process.pid).uids().effective == OURS
    checks = {found["id"]: found for found in json.loads(house.command("doctor", "--json").stdout)["findings"]}
    room = uuid4().hex
    async with visiting(house.link) as owner:
        assert "Files in" in await owner.ask(room, "list the files")
        approval = await owner.question(room, "write by me to notes/mine.txt")
        await owner.click(room, approval, "approve")
        await owner.told(room, 2)
        approval = await owner.question(room, "run: id -u; cat notes/mine.txt; touch notes/made")
        await owner.click(room, approval, "approve")
        replies = await owner.told(room, 3)
    asked = house.command("ask", "list the files")
    assert (asked.returncode, asked.stderr) == (0, "")
    strangers = [place for place in house.data.rglob("*") if place.lstat().st_uid != OURS]
    assert strangers == []
    began = time.monotonic()
    assert house.leave() == 0
    assert time.monotonic() - began < 10
    assert house.log() == "" or "sandbox" in house.log()
    if checks["sandbox.works"]["level"] != "ok":
        assert "nothing runs without a sandbox" in replies[2]
        not_here(checks["sandbox.works"]["what"])
    assert "by me" in replies[2]


async def _answered(visitor: Visitor, room: str) -> bool | None:
    """Whether each message of a person is answered."""
    return all(entry["answered"] for entry in await visitor.entries(room) if entry["author"] == "person") or None
