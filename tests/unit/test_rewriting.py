"""What pytest makes of a test's asserts is made before the processes of a run begin, and they find it."""

from __future__ import annotations

from pathlib import Path

import pytest
from _pytest.assertion import rewrite

from tests.rewriting import kept_at, missing, rewritten

TEST = "def test_one() -> None:\n    assert 1 == 2\n"


def test_what_is_made_is_what_pytest_finds(pytestconfig: pytest.Config, tmp_path: Path) -> None:
    file = tmp_path / "test_one.py"
    file.write_text(TEST)
    rewritten(pytestconfig, missing([str(tmp_path)]))
    found = rewrite._read_pyc(file, kept_at(file))
    assert found is not None
    assert "@pytest_ar" in found.co_names
    assert missing([str(tmp_path)]) == []


def test_tests_are_made_that_are_asked_for_and_not_kept(pytestconfig: pytest.Config, tmp_path: Path) -> None:
    for name in ("a/test_one.py", "a/conftest.py", "a/stage.py", "b/test_two.py"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(TEST)
    two = tmp_path / "b/test_two.py"
    assert missing([f"{tmp_path}/a"]) == [tmp_path / "a/conftest.py", tmp_path / "a/test_one.py"]
    assert missing([f"{two}::test_one"]) == [two]
    rewritten(pytestconfig, [two])
    assert missing([str(two)]) == []


def test_what_is_no_python_is_left_to_whoever_collects_it(pytestconfig: pytest.Config, tmp_path: Path) -> None:
    file = tmp_path / "test_one.py"
    file.write_text("def")
    rewritten(pytestconfig, [file])
    assert missing([str(file)]) == [file]
