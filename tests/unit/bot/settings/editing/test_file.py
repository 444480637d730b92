"""The settings file on the disk: whole or not at all, by nobody else changed meanwhile, with mode and place kept."""

from __future__ import annotations

import os
import signal
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from bot.settings.editing.file import FileChanged, read_settings_file, replace_file, unwritable
from runtime.errors import ConfigError

KILLED = """
import os, signal, sys
from pathlib import Path
from bot.settings.editing.file import read_settings_file, replace_file
read = read_settings_file(Path(sys.argv[1]))
replace_file(read.place, read.digest, "after = 1\\n", lambda: os.kill(os.getpid(), signal.SIGKILL))
"""


@pytest.fixture
def file(tmp_path: Path) -> Path:
    made = tmp_path / "signalbox.toml"
    made.write_text("before = 1\n")
    return made


def test_it_is_replaced_with_its_mode(file: Path) -> None:
    file.chmod(0o640)
    read = read_settings_file(file)
    digest = replace_file(read.place, read.digest, "after = 1\n")
    assert read_settings_file(file).digest == digest
    assert file.read_text() == "after = 1\n"
    assert stat.S_IMODE(file.stat().st_mode) == 0o640
    assert [one.name for one in file.parent.iterdir()] == [file.name]


def test_a_file_that_changed_meanwhile_is_left_alone(file: Path) -> None:
    read = read_settings_file(file)
    file.write_text("theirs = 1\n")
    with pytest.raises(FileChanged):
        replace_file(read.place, read.digest, "ours = 1\n")
    assert file.read_text() == "theirs = 1\n"


def test_a_kill_before_the_name_changes_leaves_the_old_file_and_no_trouble(file: Path) -> None:
    ended = subprocess.run(
        [sys.executable, "-c", KILLED, str(file)],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
        check=False,
    )
    assert ended.returncode == -signal.SIGKILL
    assert file.read_text() == "before = 1\n"
    read = read_settings_file(file)
    replace_file(read.place, read.digest, "after = 1\n")
    assert file.read_text() == "after = 1\n"
    assert [one.name for one in file.parent.iterdir()] == [file.name]


def test_a_link_stays_one_and_its_file_is_changed(file: Path, tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    link = tmp_path / "elsewhere" / "signalbox.toml"
    link.symlink_to(file)
    read = read_settings_file(link)
    replace_file(read.place, read.digest, "after = 1\n")
    assert link.is_symlink()
    assert file.read_text() == "after = 1\n"


def test_what_is_no_file_is_refused_in_words(file: Path, tmp_path: Path) -> None:
    loose = tmp_path / "loose.toml"
    loose.symlink_to(tmp_path / "nowhere")
    for place, words in (
        (loose, "leads nowhere"),
        (tmp_path / "gone", "isn't there"),
        (tmp_path, "plain file"),
    ):
        with pytest.raises(ConfigError, match=words):
            read_settings_file(place)
    (tmp_path / "bad.toml").write_bytes(b"\xff")
    with pytest.raises(ConfigError, match="can't be read"):
        read_settings_file(tmp_path / "bad.toml")


def test_a_file_that_was_never_there_is_made_for_its_owner_alone(tmp_path: Path) -> None:
    place = tmp_path / "signalbox.toml"
    read = read_settings_file(place, may_be_new=True)
    assert (read.text, read.is_new, unwritable(place)) == ("", True, "")
    replace_file(read.place, read.digest, "made = 1\n")
    assert (place.read_text(), stat.S_IMODE(place.stat().st_mode)) == ("made = 1\n", 0o600)
    with pytest.raises(FileChanged):
        replace_file(read.place, read.digest, "twice = 1\n")
    assert read_settings_file(place, may_be_new=True).text == "made = 1\n"


def test_a_link_laid_in_the_place_of_the_draft_is_not_followed(file: Path, tmp_path: Path) -> None:
    target = tmp_path / "target"
    target.write_text("precious")
    (tmp_path / ".signalbox.toml.edited").symlink_to(target)
    read = read_settings_file(file)
    replace_file(read.place, read.digest, "after = 1\n")
    assert target.read_text() == "precious"


def test_a_writable_file_has_no_reason_against_it(file: Path) -> None:
    assert unwritable(file) == ""


@pytest.mark.skipif(os.geteuid() != 0, reason="only root may act as somebody else")
def test_a_folder_or_file_of_somebody_else_is_refused_in_words(file: Path) -> None:
    file.parent.chmod(0o755)
    words = subprocess.run(
        [
            sys.executable,
            "-c",
            f"import os\nfrom pathlib import Path\nfrom bot.settings.editing.file import unwritable\nos.setgroups([])\nos.setgid(65534)\nos.setuid(65534)\nprint(unwritable(Path({str(file)!r})))",
        ],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert "may not write into" in words.stdout or "Permission denied" in words.stderr
