"""Each module of the product can be loaded, also one that no test uses."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from typing import Final

import pytest

ROOT: Final = Path(__file__).parents[2]
ROOMS: Final = ("signalbox", "bot", "adapters", "runtime", "tools")
APART: Final = {"__main__", "migrations"}
"""What runs once it is loaded, and what Alembic loads."""


@pytest.mark.parametrize("room", ROOMS)
def test_each_module_can_be_loaded(room: str) -> None:
    paths = [path.relative_to(ROOT).with_suffix("") for path in sorted((ROOT / room).rglob("*.py"))]
    names = [".".join(path.parts).removesuffix(".__init__") for path in paths if not APART & {*path.parts}]
    assert names
    for name in names:
        import_module(name)
