"""The wheel: what is in it, and that it is enough."""

from __future__ import annotations

import json
import sys
import tomllib
import zipfile
from pathlib import Path

import pytest
from hatchling.builders.wheel import WheelBuilder

from tests.packages import packages, project
from tests.packaging.conftest import Installed
from tests.packaging.environment import ROOT, bare, run
from tests.packaging.service import serving, status
from tests.unit.test_docs import blocks

pytestmark = [pytest.mark.xdist_group("packaging"), pytest.mark.timeout(180)]

FOLDERS = ("adapters", "bot", "config", "runtime", "signalbox", "tools")
LOADED = "import adapters, bot, runtime, signalbox, tools, json, sys; print(json.dumps([bot.__file__, sys.path]))"


def sources() -> set[str]:
    found = (path for folder in FOLDERS for path in (ROOT / folder).rglob("*") if path.is_file())
    found = (path.relative_to(ROOT) for path in found if "__pycache__" not in path.parts)
    return {str(path) for path in found if not path.is_relative_to("adapters/packages")}


def test_it_holds_what_the_program_is_made_of_and_nothing_else(installed: Installed) -> None:
    with zipfile.ZipFile(installed.wheel) as wheel:
        names = set(wheel.namelist())
    about = {name for name in names if ".dist-info/" in name}
    assert names - about == sources()
    assert {name.rsplit("/", 1)[1] for name in about} == {"METADATA", "WHEEL", "RECORD", "entry_points.txt"}


@pytest.mark.parametrize("package", packages(), ids=lambda package: package.name)
def test_a_package_outside_the_core_has_a_wheel_of_its_own(package: Path, tmp_path: Path) -> None:
    name = project(package)["name"].replace("-", "_")
    (built,) = WheelBuilder(str(package)).build(directory=str(tmp_path), versions=["standard"])
    with zipfile.ZipFile(built) as wheel:
        held = {path for path in wheel.namelist() if ".dist-info/" not in path}
    found = (path for path in (package / name).rglob("*") if path.is_file() and "__pycache__" not in path.parts)
    assert held == {str(path.relative_to(package)) for path in found}


@pytest.mark.parametrize("package", packages(), ids=lambda package: package.name)
def test_a_package_outside_the_core_is_held_to_signalbox_alone(package: Path) -> None:
    told = tomllib.loads((package / "pyproject.toml").read_text())["tool"]["importlinter"]
    (contract,) = told["contracts"]
    assert contract["source_modules"] == [told["root_package"]] == [project(package)["name"].replace("-", "_")]
    assert {*contract["forbidden_modules"]} == {*FOLDERS} - {"config", "signalbox"}
    assert not contract.keys() & {"ignore_imports", "allow_indirect_imports"}


@pytest.mark.parametrize(
    "name",
    [
        "adapters/web/page/index.html",
        "bot/console/static/console.css",
        "config/example.toml",
        "config/grafana.json",
        "config/prompts/main.md",
        "config/signalbox.service",
        "runtime/store/migrations/script.py.mako",
    ],
)
def test_what_is_no_code_is_there_too(installed: Installed, name: str) -> None:
    assert (installed.site / name).read_bytes() == (ROOT / name).read_bytes()


def test_what_the_lock_names_is_all_it_needs(installed: Installed, tmp_path: Path) -> None:
    checked = run(sys.executable, "-m", "pip", "--python", installed.home, "check", folder=tmp_path)
    assert checked.returncode == 0, checked.stdout


def test_nothing_is_taken_from_the_folder_it_was_built_in(installed: Installed, tmp_path: Path) -> None:
    told = run(installed.python, "-c", LOADED, folder=tmp_path)
    file, path = json.loads(told.stdout)
    assert Path(file).parent.parent == installed.site
    assert str(ROOT) not in path
    for module in ("tests", "bench", "pytest"):
        assert "ModuleNotFoundError" in run(installed.python, "-c", f"import {module}", folder=tmp_path).stderr


def test_its_migrations_make_the_tables_of_its_schema(installed: Installed, tmp_path: Path) -> None:
    checked = run(installed.python, "-m", "runtime.store.check", folder=tmp_path)
    assert checked.returncode == 0, checked.stdout + checked.stderr


def test_it_runs_answers_and_leaves_in_a_folder_of_its_own(installed: Installed, tmp_path: Path) -> None:
    told = run(installed.signalbox, "version", folder=tmp_path)
    assert told.stdout.startswith("signalbox 0.")
    start = [str(installed.signalbox), "run", "--port", "0"]
    with serving(start, folder=tmp_path, data=tmp_path / "var", variables=bare(tmp_path)) as service:
        assert status(f"{service.url}/readyz") == 200
        answered = run(installed.signalbox, "ask", "list the files", folder=tmp_path)
        assert answered.returncode == 0, answered.stderr
        assert "The folder is empty." in answered.stdout
        assert service.leave() == 0


FIRST_TEST = "import asyncio, pathlib, test_first; asyncio.run(test_first.test_it_answers(pathlib.Path('kept')))"


@pytest.mark.soak
def test_the_first_test_of_the_cookbook_passes_where_nothing_else_is_installed(
    installed: Installed, tmp_path: Path
) -> None:
    (block,) = (one for one in blocks(ROOT / "docs" / "cookbook.md") if "wheel" in one.marks)
    (tmp_path / "test_first.py").write_text(block.text, encoding="utf-8")
    (tmp_path / "kept").mkdir()
    told = run(installed.python, "-c", FIRST_TEST, folder=tmp_path)
    assert told.returncode == 0, told.stdout + told.stderr
