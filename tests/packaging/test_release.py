"""`make release`: of a small project in full, of this one as a dry run."""

from __future__ import annotations

import subprocess
import tarfile
import zipfile
from dataclasses import replace
from datetime import date
from pathlib import Path

import pytest

from tests.packaging.environment import ROOT
from tests.release.__main__ import run
from tests.release.steps import SUMS, Release, Unreleasable, built_twice, check_version, difference, fragments_of

DAY = date(2026, 11, 27)
PROJECT = """
[build-system]
requires = ["hatchling"]
build-backend = "hatchling.build"

[project]
name = "small-thing"
version = "0.1.0.dev0"
description = "Small."
requires-python = ">=3.11"

[tool.hatch.build.targets.wheel]
packages = ["small"]

[tool.towncrier]
name = "Small"
directory = "docs/changes"
filename = "CHANGELOG.md"
start_string = "<!-- towncrier release notes start -->\\n"
title_format = "## {version} ({project_date})"
underlines = ["", "", ""]
issue_format = "#{issue}"
ignore = ["README.md"]
type = [{ directory = "added", name = "Added", showcontent = true }]
"""


def _git(root: Path, *words: str) -> str:
    told = subprocess.run(
        ["git", "-c", "user.name=t", "-c", "user.email=t@example.org", *words],
        cwd=root,
        capture_output=True,
        text=True,
        check=True,
    )
    return told.stdout


@pytest.fixture
def small(tmp_path: Path) -> Release:
    root = tmp_path / "small"
    for name, text in {
        "pyproject.toml": PROJECT,
        "requirements.lock": "",
        "CHANGELOG.md": "# Changelog\n\n<!-- towncrier release notes start -->\n",
        "docs/changes/7.added.md": "It does something.\n",
        "docs/changes/README.md": "Fragments.\n",
        "small/__init__.py": "",
        ".gitignore": "/dist/\n",
    }.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)
    _git(root, "init", "-q")
    _git(root, "add", "-A")
    _git(root, "commit", "-qm", "All")
    return Release(root=root, version="0.2.0", day=DAY, engines=())


def _everything(root: Path) -> dict[str, bytes]:
    return {str(file): file.read_bytes() for file in root.rglob("*") if file.is_file() and ".git" not in file.parts}


def test_a_release_has_version_changelog_archives_and_sums(small: Release) -> None:
    said: list[str] = []
    run(small, said.append, dry=False)
    assert 'version = "0.2.0"' in (small.root / "pyproject.toml").read_text()
    assert "## 0.2.0 (2026-11-27)" in (small.root / "CHANGELOG.md").read_text()
    assert "It does something. (#7)" in (small.root / "CHANGELOG.md").read_text()
    assert sorted(file.name for file in (small.root / "docs" / "changes").iterdir()) == ["README.md"]
    names = ["small_thing-0.2.0-py3-none-any.whl", "small_thing-0.2.0.cdx.json", "small_thing-0.2.0.tar.gz"]
    assert sorted(file.name for file in (small.root / "dist").iterdir()) == [SUMS, *names]
    subprocess.run(["sha256sum", "--check", "--strict", "--quiet", SUMS], cwd=small.root / "dist", check=True)
    assert any("no image was made" in line for line in said)
    with tarfile.open(small.root / "dist" / names[2]) as archive:
        assert "small_thing-0.2.0/small/__init__.py" in archive.getnames()
        assert {member.mtime for member in archive.getmembers()} == {small.epoch}


def test_a_dry_run_changes_nothing(small: Release) -> None:
    before, said = _everything(small.root), list[str]()
    (small.root / "small" / "fresh.py").write_text("not committed")
    run(small, said.append, dry=True)
    (small.root / "small" / "fresh.py").unlink()
    assert _everything(small.root) == before
    assert said[-1] == "This was a dry run: nothing has changed."


def test_what_is_not_committed_is_not_released(small: Release) -> None:
    (small.root / "small" / "__init__.py").write_text("changed")
    with pytest.raises(Unreleasable, match=r"Not everything is committed: small/__init__.py\."):
        run(small, lambda _: None, dry=False)
    assert not (small.root / "dist").exists()


@pytest.mark.parametrize(
    ("version", "words"),
    [
        ("", "is no version"),
        ("one", "is no version"),
        ("0.1.0.dev0", "write 0.1.0"),
        ("v0.2.0", "write 0.2.0"),
        ("0.2.0+local", "write 0.2.0"),
        ("0.0.9", "isn't later than 0.1.0.dev0"),
        ("0.3.0", "There is a tag v0.3.0"),
    ],
)
def test_a_version_that_cannot_be_is_refused(small: Release, version: str, words: str) -> None:
    _git(small.root, "tag", "v0.3.0")
    with pytest.raises(Unreleasable, match=words):
        check_version(replace(small, version=version))


@pytest.mark.parametrize(
    ("name", "text", "words"),
    [
        ("7.added.md", None, "nothing to release"),
        ("8.added.md", " \n", "empty fragments: 8.added.md"),
        ("8.new.md", "x", "no fragments: 8.new.md"),
    ],
)
def test_fragments_that_would_be_lost_are_told(small: Release, name: str, text: str | None, words: str) -> None:
    file = small.root / "docs" / "changes" / name
    file.unlink() if text is None else file.write_text(text)
    with pytest.raises(Unreleasable, match=words):
        fragments_of(small.root)


def test_builds_that_differ_are_refused(small: Release, tmp_path: Path) -> None:
    """One that looks at the folder that it is built in."""
    (small.root / "hatch_build.py").write_text(
        "from hatchling.builders.hooks.plugin.interface import BuildHookInterface\n"
        "class CustomBuildHook(BuildHookInterface):\n"
        "    def initialize(self, version, build_data):\n"
        "        open('small/where.txt', 'w').write(self.root)\n"
    )
    (small.root / "pyproject.toml").write_text(f"{PROJECT}\n[tool.hatch.build.hooks.custom]\n")
    with pytest.raises(Unreleasable, match=r"differ: .*small/where.txt is not the same"):
        built_twice(small.root, tmp_path / "work", replace(small, version="0.1.0.dev0"))


def test_the_first_difference_of_two_archives_is_named(tmp_path: Path) -> None:
    for name, text in (("a", "1"), ("b", "2")):
        with zipfile.ZipFile(tmp_path / f"{name}.whl", "w") as wheel:
            wheel.writestr("same", "x")
            wheel.writestr("other", text)
    assert difference(tmp_path / "a.whl", tmp_path / "b.whl") == "other is not the same in both"
    assert difference(tmp_path / "a.whl", tmp_path / "a.whl") == "their order, dates or modes of files"


@pytest.mark.soak
@pytest.mark.timeout(600)
def test_this_project_can_be_released_and_a_dry_run_leaves_it_alone() -> None:
    before = _git(ROOT, "status", "--porcelain")
    said: list[str] = []
    run(Release(root=ROOT, version="99.0.0", day=DAY), said.append, dry=True)
    assert _git(ROOT, "status", "--porcelain") == before
    assert any(line.endswith("signalbox_bot-99.0.0-py3-none-any.whl") for line in said)
