"""Commands that test or compile a project, by the files that it has. Pure."""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

JUNIT: Final = ".signalbox-junit.xml"
"""File of the project's folder into which pytest writes what became of each test."""
PYTHON: Final = "export PYTHONPYCACHEPREFIX=/tmp/pycache; PY=python3; [ -x .venv/bin/python ] && PY=.venv/bin/python"
PYTEST: Final = f"-m pytest -q -p no:cacheprovider -o junit_family=xunit1 --junitxml={JUNIT}"
READ: Final = ("pyproject.toml", "setup.cfg", "tox.ini", "package.json", "Makefile", "makefile", "GNUmakefile")
"""Files that are looked into."""
MAKEFILES: Final = ("GNUmakefile", "makefile", "Makefile")
TEST_TARGET: Final = re.compile(r"^(?:test|check)\s*:(?!=)", re.MULTILINE)
C_FILES: Final = (".c", ".cc", ".cpp", ".cxx")


@dataclass(frozen=True, slots=True)
class Preset:
    """A command under the name of its program, in which `{pattern}` stands for the tests that are wanted."""

    name: str
    command: str

    def line(self, pattern: str = "") -> str:
        return self.command.replace("{pattern}", pattern and shlex.quote(pattern))


def preset_of_tests(files: Mapping[str, str], own: str = "", pattern: str = "") -> Preset | None:
    """The way to test a project with these files, by their names, and the text of those in READ; None where none is known.

    >>> preset_of_tests({"Cargo.toml": ""}).name
    'cargo'
    """
    if own:
        return Preset("your command", own)
    if "Cargo.toml" in files:
        return Preset("cargo", "cargo test --offline --color never {pattern}")
    if "go.mod" in files:
        return Preset("go", f"go test -json {'-run {pattern} ' if pattern else ''}./...")
    if _has_script(files.get("package.json", ""), "test"):
        return Preset("npm", f"CI=1 npm test --silent {'-- {pattern}' if pattern else ''}")
    if _uses_pytest(files):
        return Preset("pytest", _python(PYTEST, pattern))
    if _is_python(files):
        # Where pytest is there, it knows tests of unittest too.
        known = _python(PYTEST, pattern)
        plain = _python("-m unittest discover -v", pattern)
        return Preset("unittest", f"{PYTHON}; if $PY -c 'import pytest' 2>/dev/null; then {known}; else {plain}; fi")
    if any(TEST_TARGET.search(files.get(name, "")) for name in MAKEFILES):
        target = (
            "test" if any(re.search(r"^test\s*:", files.get(name, ""), re.MULTILINE) for name in MAKEFILES) else "check"
        )
        return Preset("make", f"make {target}")
    return None


def preset_of_compiler(files: Mapping[str, str], own: str = "") -> Preset | None:
    """The way to compile a project with these files.

    >>> preset_of_compiler({"a.py": ""}).name
    'python'
    """
    if own:
        return Preset("your command", own)
    if "Cargo.toml" in files:
        return Preset("cargo", "cargo build --offline --color never --message-format short")
    if "go.mod" in files:
        return Preset("go", "go build ./...")
    if "tsconfig.json" in files:
        return Preset("tsc", "PATH=node_modules/.bin:$PATH tsc --noEmit --pretty false")
    if any(name in files for name in MAKEFILES):
        return Preset("make", "make")
    if found := sorted(name for name in files if name.endswith(C_FILES)):
        return Preset("gcc", f"gcc -Wall -fsyntax-only {shlex.join(found)}")
    if _is_python(files):
        return Preset("python", f"{PYTHON}; $PY -m compileall -q -x '/(\\.venv|node_modules)/' .")
    return None


def _python(arguments: str, pattern: str) -> str:
    return f"{PYTHON}; $PY {arguments}{' -k {pattern}' if pattern else ''}"


def _uses_pytest(files: Mapping[str, str]) -> bool:
    if "pytest.ini" in files or "conftest.py" in files or "[tool.pytest" in files.get("pyproject.toml", ""):
        return True
    return any("pytest]" in files.get(name, "") for name in ("setup.cfg", "tox.ini"))


def _is_python(files: Mapping[str, str]) -> bool:
    return any(name.endswith(".py") or name in ("pyproject.toml", "setup.cfg") for name in files) or "tests" in files


def _has_script(package: str, name: str) -> bool:
    try:
        found = json.loads(package or "{}")
    except ValueError:
        return False
    scripts = found.get("scripts") if isinstance(found, dict) else None
    return isinstance(scripts, dict) and isinstance(scripts.get(name), str)
