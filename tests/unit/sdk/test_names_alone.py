"""`import signalbox` costs next to nothing: each name is loaded when it is first used."""

from __future__ import annotations

import json
from typing import Final

import pytest

import signalbox
from tests.fakes.fresh import AllFresh

pytestmark = pytest.mark.xdist_group("fresh")

LOOK: Final = """
import json, sys
before = set(sys.modules)
import signalbox
told = [sorted(set(sys.modules) - before)]
from signalbox import tool
told.append(sorted(name for name in sys.modules if name.partition(".")[0] in ("bot", "adapters", "aiohttp", "sqlalchemy")))
print(json.dumps(told))
"""


def test_the_name_alone_loads_nothing_else(fresh: AllFresh) -> None:
    ended = fresh.after("json", "typing", "importlib").run(LOOK)
    assert ended.returncode == 0, ended.stderr
    alone, with_tool = json.loads(ended.stdout)
    assert alone == ["signalbox"]
    assert with_tool == [], "a tool needs the words of tools, and no process"


def test_each_name_is_there() -> None:
    assert {name: getattr(signalbox, name) for name in signalbox.__all__}
    assert {*signalbox.__all__} <= {*dir(signalbox)}
    assert {*signalbox.HOMES, "__version__"} == {*signalbox.__all__}
    with pytest.raises(AttributeError, match="has no attribute 'Agents'"):
        signalbox.Agents  # noqa: B018 - asking is the test
