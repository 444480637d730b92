"""The duty that removes what is old, with a store that is only a script; and the folders it tidies."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from bot.settings.settings import load
from bot.wiring.retention import keep_of, retention_of
from runtime.audit.retention import FULL_WALK_INTERVAL, SLICES, Keep, Retention
from runtime.contract import Address, NodeId, SessionKey
from runtime.store.protocol import Cleared, Duty, Quiet, Stock, Swept
from runtime.workspace.cleanup import Leftovers
from runtime.workspace.workspaces import WorkspaceFolders
from tests.contract.runtime.stores import memory_store
from tests.contract.store.stage import HandClock, Stage

NOW = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)
DUTY = Duty("retention", NodeId("n"), 1)
ROOM = Address("web", "main", "r1")
DAY = timedelta(days=1)


@dataclass
class Shelf:
    """Stocks of numbered rows, all of them old."""

    rows: dict[Stock, int]
    asked: list[tuple[Stock, str | int | None, datetime]] = field(default_factory=list)
    quiet: tuple[Address, ...] = ()
    lost: bool = False
    deleted: tuple[Address, ...] = ()
    ended: tuple[Address, ...] = ()

    async def sweep(
        self, duty: Duty, stock: Stock, after: str | int | None, before: datetime, *, limit: int = 200
    ) -> Swept | None:
        self.asked.append((stock, after, before))
        if self.lost:
            return None
        last = min(int(after or 0) + limit, self.rows[stock])
        return Swept(last, last < self.rows[stock], last - int(after or 0))

    async def drop_expired(self, duty: Duty, *, limit: int = 200) -> int | None:
        return 0

    async def clear_deleted(self, duty: Duty, *, limit: int = 200) -> Cleared | None:
        cleared, self.deleted = Cleared(len(self.deleted), self.deleted), ()
        return cleared

    async def end_deleted(self, duty: Duty, rooms: tuple[Address, ...]) -> None:
        self.ended += rooms

    async def clear_traces(self) -> None:
        raise AssertionError("nothing expired")

    async def quiet_rooms(self, after: str, before: datetime, *, limit: int = 200) -> Quiet:
        return Quiet(SessionKey("z"), False, self.quiet)


@dataclass
class Clock:
    at: datetime = NOW

    def __call__(self) -> datetime:
        return self.at


async def take(role: str) -> Duty:
    return DUTY


def retention(
    shelf: Shelf, root: Path, stocks: Sequence[Stock], clock: Clock, workspaces: timedelta | None = None
) -> Retention:
    return Retention(
        store=shelf,
        leftovers=Leftovers(lambda: [WorkspaceFolders(root, "main")], uploads="uploads", partial=".upload-"),
        keep=Keep(dict.fromkeys(stocks, DAY), workspaces),
        take=take,
        now=clock,
        pause=timedelta(),
    )


async def test_a_round_is_bounded_and_the_next_goes_on(tmp_path: Path) -> None:
    shelf, clock = Shelf({Stock.RUNS: 200 * (SLICES + 2)}), Clock()
    job = retention(shelf, tmp_path, [Stock.RUNS], clock)
    assert await job.round(DUTY) is True
    assert len(shelf.asked) == SLICES
    assert await job.round(DUTY) is False
    assert [after for _, after, _ in shelf.asked[SLICES:]] == [200 * SLICES, 200 * (SLICES + 1)]


async def test_a_walk_that_came_to_its_end_goes_on_from_there_until_the_next_day(tmp_path: Path) -> None:
    shelf, clock = Shelf({Stock.RUNS: 10}), Clock()
    job = retention(shelf, tmp_path, [Stock.RUNS], clock)
    for _ in range(2):
        await job.round(DUTY)
    clock.at += FULL_WALK_INTERVAL
    await job.round(DUTY)
    assert [after for _, after, _ in shelf.asked] == [None, 10, None]


async def test_only_what_has_an_age_is_touched(tmp_path: Path) -> None:
    shelf = Shelf({Stock.RUNS: 1, Stock.USAGE: 1})
    await retention(shelf, tmp_path, [Stock.USAGE], Clock()).round(DUTY)
    assert shelf.asked == [(Stock.USAGE, None, NOW - DAY)]


async def test_a_lost_duty_ends_the_walk(tmp_path: Path) -> None:
    shelf = Shelf({Stock.RUNS: 9999}, lost=True)
    assert await retention(shelf, tmp_path, [Stock.RUNS], Clock()).round(DUTY) is False
    assert len(shelf.asked) == 1


async def test_files_of_a_deleted_conversation_go_before_it_is_noted_as_gone(tmp_path: Path) -> None:
    folder = WorkspaceFolders(tmp_path, "main").path(ROOM)
    folder.mkdir(parents=True)
    (folder / "notes.txt").write_text("teal")
    os.utime(folder, (0, 0))
    shelf = Shelf({}, deleted=(ROOM,))
    await retention(shelf, tmp_path, [], Clock()).round(DUTY)
    assert (folder.exists(), shelf.ended) == (False, (ROOM,))


async def test_a_deleted_conversation_is_not_noted_as_gone_while_a_file_of_it_stays(tmp_path: Path) -> None:
    folder = WorkspaceFolders(tmp_path, "main").folder(ROOM)
    file_at(folder / "uploads" / "photo.png", timedelta())
    shelf = Shelf({}, deleted=(ROOM,))
    await retention(shelf, tmp_path, [], Clock()).round(DUTY)
    assert (folder.exists(), shelf.ended) == (True, ())


# ------------------------------------------------------------------------------------------------------------ settings


def test_zero_keeps_for_good(tmp_path: Path) -> None:
    names = ("messages", "transcripts", "runs", "approvals", "usage", "nodes", "workspaces")
    keep = keep_of(load(None, {f"retention.{name}_days": 0 for name in names}, environ={}, folder=tmp_path))
    assert (list(keep.stocks), keep.workspaces) == ([Stock.EVENTS], None)


def test_a_tombstone_outlives_the_words(tmp_path: Path) -> None:
    given = {"retention.messages_days": 10, "retention.tombstones_days": 7}
    keep = keep_of(load(None, given, environ={}, folder=tmp_path))
    assert keep.stocks[Stock.TOMBSTONES] == keep.stocks[Stock.MESSAGES] + 7 * DAY


# ------------------------------------------------------------------------------------------------------------- folders


def file_at(path: Path, age: timedelta) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("x")
    grow_old(path, age)
    return path


def grow_old(path: Path, age: timedelta) -> None:
    os.utime(path, times=((NOW - age).timestamp(),) * 2, follow_symlinks=False)


def folders(root: Path) -> Leftovers:
    return Leftovers(lambda: [WorkspaceFolders(root, "main")], uploads="uploads", partial=".upload-")


def test_an_upload_that_was_cut_long_ago_is_removed(tmp_path: Path) -> None:
    old = file_at(tmp_path / "r1" / "uploads" / ".upload-1", 2 * DAY)
    young = file_at(tmp_path / "r1" / "uploads" / ".upload-2", DAY / 2)
    whole = file_at(tmp_path / "r1" / "uploads" / "photo.png", 2 * DAY)
    folders(tmp_path).drop_uploads(NOW - DAY)
    assert (old.exists(), young.exists(), whole.exists()) == (False, True, True)


def test_a_file_from_a_channel_that_a_kill_cut_long_ago_is_removed(tmp_path: Path) -> None:
    cut = WorkspaceFolders(tmp_path, "main").arriving("one")
    file_at(cut, 2 * DAY)
    young = file_at(cut.with_name("two"), DAY / 2)
    folders(tmp_path).drop_uploads(NOW - DAY)
    assert (cut.exists(), young.exists()) == (False, True)


@pytest.mark.parametrize("link", ["uploads", "room"])
def test_uploads_behind_a_link_are_not_ours(link: str, tmp_path: Path) -> None:
    root, elsewhere = tmp_path / "root", tmp_path / "elsewhere"
    foreign = file_at(elsewhere / ".upload-1", 2 * DAY)
    inner = file_at(elsewhere / "uploads" / ".upload-1", 2 * DAY)
    root.mkdir()
    if link == "uploads":
        (root / "r1").mkdir()
        (root / "r1" / "uploads").symlink_to(elsewhere)
    else:
        (root / "r1").symlink_to(elsewhere)
    folders(root).drop_uploads(NOW - DAY)
    assert foreign.exists()
    assert inner.exists()


def test_without_any_workspace_there_is_nothing_to_tidy(tmp_path: Path) -> None:
    folders(tmp_path / "none").drop_uploads(NOW)
    folders(tmp_path / "none").drop_workspaces([ROOM], NOW)


async def test_the_folder_of_a_quiet_room_goes_only_where_a_setting_says_so(tmp_path: Path) -> None:
    folder = WorkspaceFolders(tmp_path, "main").folder(ROOM)
    file_at(folder / "notes.md", 9 * DAY)
    grow_old(folder, 9 * DAY)
    shelf = Shelf({}, quiet=(ROOM,))
    await retention(shelf, tmp_path, [], Clock()).round(DUTY)
    assert folder.exists()
    await retention(shelf, tmp_path, [], Clock(), workspaces=DAY).round(DUTY)
    assert not folder.exists()


def test_a_folder_into_which_a_file_came_lately_stays(tmp_path: Path) -> None:
    folder = WorkspaceFolders(tmp_path, "main").folder(ROOM)
    file_at(folder / "uploads" / "photo.png", DAY / 2)
    grow_old(folder / "uploads", DAY / 2)
    grow_old(folder, 9 * DAY)
    folders(tmp_path).drop_workspaces([ROOM], NOW - DAY)
    assert folder.exists()


def test_the_folders_of_all_agents_in_a_quiet_room_go(tmp_path: Path) -> None:
    every = [WorkspaceFolders(tmp_path, name) for name in ("main", "ops")]
    for workspaces in every:
        grow_old(workspaces.folder(ROOM), 9 * DAY)
    Leftovers(lambda: every, uploads="uploads", partial=".upload-").drop_workspaces([ROOM], NOW - DAY)
    assert list(tmp_path.iterdir()) == []


def test_a_folder_that_a_kill_left_half_removed_goes_too(tmp_path: Path) -> None:
    file_at(tmp_path / ".removed-web-main-r1" / "notes.md", DAY)
    folders(tmp_path).drop_workspaces([], NOW)
    assert list(tmp_path.iterdir()) == []


# --------------------------------------------------------------------------------------------------------- the program


async def test_the_program_keeps_to_its_settings(tmp_path: Path) -> None:
    """As it is built for a process, over a real store: an old message loses its words, a young one does not."""
    clock = HandClock()
    store = memory_store(clock)
    stage = Stage(store, clock)
    await stage.open()
    for words in ("old", "young"):
        await stage.finish(await stage.begin(words))
        await stage.drain()
        clock.advance(hours=36)

    async def role(name: str) -> Duty | None:
        return await store.cluster.take(stage.lease, name)

    job = retention_of(
        load(None, {"retention.messages_days": 2}, environ={}, folder=tmp_path),
        store,
        role,
        lambda: [WorkspaceFolders(tmp_path, "main")],
    )
    duty = await role("retention")
    assert duty is not None
    assert await job.round(duty) is False
    assert await stage.column("SELECT text FROM signals ORDER BY accepted_at") == ["", "young"]
    await store.close()
