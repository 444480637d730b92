"""The way back from `write_file`: the old file comes back, and what somebody wrote since is never lost."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest

from runtime.contract import ToolContext
from runtime.errors import ToolFailed
from tools.files.undo import KEPT_MAX_BYTES, keep, take_back

ROUNDS = 30
MINE = "somebody's own words"


def written(context: ToolContext, old: str | None, new: str) -> str:
    """What is kept of a call that wrote `new` over `old`."""
    path = context.workspace / "notes.txt"
    if old is not None:
        path.write_text(old)
    kept = keep({"path": "notes.txt", "content": new}, context)
    assert kept is not None
    path.write_text(new)
    return kept


def test_the_old_file_comes_back_and_a_new_one_goes(context: ToolContext) -> None:
    path = context.workspace / "notes.txt"
    assert take_back(written(context, "old", "new"), context) == "Restored 'notes.txt'."
    assert path.read_text() == "old"
    path.unlink()
    assert take_back(written(context, None, "new"), context) == "Removed 'notes.txt'."
    assert not path.exists()


@pytest.mark.parametrize("old", ["old", None])
@pytest.mark.parametrize("there", ["other", "longer than it was", None])
def test_a_file_that_was_changed_or_is_gone_is_left(old: str | None, there: str | None, context: ToolContext) -> None:
    kept, path = written(context, old, "new"), context.workspace / "notes.txt"
    path.unlink() if there is None else path.write_text(there)
    with pytest.raises(ToolFailed, match=r"'notes\.txt' has changed since, so I left it alone"):
        take_back(kept, context)
    assert (path.read_text() if path.exists() else None) == there
    assert [one.name for one in context.workspace.iterdir()] == ["notes.txt"] * (there is not None)


def test_a_link_in_place_of_the_file_is_left(context: ToolContext, tmp_path: Path) -> None:
    kept, path = written(context, "old", "new"), context.workspace / "notes.txt"
    other = tmp_path / "elsewhere"
    other.write_text("new")
    path.unlink()
    path.symlink_to(other)
    with pytest.raises(ToolFailed, match="changed since"):
        take_back(kept, context)
    assert (path.is_symlink(), other.read_text()) == (True, "new")


def test_what_is_written_while_the_old_file_is_being_brought_back_is_not_lost(context: ToolContext) -> None:
    """Somebody saves the file as soon as the old one begins to be written beside it."""
    for _ in range(ROUNDS):
        kept = written(context, "o" * KEPT_MAX_BYTES, "new")
        over = threading.Event()
        saver = threading.Thread(target=saved_meanwhile, args=(context.workspace, over))
        saver.start()
        try:
            take_back(kept, context)
        except ToolFailed as error:
            assert "changed since" in str(error)  # noqa: PT017 - both endings are right, as long as nothing is lost
        over.set()
        saver.join()
        assert (context.workspace / "notes.txt").read_text() == MINE


def saved_meanwhile(workspace: Path, over: threading.Event) -> None:
    mine = workspace.parent / "mine"
    mine.write_text(MINE)
    while not (over.is_set() or any(one.suffix == ".part" for one in workspace.iterdir())):
        pass
    mine.rename(workspace / "notes.txt")
