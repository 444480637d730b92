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
PIDS: Final = {"one": 7, "two": 8}
KEPT: Final[dict[str, Any]] = {
    "said": [{"room": "a", "token": "tok1"}, {"room": "a", "token": "tok2"}],
    "seen": {"a": [{"text": "hello tok1", "marked": False}, {"text": "hello tok2", "marked": False}]},
    "nodes": [{"name": "one", "pid": 7, "ready": 200, "healthy": 200, "seconds": 0.1, "reasons": {}}],
    "rows": {"7": "live", "6": "dead"},
    "roles": {"courier": "7"},
    "left": [{"name": "one", "code": 0, "seconds": 0.5}],
    "lines": [{"token": "tok1", "kind": "idle", "took": 1.0, "within": 7.0}],
    "lease": 1.0,
    "faults": [
        {"node": "one", "what": "store", "begins": 100.0, "ends": 110.0},
        {"node": "two", "what": "platform", "channel": "telegram", "begins": 200.0, "ends": 240.0},
        {"node": "one", "what": "frozen", "begins": 300.0, "ends": 303.0},
    ],
    "looks": [
        {"node": "one", "at": 50.0, "seconds": 0.1, "ready": 200, "reasons": {}},
        {"node": "one", "at": 102.9, "seconds": 0.1, "ready": 200, "reasons": {}},
        {"node": "one", "at": 103.1, "seconds": 0.1, "ready": 503, "reasons": {"store": "away"}},
        {"node": "one", "at": 205.0, "seconds": 0.1, "ready": 503, "reasons": {"telegram:tg": "taking over"}},
        {"node": "two", "at": 221.0, "seconds": 0.1, "ready": 503, "reasons": {"telegram:tg": "away"}},
        {"node": "one", "at": 299.9, "seconds": 3.1, "ready": 200, "reasons": {}},
    ],
    "tables": [
        {"at": 50.0, "rows": {"7": "live", "8": "live"}, "roles": {"courier:telegram:1": "8"}, "pids": PIDS},
        {"at": 105.0, "rows": {"7": "dead", "8": "live"}, "roles": {"courier:telegram:1": "8"}, "pids": PIDS},
        {"at": 210.0, "rows": {"7": "live", "8": "live"}, "roles": {"courier:telegram:1": "8"}, "pids": PIDS},
        {"at": 221.0, "rows": {"7": "live", "8": "live"}, "roles": {"courier:telegram:1": "7"}, "pids": PIDS},
    ],
    "usage": [
        {"node": "one", "messages": n, "memory": 90_000 + n // 20, "descriptors": 30, "threads": 9}
        for n in (0, 1_000, 2_000)
    ],
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
    "slow answer": lambda e: e["lines"][0].update(took=7.5),
    "untrue": lambda e: e["looks"][2].update(ready=200),
    "kept": lambda e: e["tables"][3]["roles"].update({"courier:telegram:1": "8"}),
    "grows": lambda e: e["usage"][2].update(memory=91_000),
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


UNTRUE: Final[dict[str, Callable[[dict[str, Any]], object]]] = {
    "ready in a fault of the platform": lambda e: e["looks"][4].update(ready=200),
    "not ready without a fault": lambda e: e["looks"][0].update(ready=503),
    "its store away in another's fault": lambda e: e["looks"][3].update(reasons={"store": "away"}),
    "mute without a fault": lambda e: e["looks"][0].update(ready=0),
}


@pytest.mark.parametrize("how", UNTRUE)
def test_what_a_process_says_of_itself_must_be_true(how: str) -> None:
    evidence = copy.deepcopy(KEPT)
    UNTRUE[how](evidence)
    assert [line.partition(":")[0] for line in checker.broken(evidence)] == ["untrue"]


def test_a_process_that_lives_is_among_the_living() -> None:
    evidence = copy.deepcopy(KEPT)
    evidence["tables"][0]["rows"]["7"] = "dead"
    assert [line.partition(":")[0] for line in checker.broken(evidence)] == ["missing"]


async def test_a_repeat_that_says_so_is_none() -> None:
    evidence = copy.deepcopy(KEPT)
    evidence["seen"]["a"].append({"text": "(repeated) hello tok2", "marked": True})
    assert await judge(evidence) == ""
