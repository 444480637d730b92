"""Disks fill up and files change under the program: it is told within seconds, leaves in peace, and keeps what it accepted.

Files that are removed or replaced: `test_lost_database`.
"""

from __future__ import annotations

import asyncio
import random
import sqlite3
import tempfile
import time
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any, Final

import pytest

from tests.fakes.postgres import Postgres
from tests.faults.program import until
from tests.lab.disks import small_disk
from tests.lab.node import Node
from tests.lab.stage import SEED, Lab, lab

pytestmark = [pytest.mark.soak, pytest.mark.timeout(240)]

TOLD_WITHIN: Final = 5.0  # seconds; source: docs/promises.md
SLACK: Final = 10.0  # seconds more for a busy machine
LEAVES_WITHIN: Final = 10.0
BUSY: Final = 2
SERVER_MIB: Final = 256
LOUD: Final[dict[str, Any]] = {"log.level": "debug"}


async def told(node: Node, words: str) -> float:
    """How many seconds it took to be not ready, with these words."""
    began = time.monotonic()

    async def look() -> bool | None:
        health = await node.health()
        return (health.ready == 503 and any(words in reason for reason in health.reasons.values())) or None

    await until(look, f"{words!r} among the reasons\n{node.log()}", TOLD_WITHIN + SLACK)
    return time.monotonic() - began


@pytest.mark.parametrize("leaves", [False, True], ids=["freed", "left"])
async def test_a_disk_that_is_full_is_told_and_nothing_that_was_accepted_is_lost(
    tmp_path: Path, leaves: bool, tell: Callable[[str], None]
) -> None:
    """Data and database share a disk. With `left` the process is asked to go while it is full, and started anew."""
    with small_disk(tmp_path / "node0") as disk:
        async with lab(tmp_path, None, think=1.5) as on:
            (node,) = on.nodes
            await node.until_ready()
            direct, apart = on.rig.rooms().direct, on.rig.rooms().apart
            assert apart
            await on.answered(direct)
            accepted = await on.say(direct)
            await on.until_at_work()
            disk.fill()
            took = await told(node, "full")
            refused = await on.say(apart)
            await asyncio.sleep(3)
            assert "the store is in trouble" in node.log()
            if leaves:
                end = await node.leave()
                assert end["code"] == 0
                assert end["seconds"] < LEAVES_WITHIN * BUSY
                disk.free()
                await node.start()
            else:
                disk.free()
            await node.until_ready()
            await on.until_shown(direct, accepted)
            await on.until_shown(apart, refused)
            await on.judged()
    tell(f"a full disk was told within {took:.1f} s")


async def test_a_log_on_a_full_disk_is_lost_and_nothing_else(tmp_path: Path) -> None:
    with small_disk(tmp_path / "logs", mib=1) as disk:
        (tmp_path / "node0.log").symlink_to(disk.path / "log")
        async with lab(tmp_path, None, **LOUD) as on:
            (node,) = on.nodes
            await node.until_ready()
            disk.fill()
            for place in on.rig.places(5):
                await on.answered(place)
            disk.free()
            await on.answered(on.rig.places(1)[0])
            await on.judged()


async def test_workspaces_on_a_full_disk_fail_the_tool_and_nobody_else(tmp_path: Path) -> None:
    with small_disk(tmp_path / "small") as disk:
        async with lab(
            tmp_path, None, workspace_dir=str(disk.path / "workspaces"), policy=[{"tool": "*", "result": "allow"}]
        ) as on:
            (node,) = on.nodes
            await node.until_ready()
            room = on.rig.rooms().direct
            await on.answered(room)
            disk.fill()
            await on.rig.say(room, "write hello to notes.txt")

            async def said() -> bool | None:
                texts = [message.text for message in await on.rig.visible(room)]
                return any("disk" in text or "space" in text for text in texts) or None

            await until(said, "a word about the disk where the person is")
            await on.answered(room)
            assert (await node.health()).ready == 200
            disk.free()
            await on.judged()


async def test_a_servers_full_disk_is_told_and_nothing_that_was_accepted_is_lost(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, tell: Callable[[str], None]
) -> None:
    with tempfile.TemporaryDirectory() as folder, small_disk(Path(folder), SERVER_MIB, "755") as disk:
        monkeypatch.setattr(tempfile, "tempdir", str(disk.path))
        server = Postgres()
        monkeypatch.undo()
        with server:
            async with lab(tmp_path, server) as on:
                for node in on.nodes:
                    await node.until_ready()
                await on.answered(on.rig.places(1)[0])
                disk.fill()
                waiting = [(place, await on.say(place)) for place in on.rig.places(200)]
                took = min([await told(node, "disk") for node in on.nodes])
                await asyncio.sleep(3)
                disk.free()
                if not is_up(server):
                    await asyncio.to_thread(server.start)
                for node in on.nodes:
                    await node.until_ready()
                for place, token in waiting:
                    await on.until_shown(place, token)
                await on.judged()
    tell(f"a full disk of the server was told {took:.1f} s after 200 messages")


def is_up(server: Postgres) -> bool:
    assert server._process
    return server._process.poll() is None


# ---------------------------------------------------------------------------------------------- files that change


async def test_a_database_whose_mode_changes_is_worked_with_as_before(tmp_path: Path) -> None:
    """Rights are looked at when a file is opened."""
    async with lab(tmp_path, None) as on:
        (node,) = on.nodes
        await node.until_ready()
        room = on.rig.rooms().direct
        await on.answered(room)
        for path in node.data.glob("signalbox.db*"):
            path.chmod(0o000)
        await on.answered(room)
        assert (await node.health()).ready == 200
        await on.judged()


async def test_a_damaged_page_is_told_and_the_process_can_leave(tmp_path: Path, tell: Callable[[str], None]) -> None:
    """Every page but the first is overwritten, and the process is made to read them again."""
    async with lab(tmp_path, None) as on:
        (node,) = on.nodes
        await node.until_ready()
        await on.answered(on.rig.places(1)[0])
        damage(node.data / "signalbox.db")
        took = await until_damage_is_told(on, node)
        assert '"level":"error"' in node.log() or '"level":"warning"' in node.log()
        end = await node.leave()
        assert end["code"] == 0
        assert end["seconds"] < LEAVES_WITHIN * BUSY
    tell(f"damage was told {took:.1f} s after it was met")


def damage(database: Path) -> None:
    with closing(sqlite3.connect(database, isolation_level=None)) as raw:
        raw.execute("PRAGMA wal_checkpoint(PASSIVE)")
        (size,) = raw.execute("PRAGMA page_size").fetchone()
    chance = random.Random(SEED)
    with database.open("r+b") as file:
        pages = file.seek(0, 2) // size
        for page in range(1, pages):
            file.seek(page * size)
            file.write(chance.randbytes(size))
    with closing(sqlite3.connect(database)) as raw:  # whoever has pages in memory is told that the file has changed
        raw.execute("PRAGMA user_version = 7")
        raw.commit()


async def until_damage_is_told(on: Lab, node: Node) -> float:
    for place in on.rig.places(3):
        await on.say(place)
    return await told(node, "damaged")
