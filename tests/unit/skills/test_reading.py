"""A skill's folder and an archive of one are read without following or writing anything that leads out."""

from __future__ import annotations

import io
import os
import tarfile
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

from runtime.domain.skills.skill import Source
from runtime.skills.archive import unpack
from runtime.skills.frontmatter import NotASkill
from runtime.skills.reading import SKILL_MAX_BYTES, read_skill
from runtime.skills.shelf import Shelf, ShelfPlace
from tests.unit.skills.making import NOTES, skill_in


def test_a_link_anywhere_in_it_makes_it_none(tmp_path: Path) -> None:
    folder = skill_in(tmp_path, files={"references/a.md": "A"})
    secret = tmp_path / "secret"
    secret.write_text("token")
    assert read_skill(folder).wrong == ()
    (folder / "references" / "b.md").symlink_to(secret)
    assert read_skill(folder).wrong == ("references/b.md is a link; a skill has plain files only",)
    (folder / "references" / "b.md").unlink()
    (folder / "more").symlink_to(tmp_path)
    assert "more is a link" in read_skill(folder).wrong[0]


def test_a_folder_that_is_a_link_and_a_pipe_are_none(tmp_path: Path) -> None:
    skill_in(tmp_path / "far")
    (tmp_path / "notes").symlink_to(tmp_path / "far" / "notes")
    assert read_skill(tmp_path / "notes").wrong == ("its folder is a link; put the folder itself there",)
    os.mkfifo(tmp_path / "far" / "notes" / "pipe")
    assert read_skill(tmp_path / "far" / "notes").wrong == ("pipe is no plain file",)


def test_too_large_and_too_many_are_none(tmp_path: Path) -> None:
    folder = skill_in(tmp_path)
    with (folder / "big").open("wb") as file:
        file.truncate(SKILL_MAX_BYTES + 1)
    assert read_skill(folder).wrong == ("it is larger than 20 MB",)
    (folder / "big").unlink()
    for number in range(201):
        (folder / f"{number}.md").touch()
    assert read_skill(folder).wrong == ("it has more than 200 files",)


def test_every_file_counts_for_its_hash_and_what_is_left_out_does_not(tmp_path: Path) -> None:
    folder = skill_in(tmp_path, files={"scripts/a.py": "1"})
    first = read_skill(folder).skill
    (folder / ".git").mkdir()
    (folder / ".git" / "config").write_text("x")
    again = read_skill(folder).skill
    (folder / "scripts" / "a.py").write_text("2")
    changed = read_skill(folder).skill
    assert first
    assert again
    assert changed
    assert first.digest == again.digest != changed.digest
    assert changed.scripts == ("a.py",)


def test_a_later_source_hides_an_earlier_one_and_an_agents_own_stays_its_own(tmp_path: Path) -> None:
    for place in ("shipped", "user", "settings", "agent"):
        skill_in(tmp_path / place, text=NOTES.replace("Name the version first.", place))
    skill_in(tmp_path / "shipped", "other", NOTES.replace("name: notes", "name: other"))
    sources = [
        ("agent", Source.AGENT),
        ("settings", Source.SETTINGS),
        ("user", Source.USER),
        ("shipped", Source.SHIPPED),
    ]
    places = [ShelfPlace(tmp_path / name, source, "ops" if name == "agent" else "") for name, source in sources]
    shelf = Shelf(lambda: places)
    assert not shelf.is_empty()
    found = {key: one.skill.body for key, one in shelf.look().items() if one.skill}
    assert found == {("", "notes"): "settings", ("", "other"): "Name the version first.", ("ops", "notes"): "agent"}


def test_a_shelf_reads_a_folder_again_once_it_changed(tmp_path: Path) -> None:
    folder = skill_in(tmp_path)
    shelf = Shelf(lambda: [ShelfPlace(tmp_path, Source.USER)])
    first = shelf.look()["", "notes"]
    assert shelf.look()["", "notes"] is first
    (folder / "SKILL.md").write_text(NOTES.replace("first", "last"))
    second = shelf.look()["", "notes"].skill
    assert second
    assert second.body == "Name the version last."
    assert Shelf(lambda: [ShelfPlace(tmp_path / "none", Source.USER)]).is_empty()


def _zip(*entries: tuple[str, bytes], mode: int = 0) -> bytes:
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in entries:
            info = zipfile.ZipInfo(name)
            info.external_attr = mode << 16
            info.compress_type = zipfile.ZIP_DEFLATED
            archive.writestr(info, content)
    return data.getvalue()


def _tar(*entries: tuple[str, bytes], kind: bytes = tarfile.REGTYPE, link: str = "") -> bytes:
    data = io.BytesIO()
    with tarfile.open(fileobj=data, mode="w:gz") as archive:
        for name, content in entries:
            info = tarfile.TarInfo(name)
            info.size, info.type, info.linkname = len(content), kind, link
            archive.addfile(info, io.BytesIO(content))
    return data.getvalue()


@pytest.mark.parametrize("pack", [_zip, _tar])
def test_an_archive_gives_the_one_skill_that_is_in_it(pack: Callable[..., bytes], tmp_path: Path) -> None:
    entries = [
        ("repo-1/README.md", b"x"),
        ("repo-1/notes/SKILL.md", NOTES.encode()),
        ("repo-1/notes/scripts/a.py", b"1"),
    ]
    folder = unpack(pack(*entries), tmp_path)
    found = read_skill(folder)
    assert found.wrong == ()
    assert sorted(found.contents) == ["SKILL.md", "scripts/a.py"]
    assert not (tmp_path / "README.md").exists()


SKILL = ("notes/SKILL.md", NOTES.encode())
BAD_ARCHIVES = {
    "up": _zip(SKILL, ("notes/../../x", b"1")),
    "absolute": _zip(SKILL, ("/etc/x", b"1")),
    "drive": _zip(SKILL, ("C:/x", b"1")),
    "backslash": _zip(SKILL, ("notes/..\\..\\x", b"1")),
    "link in a zip": _zip(SKILL, ("notes/l", b"/etc/passwd"), mode=0o120777),
    "link in a tar": _tar(SKILL, kind=tarfile.SYMTYPE, link="/etc/passwd"),
    "hard link": _tar(SKILL, kind=tarfile.LNKTYPE, link="/etc/passwd"),
    "device": _tar(SKILL, kind=tarfile.CHRTYPE),
    "pipe": _tar(SKILL, kind=tarfile.FIFOTYPE),
    "bomb": _zip(SKILL, ("notes/zeros", bytes(SKILL_MAX_BYTES + 1))),
    "bomb in a tar": _tar(SKILL, ("notes/zeros", bytes(SKILL_MAX_BYTES + 1))),
    "several": _zip(SKILL, ("other/SKILL.md", b"x")),
    "none": _zip(("notes/README.md", b"x")),
    "no archive": b"hello",
    "cut": _zip(SKILL)[:-30],
}


@pytest.mark.parametrize("data", BAD_ARCHIVES.values(), ids=BAD_ARCHIVES)
def test_an_archive_that_leads_out_or_swells_leaves_nothing(data: bytes, tmp_path: Path) -> None:
    place = tmp_path / "a" / "b"
    place.mkdir(parents=True)
    with pytest.raises(NotASkill):
        unpack(data, place)
    assert [path for path in tmp_path.rglob("*") if path.is_file() or path.is_symlink()] == []
