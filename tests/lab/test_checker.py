"""The checker of the laboratory: it shares no code with the program, and sees each broken promise."""

from __future__ import annotations

import ast
import copy
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

import pytest

from tests.lab import checker
from tests.lab.stage import judge

PRODUCT: Final = frozenset({"bot", "adapters", "runtime", "tools", "tests"})
KEPT: Final[dict[str, Any]] = {
    "said": [{"room": "a", "token": "tok1"}, {"room": "a", "token": "tok2"}],
    "seen": {"a": [{"text": "hello tok1", "marked": False}, {"text": "hello tok2", "marked": False}]},
    "nodes": [{"name": "one", "pid": 7, "ready": 200, "healthy": 200, "seconds": 0.1, "reasons": {}}],
    "rows": {"7": "live", "6": "dead"},
    "roles": {"courier": "7"},
    "left": [{"name": "one", "code": 0, "seconds": 0.5}],
}
BREAKS: Final[dict[str, Callable[[dict[str, Any]], object]]] = {
    "lost": lambda e: e["seen"]["a"].pop(),
    "repeated": lambda e: e["seen"]["a"].append({"text": "hello tok2", "marked": False}),
    "disordered": lambda e: e["seen"]["a"].reverse(),
    "hung": lambda e: e["rows"].update({"7": "dead"}),
    "not ready": lambda e: e["nodes"][0].update(ready=503),
    "not healthy": lambda e: e["nodes"][0].update(healthy=503),
    "slow": lambda e: e["nodes"][0].update(seconds=1.5),
    "ghost": lambda e: e["rows"].update({"6": "live"}),
    "orphaned": lambda e: e["roles"].update(courier=None),
    "exit code": lambda e: e["left"][0].update(code=1),
    "late": lambda e: e["left"][0].update(seconds=11.0),
}


def test_the_checker_shares_no_code_with_the_program() -> None:
    tree = ast.parse(Path(checker.__file__).read_text(encoding="utf-8"))
    names = {name.name for node in ast.walk(tree) if isinstance(node, ast.Import) for name in node.names}
    names |= {node.module or "" for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)}
    assert not PRODUCT & {name.partition(".")[0] for name in names}


async def test_promises_that_are_kept_are_no_complaint() -> None:
    assert await judge(KEPT) == ""


@pytest.mark.parametrize("word", BREAKS)
def test_a_broken_promise_is_found_and_nothing_else(word: str) -> None:
    evidence = copy.deepcopy(KEPT)
    BREAKS[word](evidence)
    told = list(checker.broken(evidence))
    assert [line.partition(":")[0] for line in told] == [word]


async def test_a_repeat_that_says_so_is_none() -> None:
    evidence = copy.deepcopy(KEPT)
    evidence["seen"]["a"].append({"text": "(repeated) hello tok2", "marked": True})
    assert await judge(evidence) == ""
