"""A backup as a file: whole or not there, never silently wrong; and a restore that keeps what it replaces."""

from __future__ import annotations

import asyncio
import fcntl
import json
import os
import random
import shutil
import sqlite3
import zipfile
from collections.abc import Mapping
from contextlib import closing
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pytest

from bot.backup import manifest
from bot.backup.archive import MANIFEST_MAX_BYTES, Archive, opened
from bot.backup.errors import BackupFailed, BadBackup
from bot.backup.make import Made, check, make
from bot.backup.place import RestoreTargets
from bot.backup.restore import Restored, restore
from bot.node.lock import AlreadyRunning, holding
from bot.settings.settings import Settings, load
from bot.wiring.safety.forgetting import folders_of, forgetter_of
from bot.wiring.safety.guard import key_of
from runtime.audit.anchor import HeadFile
from runtime.contract import Role
from runtime.contract.memory.facts import Kept, MemoryId, MemoryRequest, Scope, ScopeKind
from runtime.errors import ConfigError, StoreError
from runtime.store.protocol import Head
from runtime.store.protocol.memory.forgetting import Begun
from runtime.store.store import open_store
from tests.fakes.postgres import Postgres


def settings_in(folder: Path, **more: object) -> Settings:
    folder.mkdir(parents=True, exist_ok=True)
    return load(None, {"data_dir": str(folder / "var"), **more}, environ={}, folder=folder)


async def live(settings: Settings, name: str = "Ada") -> None:
    """A little of everything."""
    settings.data_dir.mkdir(parents=True, exist_ok=True)
    store = await open_store(settings.database_url)
    await store.people.add_person(name, Role.OWNER, [], actor="test")
    await store.close()
    HeadFile(settings.data_dir).write(Head(0, ""))
    key_of(settings.data_dir)
    write(settings.workspace_dir / "web-main-r1" / "notes.md", b"remember the milk")


def write(path: Path, data: bytes = b"x", mode: int = 0o644) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)
    path.chmod(mode)
    return path


async def names(settings: Settings) -> list[str]:
    store = await open_store(settings.database_url)
    found = [known.person.name for known in await store.people.people()]
    await store.close()
    return found


def files_in(folder: Path) -> list[str]:
    return [path.name for path in folder.iterdir() if path.is_file()]


def everything_below(folder: Path) -> Mapping[str, bytes | None]:
    """Every file with its content, folders with None."""
    paths = sorted(folder.rglob("*"))
    return {str(p.relative_to(folder)): p.read_bytes() if p.is_file() else None for p in paths if p.name != "lock"}


@pytest.fixture
async def home(tmp_path: Path) -> Settings:
    settings = settings_in(tmp_path / "home")
    await live(settings)
    return settings


@pytest.fixture
async def made(home: Settings, tmp_path: Path) -> Made:
    return await make(home, tmp_path / "b.zip")


@pytest.fixture
def empty(tmp_path: Path) -> Settings:
    return settings_in(tmp_path / "empty")


# ---------------------------------------------------------------------------------------------------------- the way


async def test_everything_comes_back(home: Settings, made: Made, empty: Settings) -> None:
    restored = await restore(empty, made.path)
    assert await names(empty) == ["Ada"]
    assert everything_below(empty.workspace_dir) == everything_below(home.workspace_dir)
    for name in ("audit.key", "audit.head", "guard.key"):
        assert (empty.data_dir / name).read_bytes() == (home.data_dir / name).read_bytes()
        assert (empty.data_dir / name).stat().st_mode & 0o777 == 0o600
    assert (restored.files, restored.kept) == (1, [])
    assert HeadFile(empty.data_dir).read() == Head(0, "")


async def test_files_of_all_kinds_come_back(home: Settings, empty: Settings, tmp_path: Path) -> None:
    root = home.workspace_dir
    write(root / "r2" / "deep" / "er" / "tool.sh", b"#!/bin/sh", 0o755)
    write(root / "r2" / "ünïcode 😀.txt")
    write(root / "r2" / "empty.bin", b"")
    write(root / "r2" / "large.bin", os.urandom(3_000_000))
    (root / "r2" / "nothing" / "in it").mkdir(parents=True)
    await make(home, tmp_path / "all.zip")
    await restore(empty, tmp_path / "all.zip")
    assert everything_below(empty.workspace_dir) == everything_below(root)
    assert (empty.workspace_dir / "r2" / "deep" / "er" / "tool.sh").stat().st_mode & 0o777 == 0o755


async def test_links_and_what_is_no_plain_file_are_left_out_and_told(home: Settings, tmp_path: Path) -> None:
    secret = write(tmp_path / "secret", b"the secret")
    root = home.workspace_dir
    (root / "link").symlink_to(secret)
    (root / "folder").symlink_to(tmp_path)
    os.mkfifo(root / "pipe")
    write(root / "r1" / "uploads" / ".upload-1", b"half of it")
    os.close(os.open(os.fsencode(root) + b"/\xff", os.O_CREAT | os.O_WRONLY, 0o600))
    made = await make(home, tmp_path / "links.zip")
    assert sorted(line.partition(":")[0] for line in made.manifest.left_out) == ["?", "folder", "link", "pipe"]
    assert not any("upload" in name or "link" in name for name in made.manifest.members)
    assert b"the secret" not in (tmp_path / "links.zip").read_bytes()


async def test_it_is_for_its_owner_alone_and_nothing_else_is_left(made: Made) -> None:
    assert made.path.stat().st_mode & 0o777 == 0o600
    assert files_in(made.path.parent) == ["b.zip"]


async def test_settings_are_in_it_without_secrets(tmp_path: Path) -> None:
    home = settings_in(tmp_path / "home", **{"web.token": "the-token-of-the-owner"})
    await live(home)
    made = await make(home, tmp_path / "b.zip")
    with opened(made.path) as archive:
        told = archive.read("settings.json").decode()
    assert "the-token-of-the-owner" not in told
    assert json.loads(told)["web"]["port"] == 8080


async def test_sealed_secrets_are_in_it_only_when_asked_for(home: Settings, made: Made, tmp_path: Path) -> None:
    sealed = write(home.data_dir / "secrets.sealed", b"sealed")
    assert "secrets/sealed" not in made.manifest.members
    with_them = await make(home, tmp_path / "s.zip", with_secrets=True)
    elsewhere = settings_in(tmp_path / "elsewhere")
    await restore(elsewhere, with_them.path)
    copy = elsewhere.data_dir / "secrets.sealed"
    assert (copy.read_bytes(), copy.stat().st_mode & 0o777) == (sealed.read_bytes(), 0o600)


async def test_between_engines(home: Settings, made: Made, tmp_path: Path, postgres: Postgres) -> None:
    server = settings_in(tmp_path / "server", database_url=postgres.create_database())
    await restore(server, made.path)
    assert await names(server) == ["Ada"]
    back = await make(server, tmp_path / "back.zip")
    assert back.manifest.engine == "postgresql"
    again = settings_in(tmp_path / "again")
    await restore(again, back.path)
    assert await names(again) == ["Ada"]
    assert everything_below(again.workspace_dir) == everything_below(home.workspace_dir)


async def test_bytes_come_over_as_they_were(home: Settings, tmp_path: Path, postgres: Postgres) -> None:
    with closing(sqlite3.connect(home.data_dir / "signalbox.db")) as raw:
        raw.execute("INSERT INTO memory_vectors VALUES ('m1', 'small', 'r', 64, ?)", [bytes(range(256))])
        raw.commit()
    there = settings_in(tmp_path / "server", database_url=postgres.create_database())
    await restore(there, (await make(home, tmp_path / "b.zip")).path)
    back = settings_in(tmp_path / "back")
    await restore(back, (await make(there, tmp_path / "back.zip")).path)
    with closing(sqlite3.connect(back.data_dir / "signalbox.db")) as raw:
        assert raw.execute("SELECT vector FROM memory_vectors").fetchall() == [(bytes(range(256)),)]


# ------------------------------------------------------------------------------------------------ what was forgotten


async def remembered(settings: Settings, text: str) -> MemoryId:
    store = await open_store(settings.database_url)
    kept = await store.memories.keep_given(MemoryRequest(text), "main", Scope(ScopeKind.AGENT), actor="test")
    await store.close()
    assert isinstance(kept, Kept)
    return kept.memory.id


async def forget(settings: Settings, *memories: MemoryId) -> None:
    store = await open_store(settings.database_url)
    assert len(await store.memories.remove(memories, actor="test")) == len(memories)
    await store.close()


async def texts(settings: Settings) -> list[str]:
    store = await open_store(settings.database_url)
    found = [one.text for one in await store.memories.listed()]
    await store.close()
    return found


async def test_what_was_forgotten_since_does_not_come_back(home: Settings, tmp_path: Path) -> None:
    tea, _ = await remembered(home, "tea"), await remembered(home, "coffee")
    made = await make(home, tmp_path / "b.zip")
    await forget(home, tea)
    restored = await restore(home, made.path, force=True)
    assert restored.aftermath
    assert (restored.aftermath.forgotten, restored.unread) == (1, ())
    assert await texts(home) == ["coffee"]
    (home.data_dir / "signalbox.db").unlink()  # the database that was replaced still knows
    shutil.rmtree(home.workspace_dir)  # two restores in one second would put it aside under one name
    await restore(home, made.path, force=True)
    assert await texts(home) == ["coffee"]


async def test_a_person_who_was_forgotten_since_does_not_come_back(home: Settings, tmp_path: Path) -> None:
    made = await make(home, tmp_path / "monday.zip")
    store = await open_store(home.database_url)
    await store.people.add_person("Bob", Role.OWNER, [], actor="test")
    begun = await store.forgettings.begin("Ada", actor="Bob")
    assert isinstance(begun, Begun)
    await forgetter_of(home, store, lambda: folders_of(home, [])).rest()
    await store.close()
    await make(home, tmp_path / "tuesday.zip")
    assert _members_with(tmp_path / "tuesday.zip", b"Ada") == []
    elsewhere = settings_in(tmp_path / "elsewhere")
    restored = await restore(elsewhere, made.path)
    assert restored.aftermath
    assert restored.aftermath.people == 1
    assert await names(elsewhere) == []
    assert b"Ada" not in (elsewhere.data_dir / "signalbox.db").read_bytes()


def _members_with(path: Path, word: bytes) -> list[str]:
    with zipfile.ZipFile(path) as archive:
        return [name for name in archive.namelist() if word in archive.read(name)]


async def test_younger_backups_tell_what_was_forgotten(home: Settings, tmp_path: Path) -> None:
    tea, _ = await remembered(home, "tea"), await remembered(home, "coffee")
    made = await make(home, tmp_path / "monday.zip")
    await forget(home, tea)
    await make(home, tmp_path / "tuesday.zip")
    write(tmp_path / "other.zip", b"no backup")
    odd = manifest.Table(("at", "other"), 1)
    rewritten(made, tmp_path / "odd.zip", taken_at="2999-01-01T00:00:00+00:00", tables={"forgotten": asdict(odd)})
    elsewhere = settings_in(tmp_path / "elsewhere")
    await restore(elsewhere, made.path)
    assert await texts(elsewhere) == ["coffee"]


async def test_a_database_that_cannot_be_read_is_told(home: Settings, tmp_path: Path) -> None:
    await remembered(home, "tea")
    made = await make(home, tmp_path / "b.zip")
    write(home.data_dir / "signalbox.db", b"no database" * 1_000)
    restored = await restore(home, made.path, force=True)
    assert restored.unread == (home.data_dir / "signalbox.db",)
    assert await texts(home) == ["tea"]


# ------------------------------------------------------------------------------------------------------- its place


async def test_what_is_there_is_not_replaced_unless_asked(home: Settings, tmp_path: Path) -> None:
    path = write(tmp_path / "b.zip", b"precious")
    with pytest.raises(ConfigError, match=r"b\.zip already exists.*--force"):
        await make(home, path)
    assert path.read_bytes() == b"precious"
    await make(home, path, force=True)
    assert check(path).manifest.tables["people"].rows == 1


@pytest.mark.parametrize(("where", "fault"), [("none/b.zip", "There is no folder"), (".", "is a folder")])
async def test_a_place_that_cannot_be_is_told(home: Settings, tmp_path: Path, where: str, fault: str) -> None:
    with pytest.raises(ConfigError, match=fault):
        await make(home, tmp_path / where)


async def test_two_at_once_do_not_write_one_file(home: Settings, tmp_path: Path) -> None:
    partial = tmp_path / "b.zip.partial"
    with partial.open("wb") as other:
        fcntl.flock(other, fcntl.LOCK_EX)
        with pytest.raises(ConfigError, match="Another backup"):
            await make(home, tmp_path / "b.zip")
    assert partial.exists()


async def test_what_a_kill_left_behind_is_written_anew(home: Settings, tmp_path: Path) -> None:
    write(tmp_path / "b.zip.partial", b"x" * 1_000_000)
    made = await make(home, tmp_path / "b.zip")
    assert made.size < 1_000_000
    assert not (tmp_path / "b.zip.partial").exists()


async def test_a_backup_that_fails_leaves_nothing(home: Settings, tmp_path: Path) -> None:
    with closing(sqlite3.connect(home.data_dir / "signalbox.db")) as raw:
        raw.execute("DROP TABLE votes")
        raw.execute("CREATE TABLE votes (id BLOB)")
        raw.execute("INSERT INTO votes VALUES (x'00')")  # no value that any table of ours holds
        raw.commit()
    with pytest.raises(BackupFailed, match="table votes holds"):
        await make(home, tmp_path / "b.zip")
    assert files_in(tmp_path) == []


async def test_without_a_database_there_is_nothing_to_back_up(empty: Settings, tmp_path: Path) -> None:
    with pytest.raises(StoreError, match="There is no Signalbox database"):
        await make(empty, tmp_path / "b.zip")
    assert not (tmp_path / "b.zip").exists()
    memory = settings_in(tmp_path / "m", database_url="sqlite:///:memory:")
    with pytest.raises(StoreError, match="in memory"):
        await make(memory, tmp_path / "b.zip")
    with pytest.raises(ConfigError, match="in memory"):
        await restore(memory, tmp_path / "b.zip")


async def test_a_backup_beside_writers_is_one_moment(home: Settings, tmp_path: Path) -> None:
    store = await open_store(home.database_url)

    async def add() -> None:
        for n in range(200):
            await store.people.add_person(f"p{n}", Role.USER, [], actor="test")

    async with asyncio.TaskGroup() as group:
        group.create_task(add())
        backup = group.create_task(make(home, tmp_path / "b.zip"))
    await store.close()
    tables = backup.result().manifest.tables
    # Each person has an identity: the two tables are of one moment or the numbers differ.
    assert tables["people"].rows == tables["identities"].rows


# ---------------------------------------------------------------------------------------------------------- damage


def contents(path: Path) -> Mapping[str, bytes]:
    with opened(path) as archive:
        archive.check()
        return {name: archive.read(name) for name in archive.manifest.members}


async def test_a_changed_byte_is_found_wherever_it_is(made: Made, tmp_path: Path) -> None:
    whole, right = made.path.read_bytes(), contents(made.path)
    chance, found = random.Random(7), 0
    for _ in range(300):
        at = chance.randrange(len(whole))
        bad = write(tmp_path / "bad.zip", whole[:at] + bytes([whole[at] ^ chance.randrange(1, 256)]) + whole[at + 1 :])
        try:
            # Dates and other words of the container count for nothing: then all that is in it must be right.
            assert contents(bad) == right, at
        except BadBackup:
            found += 1
    assert found > 150, "most of its bytes are what was backed up"


async def test_a_cut_archive_is_found_wherever_it_is_cut(made: Made, tmp_path: Path) -> None:
    whole = made.path.read_bytes()
    for length in (0, 1, 100, len(whole) // 2, len(whole) - 100, len(whole) - 1):
        with pytest.raises(BadBackup, match="truncated, or isn't a Signalbox backup"):
            check(write(tmp_path / "cut.zip", whole[:length]))


def rewritten(made: Made, path: Path, **changed: Any) -> Path:
    """The same archive with another manifest."""
    with zipfile.ZipFile(made.path) as old, zipfile.ZipFile(path, "w") as new:
        for name in old.namelist():
            data = old.read(name)
            new.writestr(name, json.dumps(json.loads(data) | changed) if name == "manifest.json" else data)
    return path


@pytest.mark.parametrize(
    ("changed", "fault"),
    [
        ({"signalbox backup": 2, "program": "9.0"}, "made by signalbox 9.0 in format 2.*install the version"),
        ({"revision": "9999", "program": "9.0"}, "from a newer version .signalbox 9.0, database revision 9999"),
        ({"taken_at": "yesterday"}, "its manifest is damaged"),
        ({"members": {}}, "contents don't match"),
        ({"tables": {"people": {"columns": ["id"], "rows": 1}}}, "lacks the columns"),
    ],
)
async def test_what_a_manifest_should_not_say(
    changed: dict[str, Any], fault: str, made: Made, empty: Settings, tmp_path: Path
) -> None:
    with pytest.raises(BadBackup, match=fault):
        await restore(empty, rewritten(made, tmp_path / "other.zip", **changed))
    assert everything_below(empty.data_dir) == {}


async def test_what_is_no_backup_is_told(tmp_path: Path) -> None:
    with pytest.raises(BadBackup, match="There is no file"):
        check(tmp_path / "none.zip")
    with pytest.raises(BadBackup, match="isn't a Signalbox backup"):
        check(write(tmp_path / "text.zip", b"hello"))
    with zipfile.ZipFile(tmp_path / "other.zip", "w") as other:
        other.writestr("a", "b")
    with pytest.raises(BadBackup, match="it has no manifest"):
        check(tmp_path / "other.zip")
    with pytest.raises(BadBackup, match="cannot be read"):
        check(tmp_path)


def test_a_manifest_that_says_to_be_enormous_is_not_read(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "long.zip", "w") as archive:
        archive.writestr(manifest.MANIFEST_NAME, "{}")
        archive.getinfo(manifest.MANIFEST_NAME).file_size = MANIFEST_MAX_BYTES + 1
    with pytest.raises(BadBackup, match="its manifest is longer than any"):
        check(tmp_path / "long.zip")


@pytest.mark.parametrize("name", ["../evil", "/evil", "a/../../evil", "a//evil"])
async def test_a_member_that_leads_outside_is_refused(made: Made, empty: Settings, tmp_path: Path, name: str) -> None:
    evil = tmp_path / "evil.zip"
    digest = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"  # of nothing
    rewritten(made, evil, members={**made.manifest.members, f"workspaces/{name}": digest})
    with zipfile.ZipFile(evil, "a") as archive:
        archive.writestr(f"workspaces/{name}", b"")
    with pytest.raises(BadBackup, match="outside the workspaces"):
        await restore(empty, evil)
    assert everything_below(empty.data_dir) == {}
    assert "evil" not in files_in(tmp_path)


# ------------------------------------------------------------------------------------------------------ the restore


async def test_a_folder_in_use_is_left_alone(made: Made, empty: Settings) -> None:
    with holding(empty.data_dir), pytest.raises(AlreadyRunning, match="is in use by process"):
        await restore(empty, made.path)


async def test_what_is_there_is_refused_and_untouched(made: Made, tmp_path: Path) -> None:
    other = settings_in(tmp_path / "other")
    await live(other, "Olga")
    before = everything_below(other.data_dir)
    with pytest.raises(ConfigError, match=r"There is data already: .*signalbox\.db.*--force"):
        await restore(other, made.path)
    assert everything_below(other.data_dir) == before


async def test_with_force_what_was_there_is_kept_aside(made: Made, tmp_path: Path) -> None:
    other = settings_in(tmp_path / "other")
    await live(other, "Olga")
    write(other.data_dir / "audit.checkpoint", b"of the other life")
    restored = await restore(other, made.path, force=True)
    assert await names(other) == ["Ada"]
    assert not (other.data_dir / "audit.checkpoint").exists()
    kept = {path.name.partition(".before-")[0]: path for path in restored.kept}
    assert sorted(kept) == ["audit.checkpoint", "audit.head", "audit.key", "guard.key", "signalbox.db", "workspaces"]
    old = settings_in(tmp_path / "old", database_url=f"sqlite:///{kept['signalbox.db']}")
    assert await names(old) == ["Olga"]


async def test_a_backup_without_the_key_of_the_leak_guard_leaves_the_one_that_is_there(
    home: Settings, tmp_path: Path
) -> None:
    (home.data_dir / "guard.key").unlink()
    old = await make(home, tmp_path / "old.zip")
    key = key_of(home.data_dir)
    restored = await restore(home, old.path, force=True)
    assert key_of(home.data_dir) == key
    assert not [path for path in restored.kept if path.name.startswith("guard.key")]


async def test_a_journal_without_its_database_does_not_change_the_restored_one(made: Made, tmp_path: Path) -> None:
    """It is what the advice for a database that was removed under its process leaves behind."""
    other = settings_in(tmp_path / "other")
    store = await open_store_of(other)
    await store.people.add_person("Olga", Role.OWNER, [], actor="test")
    (other.data_dir / "signalbox.db").unlink()
    left = (other.data_dir / "signalbox.db-wal").read_bytes()
    await store.close()
    write(other.data_dir / "signalbox.db-wal", left)
    await restore(other, made.path, force=True)
    assert not (other.data_dir / "signalbox.db-wal").exists()
    assert await names(other) == ["Ada"]


async def test_a_database_that_was_not_closed_is_kept_aside_with_its_journal(made: Made, tmp_path: Path) -> None:
    other = settings_in(tmp_path / "other")
    store = await open_store_of(other)
    await store.people.add_person("Olga", Role.OWNER, [], actor="test")
    restored = await restore(other, made.path, force=True)
    kept = next(path for path in restored.kept if path.name.startswith("signalbox.db"))
    assert kept.with_name(f"{kept.name}-wal").exists()
    await store.close()
    assert await names(other) == ["Ada"]


async def open_store_of(settings: Settings) -> Any:
    settings.data_dir.mkdir(parents=True, exist_ok=True)
    return await open_store(settings.database_url)


async def test_a_server_with_tables_is_never_overwritten(made: Made, tmp_path: Path, postgres: Postgres) -> None:
    server = settings_in(tmp_path / "server", database_url=postgres.create_database())
    await live(server, "Olga")
    with pytest.raises(ConfigError, match="already has Signalbox tables"):
        await restore(server, made.path, force=True)
    assert await names(server) == ["Olga"]


class Cut(BaseException):
    """A kill."""


async def cut_restore(monkeypatch: pytest.MonkeyPatch, settings: Settings, path: Path, moves: int) -> None:
    """A restore that is killed after so many renames into place."""
    real, done = Path.replace, 0

    def replace(self: Path, target: Path) -> Path:
        nonlocal done
        if done == moves:
            raise Cut
        done += 1
        return real(self, target)

    with monkeypatch.context() as patch:
        patch.setattr(Path, "replace", replace)
        with pytest.raises(Cut):
            await restore(settings, path)


@pytest.mark.parametrize("moves", [0, 1, 2, 3])
async def test_a_restore_that_is_cut_is_run_again(
    moves: int, made: Made, empty: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    await cut_restore(monkeypatch, empty, made.path, moves)
    with pytest.raises(ConfigError, match="was cut off"), holding(empty.data_dir):
        pass
    await restore(empty, made.path)
    with holding(empty.data_dir):
        assert await names(empty) == ["Ada"]
    assert not list(empty.data_dir.glob("*.restoring*"))


async def test_on_a_server_a_cut_restore_does_not_load_twice(
    made: Made, tmp_path: Path, postgres: Postgres, monkeypatch: pytest.MonkeyPatch
) -> None:
    server = settings_in(tmp_path / "server", database_url=postgres.create_database())
    await cut_restore(monkeypatch, server, made.path, 1)
    restored: Restored = await restore(server, made.path)
    assert restored.aftermath is None
    assert await names(server) == ["Ada"]
    assert (server.workspace_dir / "web-main-r1" / "notes.md").exists()


async def test_a_restore_that_fails_leaves_all_as_it_was(
    made: Made, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = settings_in(tmp_path / "other")
    await live(other, "Olga")
    before = everything_below(other.data_dir)

    def full(*_: object) -> int:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("bot.backup.restore.read_folders", full)
    with pytest.raises(BackupFailed, match=r"doesn't fit.*unchanged"):
        await restore(other, made.path, force=True)
    assert everything_below(other.data_dir) == before


async def test_files_belong_to_whom_tools_run_as(made: Made, empty: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    owned: list[tuple[str, int]] = []
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    monkeypatch.setattr(os, "chown", lambda path, uid, gid, **_: owned.append((Path(path).name, uid)))
    await restore(empty, made.path)
    uid = empty.tools.shell.uid
    assert owned == [("web-main-r1", uid), ("notes.md", uid)]


def test_places_know_what_is_in_them(tmp_path: Path) -> None:
    places = RestoreTargets(data_dir=tmp_path, database=tmp_path / "a.db", workspaces=tmp_path / "w", others=[])
    assert places.in_use() == []
    (tmp_path / "w").mkdir()
    assert places.in_use() == []
    write(tmp_path / "w" / "r1" / "x")
    assert places.in_use() == [tmp_path / "w"]


async def test_an_archive_reads_its_members_as_lines_and_pieces(made: Made) -> None:
    with opened(made.path) as archive:
        assert isinstance(archive, Archive)
        assert len(list(archive.lines("tables/people.jsonl"))) == 1
        assert b"".join(archive.chunks("tables/people.jsonl")).endswith(b"]\n")
        with pytest.raises(BadBackup, match="can't be read"):
            archive.read("tables/none.jsonl")
