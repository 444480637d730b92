"""A backup of the program at work, and the life after its restore, as an operator and the people see them."""

from __future__ import annotations

import asyncio
import json
import resource
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from bot.node.lock import control_of
from bot.operator.client import connected
from bot.testing.channel.driver import Driver
from tests.e2e.house import ROOT, House, environment, open_house
from tests.e2e.visitor import Visitor, approval_of, until, visiting
from tests.fakes import forked
from tests.fakes.serve import spawned
from tests.faults.program import Program, living

ROOM = "backuproom"
OTHER = "otherroom"


def wipe(house: House) -> None:
    shutil.rmtree(house.data)


async def backed_up(house: House, name: str = "b.zip", *more: str) -> str:
    told = await asyncio.to_thread(house.command, "backup", name, *more)
    assert told.returncode == 0, told.stderr
    return told.stdout


async def restored(house: House, *more: str) -> str:
    told = await asyncio.to_thread(house.command, "restore", "b.zip", *more)
    assert told.returncode == 0, told.stderr
    return told.stdout


@pytest.mark.timeout(180)  # seconds; about eight where nothing else runs
async def test_a_life_goes_on_from_its_backup(tmp_path: Path) -> None:
    with open_house(tmp_path) as house:
        async with visiting(house.link) as ada:
            assert "hello" in await ada.ask(ROOM, "hello")
            old = await ada.question(OTHER, "write secret plan to plan.txt")
            chatting = asyncio.create_task(chatter(ada))
            assert "rows" in await backed_up(house)
            chatting.cancel()
            await ada.ask(ROOM, "this is lost with the disk")
        house.kill()
        wipe(house)
        told = await restored(house)
        assert "1 question to ask again" in told
        house.start()
        async with visiting(house.link) as ada:
            said = [e["markdown"] for e in await ada.entries(ROOM) if e["author"] == "agent"]
            assert any("hello" in text for text in said)
            assert not any("lost with the disk" in text for text in said)
            await the_question_was_asked_again(ada, old)
            await until(lambda: answered(ada), "the answer")
        files = [path.read_text() for path in house.data.glob("workspaces/*/plan.txt")]
        assert files == ["secret plan"]
        verified = house.command("audit", "verify")
        assert verified.stdout.startswith("The audit chain is intact")


async def chatter(visitor: Visitor) -> None:
    """Traffic while the backup is taken: some, since each is answered anew after the restore."""
    for n in range(10_000):
        await visitor.say(f"chatter{n:04}", f"message {n}")
        await asyncio.sleep(0.05)


async def the_question_was_asked_again(ada: Visitor, old: str) -> None:
    withdrawn, card = await ada.cards(OTHER, 2)
    assert "Withdrawn" in withdrawn["markdown"]
    assert withdrawn["buttons"] == []
    assert "It may already have been answered" in card["markdown"]
    late = await ada.click(OTHER, old, "approve")
    assert late.notice == "This question was withdrawn. It was asked again after a restore."
    first = await ada.click(OTHER, approval_of(card), "approve")
    second = await ada.click(OTHER, approval_of(card), "approve")
    assert (first.body["outcome"], second.body["outcome"]) == ("decided", "unchanged")


async def answered(ada: Visitor) -> list[str] | None:
    return await ada.replies(OTHER) or None


# ----------------------------------------------------------------------------------------------- a platform outside


@pytest.mark.timeout(180)  # seconds; about six where nothing else runs
async def test_what_a_platform_showed_since_the_backup_is_not_shown_again(tmp_path: Path) -> None:
    data = tmp_path / "data"
    data.mkdir(mode=0o711)
    async with spawned("bot.testing.channel.server", "--kind", "lookup", "--journal", str(tmp_path / "journal")) as (
        _,
        url,
    ):
        driver, program = Driver(url), Program(data, "--fake", f"lookup={url}")
        with pytest.raises(RuntimeError, match="left with -9"):
            await a_life_that_is_lost(program, driver)
        texts = (await driver.screen()).texts()
        shutil.rmtree(data)
        assert "1 message to check" in command(tmp_path, "restore", "b.zip")
        again = Program(data, "--fake", f"lookup={url}")
        async with living(again):
            await again.up()
            await driver.say("third", room="r1")
            await until(lambda: shown(driver, 3), "the third answer")
            await again.leave()
        assert (await driver.screen()).texts()[:2] == texts
        assert len((await driver.screen()).texts()) == 3


async def a_life_that_is_lost(program: Program, driver: Driver) -> None:
    """An answer waits for the platform while the backup is taken, is shown after it, and then all is over."""
    async with living(program):
        await program.up()
        await driver.say("first", room="r1")
        await until(lambda: shown(driver, 1), "the first answer")
        await driver.fault("error", count=1000)
        await driver.say("second", room="r1")
        await until(lambda: unsettled(program.data), "an answer that waits for the platform")
        await asyncio.to_thread(command, program.data.parent, "backup", "b.zip")
        await driver.lift()
        await until(lambda: shown(driver, 2), "the second answer")
        program.kill()
        await asyncio.Event().wait()


async def shown(driver: Driver, count: int) -> list[str] | None:
    texts = (await driver.screen()).texts()
    return texts if len(texts) >= count else None


async def unsettled(data: Path) -> object:
    control = control_of(data)
    assert control is not None
    async with connected(control) as client:
        return await client.deliveries(state="open") or None


def command(folder: Path, *arguments: str) -> str:
    given = environment(folder, SIGNALBOX_DATA_DIR=str(folder / "data"))
    ended = forked.run("bot", *arguments, folder=folder, environment=given, seconds=45)
    assert ended.returncode == 0, ended.stderr.decode()
    return ended.stdout.decode()


# --------------------------------------------------------------------------------------------------------- bad input


@pytest.fixture
def backup(tmp_path: Path) -> House:
    """A house at rest, with a backup beside it."""
    house = House(tmp_path).start()
    house.leave()
    assert house.command("backup", "b.zip").returncode == 0
    return house


def refused(house: House, *arguments: str) -> tuple[int, str]:
    told = house.command(*arguments)
    assert told.stderr.count("\n") == 1
    return told.returncode, told.stderr


@pytest.mark.timeout(120)
def test_backups_that_cannot_be_used_are_told_and_nothing_is_touched(backup: House) -> None:
    whole = (backup.folder / "b.zip").read_bytes()
    middle = len(whole) // 2
    damaged = whole[:middle] + bytes([whole[middle] ^ 255]) + whole[middle + 1 :]
    for name, data in {"cut.zip": whole[:-10], "damaged.zip": damaged, "text.zip": b"hello"}.items():
        (backup.folder / name).write_bytes(data)
    wipe(backup)
    faults = {
        "cut.zip": "is truncated, or isn't a Signalbox backup",
        "text.zip": "is truncated, or isn't a Signalbox backup",
        "damaged.zip": "cannot be used: manifest.json in it is damaged",
        "none.zip": "There is no file",
    }
    for name, fault in faults.items():
        for arguments in (("restore", name), ("backup", "--check", name)):
            code, told = refused(backup, *arguments)
            assert (code, fault in told) == (1, True), told
    assert not (backup.data / "signalbox.db").exists()


@pytest.mark.timeout(120)
def test_places_that_cannot_be_used_are_told(backup: House) -> None:
    assert refused(backup, "backup", "b.zip") == (
        2,
        f"signalbox: {backup.folder}/b.zip already exists. Name another file, or replace it with --force.\n",
    )
    code, told = refused(backup, "backup", "nowhere/b.zip")
    assert (code, "There is no folder" in told) == (2, True)
    code, told = refused(backup, "restore", "b.zip")
    assert (code, "There is data already" in told) == (2, True)
    assert "Kept what was there before" in backup.command("restore", "b.zip", "--force").stdout


@pytest.mark.timeout(120)
def test_a_running_process_keeps_its_data(backup: House) -> None:
    backup.start()
    try:
        code, told = refused(backup, "restore", "b.zip", "--force")
        assert (code, f"in use by process {backup.process.pid}" in told) == (2, True)
    finally:
        backup.leave()


@pytest.mark.timeout(120)
def test_no_space_leaves_nothing_and_the_process_works_on(tmp_path: Path) -> None:
    with open_house(tmp_path) as house:
        full = subprocess.run(
            [sys.executable, "-m", "bot", "backup", "b.zip"],
            cwd=tmp_path,
            env=environment(tmp_path),
            capture_output=True,
            text=True,
            timeout=45,
            check=False,
            preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (2000, 2000)),
        )
        assert full.returncode == 1
        assert full.stderr == (
            f"signalbox: The backup doesn't fit on the disk: File too large. Nothing was left at {tmp_path}/b.zip. Free up space there.\n"
        )
        assert not list(tmp_path.glob("b.zip*"))
        assert house.command("backup", "b.zip").returncode == 0
        assert house.command("ask", "still there?").returncode == 0


@pytest.mark.timeout(120)
def test_a_backup_that_is_killed_leaves_no_file_of_that_name(tmp_path: Path) -> None:
    with open_house(tmp_path) as house:
        (house.data / "workspaces" / "r1").mkdir(parents=True)
        with (house.data / "workspaces" / "r1" / "large").open("wb") as file:
            file.truncate(1 << 30)  # a hole: it takes a while to read and no disk
        given = environment(tmp_path)
        process = forked.begin("bot", "backup", "b.zip", folder=tmp_path, environment=given, stderr=2)
        partial = tmp_path / "b.zip.partial"
        try:
            while not partial.exists() or partial.stat().st_size == 0:
                assert process.poll() is None
        finally:
            process.kill()
            process.wait()
            process.stdout.close()
        assert not (tmp_path / "b.zip").exists()
        (house.data / "workspaces" / "r1" / "large").unlink()
        assert house.command("backup", "b.zip").returncode == 0
        assert not partial.exists()


@pytest.mark.timeout(120)
def test_a_restore_that_was_cut_lets_nothing_start(backup: House) -> None:
    (backup.data / "restore.unfinished").write_text(json.dumps({"backup": "another"}))
    for arguments in (("run",), ("approvals", "list")):
        code, told = refused(backup, *arguments)
        assert (code, "a restore into" in told, "Run it again" in told) == (2, True, True)
    assert backup.command("restore", "b.zip").returncode == 0
    backup.start()
    assert backup.leave() == 0
    assert str(ROOT) not in backup.log()
