"""Nobody else on the machine reads what is in the data folder."""

from __future__ import annotations

import os
from pathlib import Path
from uuid import uuid4

import pytest

from bot.node.lock import holding
from bot.node.private_files import open_to_others
from tests.e2e.conftest import not_here
from tests.e2e.house import House, open_house
from tests.e2e.visitor import visiting


@pytest.fixture
def open_data(tmp_path: Path) -> Path:
    """A data folder that was there before, open to everybody, with files of an earlier program."""
    data = tmp_path / "var"
    data.mkdir(mode=0o755)
    data.chmod(0o755)
    for name in ("signalbox.db", "audit.head", "audit.key"):
        (data / name).touch(mode=0o644)
        (data / name).chmod(0o644)
    (data / "workspaces").mkdir()
    (data / "link").symlink_to("/etc/hostname")
    return data


def test_what_others_could_read_they_cannot_from_the_next_start_on(open_data: Path) -> None:
    assert [path.name for path in open_to_others(open_data)] == ["audit.head", "audit.key", "signalbox.db"]
    with holding(open_data):
        assert open_to_others(open_data) == []
        assert (open_data / "signalbox.db").stat().st_mode & 0o777 == 0o600


def test_a_folder_that_is_not_there_has_nothing_to_read(tmp_path: Path) -> None:
    assert open_to_others(tmp_path / "none") == []


@pytest.mark.timeout(120)
def test_in_an_open_folder_every_file_is_ours_alone(tmp_path: Path) -> None:
    (tmp_path / "var").mkdir()
    (tmp_path / "var").chmod(0o755)
    before = os.umask(0o022)
    try:
        with open_house(tmp_path, "[web]\nport = 0\n") as house:
            house.command("ask", "hello")
            assert open_to_others(house.data) == []
            doctor(house, "")
            (house.data / "signalbox.db").chmod(0o644)
            doctor(house, "signalbox.db")
    finally:
        os.umask(before)


def doctor(house: House, exposed: str) -> None:
    told = house.command("doctor").stdout
    assert ("other users of this machine" in told) is bool(exposed)
    assert exposed in told


@pytest.mark.timeout(120)
async def test_commands_still_read_what_the_program_wrote(tmp_path: Path) -> None:
    """As root they run as another user. Of an ordinary user `test_ordinary_user` tells."""
    with open_house(tmp_path, "[web]\nport = 0\n") as house:
        room = uuid4().hex
        async with visiting(house.link) as owner:
            await owner.click(room, await owner.question(room, "write by me to notes/mine.txt"), "approve")
            await owner.told(room, 1)
            await owner.click(room, await owner.question(room, "run: cat notes/mine.txt; touch notes/made"), "approve")
            told = (await owner.told(room, 2))[1]
    if "nothing runs without a sandbox" in told:
        not_here(told)
    assert "by me" in told
    assert "denied" not in told
