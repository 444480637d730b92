"""Processes that run tests are forked from the one that collected them, and all that they tell is as if each had."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).parents[2]
CONFTEST: Final = """
from tests import collecting

def pytest_configure(config):
    if not hasattr(config, "workerinput") and config.getoption("dist") != "no":
        collecting.share(config)
"""
TESTS: Final = """
import os, warnings

import pytest

print("loaded once", flush=True)
with open("loaded", "a") as file:
    file.write("x")
warnings.warn("told while it is loaded")

@pytest.mark.parametrize("number", range(20))
def test_passes(number, worker_id, tmp_path):
    assert worker_id in ("gw0", "gw1") and os.environ["PYTEST_XDIST_WORKER"] == worker_id
    assert f"popen-{worker_id}" in str(tmp_path)

def test_fails():
    print("what it said")
    assert 1 + 1 == 3

def test_dies():
    os._exit(1)
"""
BAD: Final = "raise RuntimeError('not a test')"


def ran(folder: Path) -> str:
    """What a run with two processes says."""
    (folder / "conftest.py").write_text(CONFTEST)
    (folder / "pytest.ini").write_text("[pytest]\n")
    command = [
        sys.executable,
        "-m",
        "pytest",
        "-n",
        "2",
        "-p",
        "no:cacheprovider",
        "-p",
        "no:hypothesispytest",
        "-p",
        "no:simcord",
    ]
    place = {"cwd": folder, "env": {**os.environ, "PYTHONPATH": str(ROOT)}}
    return subprocess.run(command, **place, capture_output=True, text=True, timeout=50, check=False).stdout  # type: ignore[call-overload, no-any-return]


def test_what_happens_in_each_process_is_told_and_one_that_dies_has_another_in_its_place(tmp_path: Path) -> None:
    (tmp_path / "test_some.py").write_text(TESTS)
    told = ran(tmp_path)
    assert "2 failed, 20 passed" in told
    assert re.search(r"worker 'gw\d' crashed while running 'test_some.py::test_dies'", told)
    assert "assert (1 + 1) == 3" in told
    assert "what it said" in told
    assert "told while it is loaded" in told
    assert (tmp_path / "loaded").read_text() == "x"


def test_what_cannot_be_collected_is_told(tmp_path: Path) -> None:
    (tmp_path / "test_bad.py").write_text(BAD)
    told = ran(tmp_path)
    assert "not a test" in told
    assert re.search(r"=+ [12] errors? in", told)
