"""`signalbox children`: trees in a table, and wrong use told with the fix."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from bot.cli.root import cli
from bot.cli.work.children import as_told
from bot.settings.settings import load
from bot.wiring.owner import settle_owner
from runtime.contract import Identity
from runtime.store.store import open_store


@pytest.fixture
async def file(tmp_path: Path) -> Path:
    """Settings of a place where an owner has moved in, and no process runs."""
    place = tmp_path / "signalbox.toml"
    place.write_text("")
    settings = load(place, environ={})
    settings.data_dir.mkdir(parents=True, exist_ok=True)
    store = await open_store(settings.database_url)
    await settle_owner(store.people, [Identity("telegram:1")], None, with_link=False)
    await store.close()
    return place


def told(file: Path, *words: str) -> tuple[int, str]:
    ended = CliRunner().invoke(cli, ["children", *words, "--config", str(file)])
    return ended.exit_code, ended.output


def test_where_nothing_was_handed_on_that_is_said(file: Path) -> None:
    assert told(file, "list") == (0, "Nothing was handed on.\n")
    assert json.loads(told(file, "list", "--json")[1]) == []
    assert "There is no such piece of work." in told(file, "show", "--last")[1]


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (["list", "--state", "claimed"], "isn't one of: open, done, failed, stopped, late"),
        (["show", "nothing"], "Nothing that was handed on is called 'nothing'"),
        (["show"], "Name one piece of work, or take the newest with --last."),
        (["stop", "nothing"], "Add --yes to do it."),
    ],
)
def test_wrong_use_is_told_with_the_fix(file: Path, words: list[str], why: str) -> None:
    code, output = told(file, *words)
    assert code != 0
    assert why in " ".join(output.split())


@pytest.mark.parametrize(("depth", "who"), [(0, "ops"), (1, "└ ops"), (2, "  └ ops"), (3, "    └ ops")])
def test_a_row_is_indented_by_its_depth(depth: int, who: str) -> None:
    row: dict[str, Any] = {"depth": depth, "agent": "ops", "goal": "a\nb", "stands": "", "state": "done"}
    shown = as_told({**row, "seconds": 1_234.6, "cost": 0.0123})
    assert [shown[name] for name in ("who", "goal", "stands", "took", "spent")] == [
        *(who, "a b", "done", "1,235 s", "$0.0123")
    ]
