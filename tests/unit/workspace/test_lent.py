"""Folders that are lent: which may be, and that nothing of ours ever takes them for its own."""

from __future__ import annotations

import os
from datetime import UTC, datetime
from pathlib import Path

import pytest

from runtime.contract import UPLOADS, Address
from runtime.workspace.cleanup import Leftovers
from runtime.workspace.lent import Lending, lend
from runtime.workspace.workspaces import WorkspaceFolders

ROOM = Address("web", "main", "bounded0123456789ab")
LATER = datetime(9000, 1, 1, tzinfo=UTC)


@pytest.fixture
def home(tmp_path: Path) -> Path:
    for name in ("projects/site/.git", "projects/.keys", "bot/var/workspaces", "elsewhere"):
        (tmp_path / "home" / name).mkdir(parents=True)
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "home" / "projects" / "file").touch()
    (tmp_path / "home" / "projects" / "out").symlink_to("/etc")
    (tmp_path / "home" / "projects" / "ours").symlink_to(tmp_path / "home" / "bot")
    return tmp_path / "home"


def _refusal(home: Path, folder: Path, uid: int | None = None) -> str:
    own = [("our data", home / "bot" / "var"), ("our settings", home / "bot" / "signalbox.toml")]
    return Lending([home], own).refusal(folder, uid=os.geteuid() if uid is None else uid)


def _folders(home: Path, *roots: Path) -> WorkspaceFolders:
    return WorkspaceFolders(home / "bot" / "var" / "workspaces", "main", lending=Lending(roots or (home,)))


def test_a_folder_below_what_is_allowed_may_be_lent(home: Path) -> None:
    assert _refusal(home, home / "projects" / "site") == ""


@pytest.mark.parametrize(
    ("folder", "why"),
    [
        ("projects/none", "there is no such folder"),
        ("projects/file", "there is no such folder"),
        (".", "our data"),  # whoever lends the home lends the keys in it
        ("bot", "our data"),
        ("bot/var/workspaces", "our data"),
        ("projects/ours", "our data"),
        ("projects/out", "isn't below a folder that files.lent allows"),
        ("..", "holds, or is in, our data"),
        ("projects/../../elsewhere", "isn't below"),
        ("projects/site/.git", "hidden folder (.git)"),
        ("projects/.keys", "hidden folder (.keys)"),
    ],
)
def test_every_other_folder_is_refused_with_its_reason(home: Path, folder: str, why: str) -> None:
    assert why in _refusal(home, home / folder)


def test_the_folder_of_another_user_is_refused(home: Path) -> None:
    assert "belongs to another user" in _refusal(home, home / "projects" / "site", uid=os.geteuid() + 1)


def test_a_conversation_works_there_and_its_files_stay_when_it_ends(home: Path) -> None:
    site, files = home / "projects" / "site", _folders(home)
    site.chmod(0o755)
    (site / "index.html").write_text("hello")
    lend(files.root, files.path(ROOM).name, site)
    assert files.folder(ROOM) == site
    assert files.of("ops").folder(ROOM) != site
    assert files.has(ROOM, "index.html")
    leftovers = Leftovers(lambda: [files], uploads=UPLOADS, partial=".partial-")
    leftovers.drop_uploads(LATER)
    assert leftovers.drop_workspaces([ROOM], LATER) == frozenset()
    assert (site / "index.html").read_text() == "hello"
    assert site.stat().st_mode & 0o777 == 0o755


def test_one_that_leads_elsewhere_by_now_is_no_workspace(home: Path) -> None:
    site, files = home / "projects" / "site", _folders(home)
    lend(files.root, files.path(ROOM).name, site)
    (site / ".git").rmdir()
    site.rmdir()
    own = files.folder(ROOM)
    assert own.parent == files.root
    site.symlink_to("/etc")
    assert files.folder(ROOM) == own


def test_what_the_settings_allow_no_longer_is_taken_back(home: Path) -> None:
    site, before = home / "projects" / "site", _folders(home)
    (site / "index.html").write_text("hello")
    lend(before.root, before.path(ROOM).name, site)
    assert before.folder(ROOM) == site
    narrowed = _folders(home, home / "elsewhere")
    assert narrowed.folder(ROOM) == before.path(ROOM), "a folder of the conversation's own, as if none was lent"
    assert not narrowed.has(ROOM, "index.html")
    assert WorkspaceFolders(before.root, "main").folder(ROOM) == before.path(ROOM)
    assert (site / "index.html").read_text() == "hello"
