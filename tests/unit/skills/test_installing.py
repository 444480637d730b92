"""A skill's folder is written whole, or not at all."""

from __future__ import annotations

from pathlib import Path

import pytest

import runtime.skills.installing as installing
from runtime.skills.installing import MovedOn, install, mend, uninstall
from runtime.skills.reading import contents_in
from tests.unit.skills.making import NOTES, skill_in

FORM = {"SKILL.md": b"new", "scripts/sum.py": b"print(1)"}


@pytest.fixture(params=["in one step", "in three"])
def goal(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A skill's place, on a system that exchanges two names at once, and on one that can't."""
    if request.param == "in three":
        monkeypatch.setattr(installing, "_exchanged", lambda one, other: False)
    return tmp_path / "skills" / "notes"


def test_a_folder_is_made_and_replaced_whole(goal: Path) -> None:
    install({"SKILL.md": b"old", "references/a.md": b"a"}, goal)
    install(FORM, goal)
    assert contents_in(goal) == FORM
    assert [one.name for one in goal.parent.iterdir()] == ["notes"]


def test_what_became_another_one_meanwhile_stays(goal: Path) -> None:
    skill_in(goal.parent, text=NOTES)
    for was in (lambda folder: False, lambda folder: folder is None):
        with pytest.raises(MovedOn):
            install(FORM, goal, was)
    assert contents_in(goal) == {"SKILL.md": NOTES.encode()}
    with pytest.raises(MovedOn):
        install(FORM, goal.with_name("other"), lambda folder: folder is not None)
    assert [one.name for one in goal.parent.iterdir()] == ["notes"]


def test_a_place_that_takes_nothing_stays_as_it_is(goal: Path) -> None:
    goal.parent.parent.mkdir(exist_ok=True)
    goal.parent.write_text("a file where the folder of skills should be")
    with pytest.raises(OSError, match=r"exists|directory"):
        install(FORM, goal)
    goal.parent.unlink()
    skill_in(goal.parent, text=NOTES)
    with pytest.raises(OSError, match=r"name too long|File name"):
        install({**FORM, "x" * 300: b""}, goal)
    assert contents_in(goal) == {"SKILL.md": NOTES.encode()}
    assert [one.name for one in goal.parent.iterdir()] == ["notes"]


def test_what_a_kill_left_is_mended(goal: Path) -> None:
    skill_in(goal.parent, text=NOTES).rename(goal.with_name(".notes.old"))  # killed between two steps of three
    skill_in(goal.parent, name=".notes.0a1b.new", text="half")
    mend(goal)
    assert contents_in(goal) == {"SKILL.md": NOTES.encode()}
    assert [one.name for one in goal.parent.iterdir()] == ["notes"]
    skill_in(goal.parent, name=".notes.old", text="the one before")
    install(FORM, goal)
    assert contents_in(goal) == FORM
    assert [one.name for one in goal.parent.iterdir()] == ["notes"]


def test_a_folder_goes_whole_unless_somebody_wrote_into_it(goal: Path) -> None:
    install(FORM, goal)
    answers = iter([False, True, False])  # looked at where it is, and again out of the way
    for _ in range(2):
        with pytest.raises(MovedOn):
            uninstall(goal, lambda folder: next(answers))
        assert contents_in(goal) == FORM
    uninstall(goal, lambda folder: folder is not None and contents_in(folder) == FORM)
    assert list(goal.parent.iterdir()) == []
    with pytest.raises(MovedOn):
        uninstall(goal, lambda folder: folder is not None)


def test_what_cannot_be_removed_once_it_is_out_of_the_way_fails_nothing(
    goal: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Else it would be told that all is as it was."""

    def refused(folder: Path) -> None:
        raise PermissionError(folder)

    install({"SKILL.md": b"old"}, goal)
    with monkeypatch.context() as held:
        held.setattr("shutil.rmtree", refused)
        uninstall(goal, lambda _: True)
    assert not goal.exists()
    install(FORM, goal)
    assert [one.name for one in goal.parent.iterdir()] == ["notes"]
