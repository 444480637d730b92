"""The benchmarks run and print; whether the figures are good is judged by `make bench` alone."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any, Final

import pytest

from bench.__main__ import main
from bench.benches import BENCHES, Found
from bench.click import commits
from bench.figures import Figure, at_most, ratio_at_least, ratio_at_most, table
from bench.stacks import ROOT, report, stacks
from tests.fakes import forked

pytestmark = pytest.mark.xdist_group("bench")
"""Groups are begun first: the one that takes forty seconds would else be among the last, with one process idle."""

JUDGED: Final = [
    "start to ready",
    "message to reply",
    "processor time",
    "chats",
    "leak guard, mixed",
    "transactions of a click, deny, 1 extra place",
    "hostile tasks",
    "cards an honest task",
    "honest tasks done",
]
"""What the design bounds."""

YAMA: Final = Path("/proc/sys/kernel/yama/ptrace_scope")


def run(module: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", module, *arguments]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=170, check=False)


def printed(module: str, *arguments: str, seconds: float = 100) -> subprocess.CompletedProcess[str]:
    """`python -m module` to its end; forked instead of loaded."""
    ended = forked.run(module, *arguments, folder=Path(ROOT), environment=os.environ, seconds=seconds)
    return subprocess.CompletedProcess(ended.args, ended.returncode, ended.stdout.decode(), ended.stderr.decode())


def statements(*arguments: str) -> str:
    """The page that `python -m bench.statements` prints."""
    ended = printed("bench.statements", *arguments)
    assert ended.returncode == 0, ended.stderr
    return ended.stdout


def may_look_into_others() -> bool:
    return os.geteuid() == 0 or not YAMA.exists() or YAMA.read_text().strip() == "0"


LONG: Final = {
    "store": ["store, SQLite"],
    "claim": ["claim after"],
    "failover": ["failover"],
    "rest": ["PostgreSQL, 3 nodes at rest"],
    "capacity": [],
    "nodes": ["1 node", "2 nodes", "at half a core"],
    "cuts": [],
    "recall": ["extraction, by words + vectors", "recall, SQLite", "recall, PostgreSQL"],
    "telegram": ["start to first poll", "reply telegram", "click telegram", "throughput telegram"],
    "slack": ["memory, idle"],
    "discord": ["memory, idle"],
    "memory": ["memory"],
    "long": ["request after 10,000 turns", "message after 10,000 turns", "building a request"],
    "schedules": [],
    "three": ["memory, idle"],
    "children": ["a child adds", "a child of 5 adds", "children at once", "children of a killed node"],
    "workflows": ["a step of a workflow", "workflows wait"],
    "triggers": ["message to reply, 100 triggers", "processor time of a message, 100 triggers"],
    "interceptors": ["interceptor in process", "interceptor as a program"],
    "browser": [],  # it has none where no browser is
    "page": [],
    "documents": ["a PDF of", "a workbook"],
}
"""By `make cuts` alone, each with its bounds: those of platforms, those that fill databases or start nodes, and those of
tools and workflows, whose own tests run what they measure."""


@pytest.mark.timeout(200)
def test_the_short_variant_prints_every_figure_and_judges_nothing(tmp_path: Path) -> None:
    names = [name for name in BENCHES if name not in LONG]
    kept = tmp_path / "figures.json"
    arguments = (*names, "--short", "--json", str(kept))
    prints_every_figure(printed("bench", *arguments, seconds=170), names, kept, JUDGED)


@pytest.mark.soak
@pytest.mark.timeout(200)
@pytest.mark.parametrize("name", LONG)
def test_the_short_variant_of_each_other_prints_every_figure(name: str, tmp_path: Path) -> None:
    kept = tmp_path / "figures.json"
    prints_every_figure(run("bench", name, "--short", "--json", str(kept)), [name], kept, LONG[name])


def prints_every_figure(
    ended: subprocess.CompletedProcess[str], names: list[str], kept: Path, wanted: list[str]
) -> None:
    assert ended.returncode == 0, ended.stderr
    assert "nothing is judged" in ended.stdout
    assert {name for name in BENCHES if f"measuring {name} " in ended.stderr} == set(names)
    figures = json.loads(kept.read_text())
    assert [figure["name"] for figure in figures if figure["name"] not in ended.stdout] == []
    # What a process at rest uses in a second may be less than a tick of its clock; and of some things none is wanted.
    measured = [figure for figure in figures if not figure["unit"].startswith("%") and not _is_none_wanted(figure)]
    assert [figure["name"] for figure in measured if not figure["value"] > 0] == []
    judged = [figure["name"] for figure in figures if figure["bound"]]
    assert [words for words in wanted if not any(words in name for name in judged)] == []


def _is_none_wanted(figure: dict[str, Any]) -> bool:
    return figure["bound"] is not None and figure["bound"]["amount"] == 0


def test_an_unknown_benchmark_is_refused_with_the_known_ones(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "argv", ["bench", "nonsense"])
    with pytest.raises(SystemExit) as left:
        main()
    assert left.value.code == 2
    assert "there are fsync" in capsys.readouterr().err


def test_a_bound_is_of_the_value_or_of_the_ratio_and_upper_or_lower() -> None:
    assert Figure("memory", 95, "MB", bound=at_most(95)).holds
    assert not Figure("memory", 96, "MB", bound=at_most(95)).holds
    assert Figure("rate", 35, "sets/s", 100, ratio_at_least(0.3)).holds
    assert not Figure("rate", 25, "sets/s", 100, ratio_at_least(0.3)).holds
    assert not Figure("time", 16, "ms", 10, ratio_at_most(1.5)).holds
    assert Figure("told", 1e9, "ms", 1).holds


def test_a_missed_bound_is_told_in_the_table_and_by_name() -> None:
    found = Found("store", [Figure("rate", 25, "sets/s", 100, ratio_at_least(0.3)), Figure("told", 1, "ms")])
    assert found.missed == ["rate"]
    assert Found("store", broke=True).missed == ["all of store"]
    _, row, _ = table(found.figures).splitlines()
    assert "0.25 x" in row
    assert "≥ 0.30 x" in row
    assert "MISSED" in row


def test_the_statements_of_a_message_are_listed_with_its_commits() -> None:
    told = statements("--tool", "--sql")
    assert "| `accept` | commit |" in told  # on a busy machine after a look at who speaks, kept for seconds
    assert "`finish_tool` | commit |" in told
    assert "commits that wait for the disk" in told
    assert "INSERT INTO signals" in told
    assert set(re.findall(r"`view` \| reads \| (\d+)", told)) == {"5"}
    assert "LIKE ?" not in told  # SQLite plans such a statement anew for each pattern


def test_the_statements_of_a_click_begin_with_the_press_and_end_with_the_answer() -> None:
    commits = re.findall(r"\| `(\w+)` \| commit \|", statements("--click"))
    assert commits[0] == "accept"
    assert commits[-1] in ("finish", "render_shown")  # shown by the one where the room was free, by the other where not
    assert sorted({*commits}) == ["accept", "claim", "finish", "finish_tool", "mark_tool", "render_shown", "steer"]


async def test_another_place_costs_a_denial_one_transaction() -> None:
    alone = await commits("deny", 0)
    assert await commits("deny", 1) == alone + 1


def test_a_sample_belongs_to_the_innermost_that_has_a_name() -> None:
    packages = "/venv/lib/python3.11/site-packages"
    raw = (
        f"thread (0x1): MainThread;work ({ROOT}runtime/agent/loop.py:9);ask ({packages}/litellm/main.py:3);"
        "loads (/usr/lib/python3.11/json/__init__.py:4) 30\n"
        f"thread (0x2): asyncio_3;run (/usr/lib/python3.11/threading.py:1);drive ({ROOT}runtime/store/sql/sqlite.py:7) 10\n"
    )
    told = "\n".join(report(list(stacks(raw)), milliseconds=8))
    assert " 75.0%    6.00  MainThread      LiteLLM" in told
    assert " 25.0%    2.00  asyncio         store" in told
    assert "loads (json/__init__.py)" in told


@pytest.mark.soak  # fifteen seconds; nothing but `make bench` goes by it
@pytest.mark.timeout(120)
@pytest.mark.skipif(
    not may_look_into_others(), reason="this user may not look into processes (kernel.yama.ptrace_scope)"
)
def test_the_profile_tells_where_the_time_of_a_message_goes() -> None:
    ended = run("bench.profile", "--chats", "2", "--messages", "20")
    assert ended.returncode == 0, ended.stderr
    assert ended.stdout.startswith("40 messages, ")
    assert "MainThread      LiteLLM" in ended.stdout
