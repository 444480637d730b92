"""A log that stays in bounds, and whose last lines are found across its files."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from bot.service.rotation import LogFile, last_lines
from runtime.errors import ConfigError

WRITES = """
import os, sys
from pathlib import Path
from bot.service.rotation import LogFile, opened, _redirect
kept = LogFile(Path(sys.argv[1]), bytes_max=1000, kept=2)
kept.take_over()
for number in range(100):
    os.write(1 + number % 2, b"line %d %s\\n" % (number, b"x" * 60))
    if kept.rotate():
        _redirect(opened(kept.path))
"""


def test_both_outputs_go_there_and_old_files_are_dropped(tmp_path: Path) -> None:
    log = tmp_path / "deep" / "service.log"
    subprocess.run([sys.executable, "-c", WRITES, str(log)], check=True)
    assert sorted(file.name for file in log.parent.iterdir()) == ["service.log", "service.log.1", "service.log.2"]
    assert all(file.stat().st_size < 1100 for file in log.parent.iterdir())
    found = [line.split()[1] for line in last_lines(log, 20)]
    assert found == [str(number) for number in range(80, 100)]


def test_the_last_lines_of_nothing_are_none(tmp_path: Path) -> None:
    assert last_lines(tmp_path / "none", 5) == []


def test_a_link_in_place_of_the_log_is_not_followed(tmp_path: Path) -> None:
    (tmp_path / "service.log").symlink_to(tmp_path / "precious")
    with pytest.raises(ConfigError, match="can't be written"):
        LogFile(tmp_path / "service.log").take_over()
    assert not (tmp_path / "precious").exists()
