"""Rules about the repository itself that no linter knows."""

import ast
import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
LOCKS = ["requirements.lock", "requirements-dev.lock"]


def pins(lock: str) -> dict[str, str]:
    """Name to version, of each requirement in `lock`."""
    text = (ROOT / lock).read_text()
    return dict(re.findall(r"^([a-z0-9-]+)==([^\s;]+)", text, flags=re.MULTILINE))


@pytest.mark.parametrize("lock", LOCKS)
def test_a_lock_names_no_host_or_path(lock: str) -> None:
    text = (ROOT / lock).read_text()
    assert "://" not in text
    assert not re.search(r"^\s*(-i|-f|--index-url|--extra-index-url|--find-links|--trusted-host)\b", text, re.MULTILINE)
    assert not re.search(r"(^|\s)/\w", text)


@pytest.mark.parametrize("lock", LOCKS)
def test_every_pin_has_hashes(lock: str) -> None:
    blocks = re.split(r"\n(?=\S)", (ROOT / lock).read_text())
    assert not [block for block in blocks if "==" in block.split("\n")[0] and "--hash=sha256:" not in block]


def test_development_adds_to_the_runtime_lock() -> None:
    assert pins("requirements.lock").items() <= pins("requirements-dev.lock").items()


def test_the_build_backend_is_locked() -> None:
    for requirement in _project()["build-system"]["requires"]:
        name, version = requirement.split("==")
        assert pins("requirements.lock")[name] == version


def test_bad_releases_of_litellm_stay_out() -> None:
    # 1.82.7, 1.82.8 and 1.107.0 carried malware, so the version moves by hand and never by a range.
    assert "litellm[mcp]==1.106.2" in _project()["project"]["dependencies"]
    assert pins("requirements.lock")["litellm"] == "1.106.2"


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
    for name in ["pyproject.toml", *LOCKS]:
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


def _project() -> dict[str, dict[str, list[str]]]:
    return tomllib.loads((ROOT / "pyproject.toml").read_text())


def test_one_module_alone_opens_files_beside_commands() -> None:
    """What never follows a link is written once: `runtime/workspace/safe_fs.py`."""
    folders = ("bot", "adapters", "runtime", "tools")
    code = (file for folder in folders for file in (ROOT / folder).rglob("*.py"))
    assert [file.name for file in code if "os.O_NOFOLLOW" in file.read_text()] == ["safe_fs.py"]
