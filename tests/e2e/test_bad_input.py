"""Bad input and a bad world: each is a clear error where the person is, nothing is lost, and no operator sees a traceback."""

from __future__ import annotations

import asyncio
import json
import os
import resource
import socket
import sqlite3
import subprocess
from collections.abc import AsyncIterator, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager
from io import BytesIO
from pathlib import Path
from typing import Any, Final
from uuid import uuid4

import aiohttp
import pytest

from tests.e2e import ordinary
from tests.e2e.conftest import not_here
from tests.e2e.house import House, open_house
from tests.e2e.visitor import Visitor, until, visiting

pytestmark = [pytest.mark.xdist_group("e2e-bad-input"), pytest.mark.timeout(120)]

FAILED, WRONG_USE = 1, 2


@pytest.fixture
def room() -> str:
    return uuid4().hex


# ---------------------------------------------------------------------------------------------------------- settings


def refused_start(folder: Path, settings: str, *, code: int) -> str:
    """What the operator reads when it does not start: words of ours, and all of them."""
    ended = House(folder, settings).command("run", "--port", "0")
    assert ended.returncode == code, ended.stderr
    assert ended.stdout == ""
    assert ended.stderr.startswith("signalbox: ")
    return ended.stderr


@pytest.mark.parametrize(
    ("settings", "line"),
    [("[web\nport = 1\n", 1), ("data_dir = var\n", 1), ("[web]\nport = 1\nport = 2\n", 3)],
)
def test_broken_toml_names_the_file_and_the_line(tmp_path: Path, settings: str, line: int) -> None:
    told = refused_start(tmp_path, settings, code=WRONG_USE)
    assert f"signalbox.toml:{line}:" in told


def test_a_settings_file_that_is_no_text_is_told(tmp_path: Path) -> None:
    (tmp_path / "other.toml").write_bytes(b"[web]\nhost = '\xff\xfe'\n")
    ended = House(tmp_path).command("run", "--config", "other.toml")
    assert ended.returncode == WRONG_USE
    assert "other.toml" in ended.stderr


@pytest.mark.parametrize(
    ("settings", "nearest"),
    [
        ("[web]\nprot = 1\n", "web.port"),
        ("[modle]\nname = 'x'\n", "model"),
        ("[tools.shell]\nsandbx = 'auto'\n", "tools.shell.sandbox"),
        ("token = 'x'\n", "web.token"),
    ],
)
def test_an_unknown_key_names_the_nearest_known_one(tmp_path: Path, settings: str, nearest: str) -> None:
    assert f"did you mean {nearest}?" in refused_start(tmp_path, settings, code=WRONG_USE)


def test_all_faults_are_told_at_once_and_no_secret_with_them(tmp_path: Path) -> None:
    settings = (
        "[web]\nhosts = 7\ntoken = 12345678\n[run]\nmax_iterations = 'many'\n"
        "[access]\ndefault = 'open'\n[[policy]]\ntool = 'shell'\nresult = 'maybe'\n[sesions]\nbusy = 'x'\n"
    )
    told = refused_start(tmp_path, settings, code=WRONG_USE)
    for name in ("web.hosts", "web.token", "run.max_iterations", "access.default", "policy", "sessions"):
        assert name in told
    assert "6 settings" in told
    assert "12345678" not in told


# ------------------------------------------------------------------------------------------------------ the database


@pytest.fixture(scope="module")
def used(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The database of an installation that answered something."""
    house = House(tmp_path_factory.mktemp("used"))
    assert house.command("ask", "hello").returncode == 0
    return house.data / "signalbox.db"


def copied(used: Path, folder: Path) -> Path:
    (folder / "var").mkdir()
    copy = folder / "var" / "signalbox.db"
    with closing(sqlite3.connect(used)) as source, closing(sqlite3.connect(copy)) as target:
        source.backup(target)
    return copy


def test_a_database_newer_than_the_program_is_left_alone(tmp_path: Path, used: Path) -> None:
    with closing(sqlite3.connect(copied(used, tmp_path))) as database:
        database.execute("UPDATE alembic_version SET version_num = 'from-the-future'")
        database.commit()
    assert "newer than this program" in refused_start(tmp_path, "", code=FAILED)


def test_a_file_that_is_no_database_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "var").mkdir()
    (tmp_path / "var" / "signalbox.db").write_bytes(b"this is no database at all" * 100)
    assert "not a sound SQLite database" in refused_start(tmp_path, "", code=FAILED)
    assert (tmp_path / "var" / "signalbox.db").read_bytes().startswith(b"this is no database")


@pytest.mark.parametrize("shut", ["folder", "file"])
def test_a_read_only_place_is_told(tmp_path: Path, used: Path, shut: str) -> None:
    file = copied(used, tmp_path)
    house = House(tmp_path, command=ordinary.command(tmp_path))
    ordinary.give_away(tmp_path)
    (file if shut == "file" else file.parent).chmod(0o400 if shut == "file" else 0o500)
    ended = house.command("run", "--port", "0")
    file.parent.chmod(0o700)
    assert ended.returncode == FAILED
    assert ended.stderr.splitlines()[-1].startswith("signalbox: ")  # the log may have told it before
    assert ("read-only" if shut == "file" else "cannot be written") in ended.stderr
    assert str(file if shut == "file" else file.parent) in ended.stderr


def test_a_place_where_no_folder_can_be_is_told(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    told = refused_start(tmp_path, 'data_dir = "file/var"\n', code=FAILED)
    assert "data_dir" in told


def test_a_second_process_is_told_who_was_first(tmp_path: Path) -> None:
    with open_house(tmp_path) as house:
        ended = house.command("run", "--port", "0")
        assert ended.returncode == WRONG_USE
        assert f"process {house.process.pid}" in ended.stderr
        assert "data_dir" in ended.stderr


def test_questions_asked_at_once_where_nothing_runs_are_all_answered(tmp_path: Path) -> None:
    house = House(tmp_path)
    with ThreadPoolExecutor() as pool:
        asked = list(pool.map(lambda number: house.command("ask", f"question {number}"), range(3)))
    assert [(ended.returncode, ended.stderr) for ended in asked] == [(0, "")] * 3
    assert [ended.stdout.count(f"question {number}") for number, ended in enumerate(asked)] == [1] * 3


@contextmanager
def locked(file: Path) -> Iterator[None]:
    """Another program writes to the database and does not come to an end."""
    with closing(sqlite3.connect(file, isolation_level=None)) as database:
        database.execute("BEGIN IMMEDIATE")
        yield


def test_a_database_that_another_program_locks_is_told_at_the_start(tmp_path: Path, used: Path) -> None:
    with locked(copied(used, tmp_path)):
        assert "locked by another program" in refused_start(tmp_path, "", code=FAILED)


async def test_while_another_program_locks_the_database_nothing_is_taken_in_and_nothing_lost(
    tmp_path: Path, room: str
) -> None:
    with open_house(tmp_path) as house:
        async with visiting(house.link) as owner:
            assert "first" in await owner.ask(room, "the first")
            with locked(house.data / "signalbox.db"):
                refusal = await owner.post(f"/api/rooms/{room}/messages", {"id": uuid4().hex, "text": "the second"})
                assert refusal.status == 503
                assert "Try again" in refusal.error
                assert len(await owner.entries(room)) == 2  # what was said before can be read meanwhile
            assert "third" in await _again(owner, room, "the third")
            assert [text for text in await owner.replies(room) if "second" in text] == []
        assert "locked by another program" in house.log()
        assert "Traceback" not in house.log()


async def _again(visitor: Visitor, room: str, text: str) -> str:
    """Say `text` as the page does, again with the same id until it is taken in; the reply to it."""
    event, before = uuid4().hex, len(await visitor.replies(room))

    async def say() -> bool | None:
        answer = await visitor.post(f"/api/rooms/{room}/messages", {"id": event, "text": text})
        return True if answer.status == 202 else None

    await until(say, "a store that takes messages again")
    return (await visitor.told(room, before + 1))[-1]


# ------------------------------------------------------------------------------------------------------- a full disk


async def _survives(house: House, room: str, *, fill: Any, make_room: Any) -> None:
    """Until the disk is full, then with no room, then with room again: always clear, never lost, never restarted."""
    async with visiting(house.link) as owner:
        assert "before" in await owner.ask(room, "before")
        pid = house.process.pid
        fill()
        accepted = 0

        async def refusal() -> str | None:
            nonlocal accepted
            text = f"tight {accepted} " + "x" * 50_000  # little ones may still fit into what the database holds
            answer = await owner.post(f"/api/rooms/{room}/messages", {"id": uuid4().hex, "text": text})
            accepted += answer.status == 202
            return answer.error if answer.status == 503 else None

        told = await until(refusal, "a refusal")
        assert "I can't accept this: the disk is full" in told
        assert "Try again" in told
        await until(lambda: _not_ready(owner), "a readiness that tells")
        assert "full or failing" in str((await owner.get("/readyz")).body["reasons"]["store"])
        await asyncio.sleep(2)  # of a full disk, with heartbeats and all else that writes
        assert any("before" in entry.get("text", "") for entry in await owner.entries(room))
        make_room()
        assert "after" in await _again(owner, room, "after")
        await until(lambda: _all_answered(owner, room, 2 + accepted), "answers to all that was accepted")
        assert (house.process.pid, house.process.poll()) == (pid, None)
        await until(lambda: _ready(owner), "readiness")
    assert_told_once(house, "full or failing")
    assert house.leave() == 0
    assert house.command("audit", "verify").returncode == 0


def assert_told_once(house: House, reason: str) -> None:
    """A trouble of the store is one line when it begins and one when it ends, whatever wants to write meanwhile."""
    lines = [line for line in house.log().splitlines() if "was not taken in" not in line]
    assert reason in house.log()
    assert "Traceback" not in house.log()
    assert len([line for line in lines if "the store is in trouble" in line]) == 1
    assert len([line for line in lines if "the store works again" in line]) == 1
    assert len([line for line in lines if reason in line]) <= 3  # what was under way tells that it is interrupted


async def _all_answered(visitor: Visitor, room: str, count: int) -> bool | None:
    said = [entry for entry in await visitor.entries(room) if entry["author"] == "person"]
    assert len(said) == count
    return all(entry["answered"] for entry in said) or None


async def _ready(visitor: Visitor) -> bool | None:
    return (await visitor.get("/readyz")).status == 200 or None


async def _not_ready(visitor: Visitor) -> bool | None:
    return (await visitor.get("/readyz")).status == 503 or None


@contextmanager
def small_disk(folder: Path, size: str) -> Iterator[Path]:
    """A disk of its own, in memory."""
    disk = folder / "disk"
    disk.mkdir()
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", f"size={size}", "none", disk], check=False, capture_output=True
    )
    if mounted.returncode:
        not_here(f"no disk can be mounted here: {mounted.stderr.decode()}")
    try:
        yield disk
    finally:
        subprocess.run(["umount", disk], check=True)


@pytest.mark.skipif(os.geteuid() != 0, reason="only root mounts a small disk")
async def test_a_full_disk_refuses_what_is_new_and_goes_on_when_there_is_room(tmp_path: Path, room: str) -> None:
    with (
        small_disk(tmp_path, "8m") as disk,
        open_house(tmp_path, f'data_dir = "{disk}/var"\n[nodes]\nlease_seconds = 1\n') as house,
    ):
        await _survives(house, room, fill=lambda: _fill(disk), make_room=(disk / "fill").unlink)


def _fill(disk: Path) -> None:
    with (disk / "fill").open("wb", buffering=0) as file:
        while True:
            try:
                file.write(b"x" * 4096)
            except OSError:
                return


async def test_a_limit_on_the_size_of_files_is_as_good_as_a_full_disk(tmp_path: Path, room: str) -> None:
    with open_house(tmp_path, "[nodes]\nlease_seconds = 1\n") as house:

        def limit(size: int) -> None:
            _, hard = resource.prlimit(house.process.pid, resource.RLIMIT_FSIZE)
            resource.prlimit(house.process.pid, resource.RLIMIT_FSIZE, (size, hard))

        fill, make_room = (lambda: limit(1)), (lambda: limit(resource.RLIM_INFINITY))
        await _survives(house, room, fill=fill, make_room=make_room)


@pytest.mark.skipif(os.geteuid() != 0, reason="only root mounts a small disk")
def test_a_disk_without_room_for_the_database_is_told_at_the_start(tmp_path: Path) -> None:
    with small_disk(tmp_path, "64k") as disk:
        assert "full" in refused_start(tmp_path, f'data_dir = "{disk}/var"\n', code=FAILED)


# ------------------------------------------------------------------------------------------------------- over the web


def test_a_port_in_use_names_the_setting_and_the_way_out(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        ended = House(tmp_path).command("run", "--port", str(port))
    assert ended.returncode == WRONG_USE
    assert f"web.port: {port}" in ended.stderr
    assert "--port 0" in ended.stderr


@pytest.fixture(scope="module")
def house(tmp_path_factory: pytest.TempPathFactory) -> Iterator[House]:
    with open_house(tmp_path_factory.mktemp("house")) as house:
        yield house
    assert "Traceback" not in house.log()


@pytest.fixture
async def owner(house: House) -> AsyncIterator[Visitor]:
    async with visiting(house.link) as owner:
        yield owner


MEGABYTES: Final = "x" * 5_000_000


@pytest.mark.parametrize(
    ("body", "status", "words"),
    [
        (json.dumps({"id": "a" * 20, "text": MEGABYTES}).encode(), 413, "too long"),
        (json.dumps({"id": "a" * 20, "text": "x" * 200_000}).encode(), 413, "100,000 characters"),
        (b'{"id": "aaaaaaaaaaaa", "text": "caf\xe9"}', 400, "not valid UTF-8 (at byte 35)"),
        (b'{"id": "aaaaaaaaaaaa", "text": "\\ud800"}', 400, "not valid Unicode"),
        (b'{"id": "aaaaaaaaaaaa", "text": "half', 400, "not valid JSON"),
        (b"[" * 100_000, 400, "not valid JSON"),
        (b'["text"]', 400, "JSON object"),
        (b'{"id": "aaaaaaaaaaaa", "text": "  "}', 400, "empty"),
        (b'{"id": "aaaaaaaaaaaa", "text": 5}', 400, "must be text"),
        (b'{"text": "who am I"}', 400, "`id`"),
        (b"", 400, "not valid JSON"),
    ],
    ids=lambda value: str(value)[:24] if isinstance(value, bytes) else None,
)
async def test_a_message_that_is_none_is_told_and_not_stored(
    owner: Visitor, room: str, body: bytes, status: int, words: str
) -> None:
    headers = {"Origin": owner.url, "Content-Type": "application/json"}
    url = f"{owner.url}/api/rooms/{room}/messages"
    async with owner.http.post(url, data=BytesIO(body), headers=headers) as answer:
        assert answer.status == status
        assert words in (await answer.json())["error"]
    assert await owner.entries(room) == []


async def test_what_is_no_text_is_told_from_a_terminal_too(house: House) -> None:
    ended = house.command("ask", "-", said=MEGABYTES)
    assert ended.returncode == FAILED
    assert "too long" in ended.stderr
    assert house.command("ask", "-", said=b"caf\xe9").returncode == 0


async def test_a_file_that_is_too_large_is_told_and_leaves_nothing(tmp_path: Path, room: str) -> None:
    with open_house(tmp_path, "[web]\nupload_mib = 0.5\n") as house:
        async with visiting(house.link) as owner:
            form = aiohttp.FormData()
            form.add_field("file", b"x" * 1_000_000, filename="large.bin")
            headers = {"Origin": owner.url, "X-Signalbox": "1"}
            async with owner.http.post(f"{owner.url}/api/rooms/{room}/files", data=form, headers=headers) as answer:
                assert answer.status == 413
                assert "0.5 MiB" in (await answer.json())["error"]
            assert (await owner.get(f"/api/rooms/{room}/files")).body["files"] == []


async def test_a_wrong_control_token_is_told(house: House) -> None:
    async with aiohttp.ClientSession(headers={"Authorization": "Bearer wrong"}) as http:
        answer = await Visitor(http, house.url).get("/console/api/runs")
    assert answer.status == 401
    assert "token" in answer.error
