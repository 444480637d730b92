"""The database is removed or replaced under a process: it is told, nothing more is taken in, and a backup saves it (scenario 69)."""

from __future__ import annotations

import asyncio
import os
import shutil
import time
from collections.abc import Callable
from pathlib import Path
from typing import Final

import pytest

from bot.backup.make import make
from bot.doctor.examine import examine
from runtime.contract import Level
from tests.faults.app import settings_of
from tests.faults.program import until
from tests.lab.node import Node
from tests.lab.stage import Lab, lab

pytestmark = pytest.mark.timeout(120)

TOLD_WITHIN: Final = 5.0  # seconds; source: lab.md
SLACK: Final = 10.0  # seconds more for a busy machine


def removed(database: Path) -> None:
    database.unlink()


def replaced(database: Path) -> None:
    fresh = database.with_name("another.db")
    shutil.copy(database, fresh)
    fresh.replace(database)


def without_its_log(database: Path) -> None:
    database.with_name(f"{database.name}-wal").unlink()


def folder_moved(database: Path) -> None:
    database.parent.rename(database.parent.with_name("moved"))


LOSSES: Final = [removed, replaced, without_its_log, folder_moved]


async def until_told(node: Node) -> float:
    """How many seconds it took to say that the store is lost."""
    began = time.monotonic()

    async def look() -> bool | None:
        health = await node.health()
        return (health.ready == 503 and "signalbox backup" in health.reasons.get("store", "")) or None

    await until(look, f"a word about the database\n{node.log()}", TOLD_WITHIN + SLACK)
    return time.monotonic() - began


async def answered_before(on: Lab) -> None:
    await on.nodes[0].until_ready()
    room = on.rig.places(1)[0]
    await on.answered(room)


@pytest.mark.parametrize("loss", [removed, *(pytest.param(one, marks=pytest.mark.soak) for one in LOSSES[1:])])
async def test_a_lost_database_is_told_and_nothing_more_is_taken_in(
    tmp_path: Path, loss: Callable[[Path], None], tell: Callable[[str], None]
) -> None:
    async with lab(tmp_path, None) as on:
        (node,) = on.nodes
        await answered_before(on)
        loss(node.data / "signalbox.db")
        took = await until_told(node)
        room = on.rig.places(1)[0]
        refused = await on.say(room)
        await asyncio.sleep(2)
        assert not await on.is_shown(room, refused)
        assert "the database is lost" in node.log()
        assert '"level":"error"' in node.log()
        settings = settings_of(node.data, {})
        told = [finding async for finding in examine(settings) if finding.level is Level.ERROR]
        assert any("signalbox backup" in finding.fix + finding.what for finding in told)
        made = await make(settings, tmp_path / "saved.backup")
        assert made.manifest.tables["signals"].rows == 1
        assert not list(node.data.glob("saved-*"))
        end = await node.leave()
        assert end["code"] == 0
    tell(f"{loss.__name__}: told within {took:.1f} s")


@pytest.mark.soak  # the campaign's outage "unlink" does the same, with work in flight
async def test_a_database_that_comes_back_is_worked_with_again(tmp_path: Path) -> None:
    async with lab(tmp_path, None) as on:
        (node,) = on.nodes
        await answered_before(on)
        files = [path for path in node.data.iterdir() if path.name.startswith("signalbox.db")]
        away = tmp_path / "away"
        away.mkdir()
        for path in files:
            os.link(path, away / path.name)
            path.unlink()
        await until_told(node)
        room = on.rig.places(1)[0]
        waiting = await on.say(room)
        for path in files:
            (away / path.name).rename(path)
        await node.until_ready()
        await on.until_shown(room, waiting)
        await on.judged()
