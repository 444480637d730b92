"""Removing the workspace of a room that went quiet, whatever a tool left in it."""

from __future__ import annotations

import os
from datetime import UTC, datetime
from pathlib import Path

import pytest
from structlog.testing import capture_logs

from runtime.contract import Address
from runtime.workspace.cleanup import Leftovers
from runtime.workspace.workspaces import WorkspaceFolders
from tests.unit.workspace.nested import nested

ROOM = Address("web", "main", "r1")


@pytest.fixture
def workspaces(tmp_path: Path) -> WorkspaceFolders:
    return WorkspaceFolders(tmp_path / "workspaces", "main")


def removed(workspaces: WorkspaceFolders) -> bool:
    with capture_logs() as told:
        Leftovers(lambda: [workspaces], uploads="uploads", partial=".upload-").drop_workspaces(
            [ROOM], datetime.max.replace(tzinfo=UTC)
        )
    return not told and list(workspaces.root.iterdir()) == []


@pytest.mark.parametrize(("name", "depth"), [("a", 1_000), ("n" * 200, 60)])
def test_folders_deeper_than_a_path_reaches_are_removed(workspaces: WorkspaceFolders, name: str, depth: int) -> None:
    """A tool makes them in a second; once, they ended the process whenever it tidied up."""
    nested(workspaces.folder(ROOM), name, depth)
    assert removed(workspaces)


def test_what_links_lead_to_stays(workspaces: WorkspaceFolders, tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    (outside / "deep").mkdir(parents=True)
    (outside / "file").touch()
    inside = workspaces.folder(ROOM)
    (inside / "sub" / "empty").mkdir(parents=True)
    for place in (inside, inside / "sub"):
        (place / "link").symlink_to(outside)
        (place / "file").symlink_to(outside / "file")
        os.mkfifo(place / "pipe")
    assert removed(workspaces)
    assert sorted(path.name for path in outside.iterdir()) == ["deep", "file"]
