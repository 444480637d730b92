"""What a service manager hears: the words of sd_notify(3) on a real socket."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from uuid import uuid4

import pytest
from structlog.testing import capture_logs

from bot.node.service_manager import Manager, manager_of

PID = 4711


class Ear:
    """The manager's end of the socket, at a path or under an abstract name."""

    def __init__(self, address: str) -> None:
        self.address = address
        self._socket = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self._socket.bind(f"\0{address[1:]}" if address.startswith("@") else address)
        self._socket.settimeout(10)

    def words(self) -> list[str]:
        return self._socket.recv(4096).decode().split("\n")

    def close(self) -> None:
        self._socket.close()


@pytest.fixture(params=["path", "abstract"])
def ear(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Ear]:
    made = Ear(str(tmp_path / "notify") if request.param == "path" else f"@signalbox-{uuid4().hex}")
    yield made
    made.close()


def test_each_word_is_one_datagram(ear: Ear) -> None:
    manager = Manager(ear.address)
    manager.ready("Ready at\nhttp://127.0.0.1:8080")
    assert ear.words() == ["READY=1", "STATUS=Ready at http://127.0.0.1:8080"]  # a line break would be another word
    manager.reloading()
    word, stamp = ear.words()
    assert word == "RELOADING=1"
    assert stamp.removeprefix("MONOTONIC_USEC=").isdecimal()
    manager.stopping()
    assert ear.words() == ["STOPPING=1", "STATUS=Draining"]


async def test_signs_of_life_come_as_long_as_the_loop_turns(ear: Ear) -> None:
    watch = asyncio.ensure_future(Manager(ear.address, timedelta(milliseconds=30)).keep_watch())
    for _ in range(3):
        assert await asyncio.to_thread(ear.words) == ["WATCHDOG=1"]
    watch.cancel()


@pytest.mark.parametrize("manager", [Manager(), Manager(patience=timedelta(seconds=1)), Manager("@nobody")])
async def test_without_a_manager_or_its_watchdog_there_is_no_loop(manager: Manager) -> None:
    async with asyncio.timeout(30):
        await manager.keep_watch()


def test_without_a_manager_nothing_is_said() -> None:
    with capture_logs() as told:
        Manager().ready("well")
    assert told == []


def test_a_manager_that_is_gone_is_logged_and_stops_nothing(tmp_path: Path) -> None:
    with capture_logs() as told:
        Manager(str(tmp_path / "gone")).ready("well")
    assert [line["event"] for line in told] == ["the service manager was not told"]
    assert told[0]["socket"] == str(tmp_path / "gone")


@pytest.mark.parametrize(
    ("variables", "patience"),
    [
        ({}, None),
        ({"WATCHDOG_USEC": "60000000"}, 60),
        ({"WATCHDOG_USEC": "60000000", "WATCHDOG_PID": str(PID)}, 60),
        ({"WATCHDOG_USEC": "60000000", "WATCHDOG_PID": "1"}, None),  # a parent's, whose variables we inherited
        ({"WATCHDOG_USEC": "0"}, None),
        ({"WATCHDOG_USEC": "soon"}, None),
    ],
)
def test_the_watchdog_is_ours_only_if_it_says_so(variables: dict[str, str], patience: float | None) -> None:
    found = manager_of({"NOTIFY_SOCKET": "/run/notify", **variables}, PID)
    assert found.address == "/run/notify"
    assert found.patience == (timedelta(seconds=patience) if patience else None)
