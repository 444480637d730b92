"""Each module of the product can be loaded, also one that no test uses."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from typing import Final

import pytest

from tests.packages import packages

ROOT: Final = Path(__file__).parents[2]
ROOMS: Final = ("signalbox", "bot", "adapters", "runtime", "tools")
APART: Final = {"__main__", "migrations", "packages"}
"""What runs once it is loaded, what Alembic loads, and `adapters/packages`, whose packages have names of their own."""


@pytest.mark.parametrize("room", ROOMS)
def test_each_module_can_be_loaded(room: str) -> None:
    _loaded(ROOT, room)


def test_each_module_of_a_package_of_its_own_can_be_loaded() -> None:
    for package in packages():
        (room,) = (path.parent.name for path in package.glob("*/__init__.py"))
        _loaded(package, room)


def _loaded(root: Path, room: str) -> None:
    paths = [path.relative_to(root).with_suffix("") for path in sorted((root / room).rglob("*.py"))]
    names = [".".join(path.parts).removesuffix(".__init__") for path in paths if not APART & {*path.parts}]
    assert names
    for name in names:
        import_module(name)
