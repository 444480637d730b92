"""`signalbox agents`: the page shows what it prints, and wrong use is told with the fix."""

from __future__ import annotations

import json
import re
import shlex
from pathlib import Path

import pytest
from typer.testing import CliRunner

from bot.cli.root import cli
from bot.settings.settings import load
from bot.wiring.owner import settle_owner
from runtime.contract import Identity
from runtime.store.store import open_store
from tests.unit.bot.cli.test_cli import ROOT

PAGE = (ROOT / "docs" / "agents.md").read_text(encoding="utf-8")
FILES = re.findall(r"```toml file=agents/(\w+)\.toml\n(.*?)```", PAGE, re.DOTALL)
SHOWN = re.findall(r"```console\n\$ signalbox (.*?)\n(.*?)```", PAGE, re.DOTALL)
MISUSE = 2


@pytest.fixture
def file(tmp_path: Path) -> Path:
    place = tmp_path / "signalbox.toml"
    place.write_text("")
    (tmp_path / "agents").mkdir()
    for name, text in FILES:
        (tmp_path / "agents" / f"{name}.toml").write_text(text)
    return place


def told(file: Path, *words: str) -> tuple[int, str]:
    ended = CliRunner().invoke(cli, ["agents", *words, "--config", str(file)])
    return ended.exit_code, ended.output


@pytest.mark.parametrize(("command", "shown"), SHOWN)
def test_the_page_of_agents_shows_what_is_printed(file: Path, command: str, shown: str) -> None:
    _, *words = shlex.split(command)
    assert told(file, *words) == (0, shown)


def test_a_tool_that_is_not_known_is_named_as_it_was_asked_for(file: Path) -> None:
    code, text = told(file, "may", "ops", "shel")
    assert (code, text.splitlines()[0]) == (
        MISUSE,
        "signalbox: shel: I know no tool by that name. Did you mean shell? Otherwise, say what it may do with --effect.",
    )


@pytest.fixture
async def owned(file: Path) -> Path:
    """A place where an owner has moved in, and no process runs."""
    settings = load(file, environ={})
    settings.data_dir.mkdir(parents=True, exist_ok=True)
    store = await open_store(settings.database_url)
    await settle_owner(store.people, [Identity("telegram:1")], None, with_link=False)
    await store.close()
    return file


def test_agents_are_listed_with_what_they_may_and_where_they_answer(owned: Path) -> None:
    rows = {row["name"]: row for row in json.loads(told(owned, "list", "--json")[1])}
    assert list(rows) == ["main", "ops", "research"]
    assert rows["ops"]["has"] == [
        *("delegate", "delegate_many", "find_tools", "hand_over", "http_get", "read_file", "write_file")
    ]
    assert rows["ops"]["answers"] == "rooms slack:work/C-OPS*"
    assert rows["main"]["answers"] == "wherever no other does"
    assert rows["research"]["answers"] == "where it is named"
    assert rows["research"]["from"] == str(owned.parent / "agents" / "research.toml")
    shown = told(owned, "show", "ops")[1]
    assert "bounds       5.0 USD a day, 60 tool calls a minute, 5 children, 5 levels" in shown
    assert shown.rstrip().endswith("You keep our services running. Answer in one line.")


def test_an_agent_that_is_not_there_is_told_with_those_that_are(owned: Path) -> None:
    assert "There is no agent dev. There are: main, ops, research." in told(owned, "show", "dev")[1]
    assert told(owned, "may", "op", "shell") == (MISUSE, "signalbox: There is no agent op. Did you mean ops?\n")


def test_a_new_agent_is_a_file_that_can_be_read_at_once_and_is_never_written_over(file: Path) -> None:
    code, words = told(file, "new", "dev")
    place = file.parent / "agents" / "dev.toml"
    assert (code, str(place) in words, "signalbox reload" in words) == (0, True, True)
    assert [one.name for one in load(file, environ={}).agents] == ["dev", "main", "ops", "research"]
    before = place.read_text(encoding="utf-8")
    assert "There is an agent dev already" in told(file, "new", "dev")[1]
    assert told(file, "new", "No Name")[0] == MISUSE
    another = json.loads(told(file, "new", "lab", "--json")[1])
    assert another == {"name": "lab", "file": str(file.parent / "agents" / "lab.toml")}
    assert place.read_text(encoding="utf-8") == before


def test_each_line_of_a_new_agent_may_be_taken_in(file: Path) -> None:
    """What stands there as a comment is a setting with a value that fits."""
    told(file, "new", "dev")
    place = file.parent / "agents" / "dev.toml"
    lines = place.read_text(encoding="utf-8").splitlines()
    taken = [line.removeprefix("# ") if " = " in line else line for line in lines if "prompt_file" not in line]
    place.write_text("\n".join(taken).replace('"sonnet"', '"demo"'), encoding="utf-8")
    file.write_text('[model]\nname = "demo"\n')
    dev = next(one for one in load(file, environ={}).agents if one.name == "dev")
    assert (dev.rooms, dev.delegates_to, dev.budget_day) == (("slack:work/C-OPS*",), ("research",), 5.0)
