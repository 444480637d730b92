"""`signalbox config get`, `set` and `unset`: one setting of the file, checked, with its comments kept, and noted in the audit."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest
from typer.testing import CliRunner

from bot.cli.root import cli
from tests.security.running import running

TEXT = """\
# ours
[web]
port = 0
token = "a-long-token-of-the-owner"  # keep

[budgets]
day = 5 # enough

[[policy]]
tool = "shell"
result = "deny"
"""


@pytest.fixture
def file(tmp_path: Path) -> Path:
    place = tmp_path / "signalbox.toml"
    place.write_text(f'data_dir = "{tmp_path}"\n{TEXT}')
    return place


def file_of(folder: Path) -> Path:
    return next(folder.glob("*.toml"))


def told(file: Path, *words: str, said: str = "") -> tuple[int, str]:
    ended = CliRunner().invoke(cli, ["config", *words, "--config", str(file)], input=said)
    return ended.exit_code, f"{ended.output}{ended.exception or ''}"


def test_a_setting_is_told_with_its_source_and_a_secret_masked(file: Path) -> None:
    assert told(file, "get", "budgets.day") == (0, f"5.0  # {file}\n")
    assert told(file, "get", "budgets.month") == (0, '""  # default\n')
    assert told(file, "get", "policy[1].result", "--json") == (0, '"deny"\n')
    code, table = told(file, "get", "web")
    assert (code, "a-long-token" in table, 'web.token = "****' in table) == (0, False, True)


def test_one_setting_changes_and_comments_stay(file: Path) -> None:
    before = file.read_text()
    code, shown = told(file, "set", "budgets.day", "7", "--dry-run")
    assert (code, "+day = 7 # enough" in shown, "a-long-token" in shown, file.read_text()) == (0, True, False, before)
    assert told(file, "set", "budgets.day", "7")[0] == 0
    assert file.read_text() == before.replace("day = 5", "day = 7")
    assert told(file, "unset", "budgets.day")[0] == 0
    assert file.read_text() == before.replace("day = 5 # enough\n", "")


def test_the_machine_may_change_what_the_page_only_shows(file: Path) -> None:
    code, shown = told(file, "set", "web.port", "8080")
    assert (code, "The page only shows this one" in shown, "port = 8080" in file.read_text()) == (0, True, True)


def test_a_secret_comes_from_the_input_and_is_never_printed(file: Path) -> None:
    before = file.read_text()
    code, why = told(file, "set", "web.token", "another-long-token")
    assert (code == 0, "others on this machine can read command lines" in why) == (False, True)
    code, why = told(file, "set", "tools.settings", '{x = {api = "another-long-token"}}')
    assert (code == 0, "others on this machine can read command lines" in why) == (False, True), "secrets stand in it"
    code, shown = told(file, "set", "web.token", "-", said="another-long-token-here\n")
    assert (code, "another-long" in shown, "a-long-token" in shown) == (0, False, False)
    assert file.read_text() == before.replace("a-long-token-of-the-owner", "another-long-token-here")


@pytest.mark.parametrize(
    ("name", "value", "why"),
    [
        ("budgets.dya", "7", "There is no setting budgets.dya"),
        ("budgets.day", "many", "budgets.day: expected"),
        ("budgets.day", "nan", "a number that is not infinite"),
        ("policy[2].tool", "shell", "policy[2] isn't in"),
        ("policy[1].result", "perhaps", "policy[1].result"),
        ("budgets.day", "5", "says that already"),
    ],
)
def test_what_cannot_hold_changes_nothing(file: Path, name: str, value: str, why: str) -> None:
    before = file.read_text()
    code, shown = told(file, "set", name, value)
    assert (code == 0, why in shown, file.read_text()) == (False, True, before), shown


async def test_a_running_process_takes_it_over_and_the_audit_says_who_did_it(tmp_path: Path) -> None:
    async with running(tmp_path, TEXT) as house:
        file = file_of(tmp_path)
        code, shown = await asyncio.to_thread(told, file, "set", "policy[1].result", "ask")
        assert (code, "It holds now." in shown) == (0, True), shown
        code, shown = await asyncio.to_thread(told, file, "set", "web.token", "-", said="another-long-token-here")
        assert (code, "With a restart: web.token" in shown) == (0, True), shown
        rows = await house.app.store.audit.newest_audit("settings changed", limit=9)
        assert {row.subject for row in rows} == {"policy[1].result", "web.token"}
        assert all(row.actor.startswith("command line of") and "another-long" not in row.detail for row in rows)
        refused = await house.ask("POST", "/console/api/settings-edited", "owner", {"fields": {"names": "made up"}})
        assert refused.status == 403, "a browser has no file"
