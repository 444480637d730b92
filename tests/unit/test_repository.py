"""Rules about the repository itself that no linter knows."""

import ast
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


def test_the_contract_needs_only_the_standard_library() -> None:
    trees = [ast.parse(file.read_text()) for file in (ROOT / "runtime" / "contract").glob("*.py")]
    nodes = [node for tree in trees for node in ast.walk(tree)]
    names = [alias.name for node in nodes if isinstance(node, ast.Import) for alias in node.names]
    names += [node.module or "." for node in nodes if isinstance(node, ast.ImportFrom)]
    others = [name for name in names if not name.startswith("runtime.contract.")]
    assert {name.split(".")[0] for name in others} <= sys.stdlib_module_names


@pytest.mark.skipif(os.name == "nt", reason="a Makefile for POSIX")
def test_an_old_python_is_refused_by_name(tmp_path: Path) -> None:
    old = tmp_path / "old python"
    old.write_text('#!/bin/sh\n[ "$1" = -V ] && echo "Python 3.9.2" && exit\nexit 1\n')
    old.chmod(0o755)
    (tmp_path / "Makefile").symlink_to(ROOT / "Makefile")
    for name in ["pyproject.toml", "requirements.lock", "requirements-dev.lock"]:
        (tmp_path / name).touch()
    ended = subprocess.run(["make", "run", f"PYTHON={old}"], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert ended.returncode == 2
    assert "needs Python 3.11 or newer" in ended.stderr
    assert "Python 3.9.2" in ended.stderr


def test_what_the_recipes_of_the_docs_leave_behind_is_not_committed() -> None:
    """What they write lies in the clone, with conversations and keys in it."""
    recipes = "".join((ROOT / "docs" / name).read_text() for name in ("start.md", "backup.md"))
    folders = re.findall(r"SIGNALBOX_DATA_DIR=(\w+)", recipes)
    backups = re.findall(r"signalbox backup (?:--\S+ )?(\w+\.zip)", recipes)
    places = [*{f"{folder}/signalbox.db" for folder in folders}, *set(backups), "var/signalbox.db", "signalbox.toml"]
    assert {"rescued/signalbox.db", "monday.zip"} <= set(places)
    ended = subprocess.run(["git", "check-ignore", *places], cwd=ROOT, capture_output=True, text=True, check=False)
    assert sorted(ended.stdout.split()) == sorted(places)


def test_one_module_alone_opens_files_beside_commands() -> None:
    """What never follows a link is written once: `runtime/workspace/safe_fs.py`."""
    folders = ("bot", "adapters", "runtime", "tools")
    code = (file for folder in folders for file in (ROOT / folder).rglob("*.py"))
    assert [file.name for file in code if "os.O_NOFOLLOW" in file.read_text()] == ["safe_fs.py"]
