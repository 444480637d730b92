"""The lock of the data folder, and how a running process is found."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from bot.node.lock import AlreadyRunning, Control, announced, control_of, holder, holding
from runtime.errors import ConfigError, StoreError
from tests.fakes.ending import Ending


@pytest.fixture(name="control")
def _control() -> Control:
    return Control("http://127.0.0.1:1", "sesame", os.getpid())


HOLD = "import sys, time; from pathlib import Path; from bot.node.lock import holding\nwith holding(Path(sys.argv[1])):\n    print('held', flush=True); time.sleep(60)"


def test_a_second_process_is_refused_and_told_the_first_ones_pid(tmp_path: Path) -> None:
    with Ending([sys.executable, "-c", HOLD, str(tmp_path)], stdout=subprocess.PIPE, text=True) as other:
        assert other.stdout is not None
        other.stdout.readline()
        assert holder(tmp_path) == other.pid
        with pytest.raises(AlreadyRunning, match=f"process {other.pid}"), holding(tmp_path):
            pass
        other.kill()
    assert holder(tmp_path) is None
    with holding(tmp_path):  # a killed process leaves nothing that is in the way
        assert holder(tmp_path) == os.getpid()


def test_it_counts_as_a_wrong_setting() -> None:
    assert issubclass(AlreadyRunning, ConfigError)


def test_the_folder_is_made_for_its_user_alone(tmp_path: Path) -> None:
    with holding(tmp_path / "a" / "b"):
        assert (tmp_path / "a" / "b").stat().st_mode & 0o777 == 0o700


def test_an_error_in_the_block_stays_what_it_is(tmp_path: Path) -> None:
    with pytest.raises(OSError, match="mine"), holding(tmp_path):
        raise OSError("mine")


def test_a_folder_that_cannot_be_made_is_told_with_its_setting(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(StoreError, match=r"data_dir: .* cannot be written"), holding(tmp_path / "file" / "x"):
        pass


def test_control_is_for_the_user_alone_and_gone_afterwards(tmp_path: Path, control: Control) -> None:
    with holding(tmp_path), announced(tmp_path, control):
        assert (tmp_path / "control.json").stat().st_mode & 0o777 == 0o600
        assert control_of(tmp_path) == control
    assert not (tmp_path / "control.json").exists()
    assert control_of(tmp_path) is None


@pytest.mark.parametrize("left", ['{"url": "x", "token": "t", "pid": 1}', "{", "[]", "{}"])
def test_what_a_killed_process_left_means_nothing(tmp_path: Path, left: str) -> None:
    (tmp_path / "control.json").write_text(left)
    assert control_of(tmp_path) is None
    with holding(tmp_path):
        assert control_of(tmp_path) is None


def test_the_token_does_not_show(control: Control) -> None:
    assert "sesame" not in repr(control)
