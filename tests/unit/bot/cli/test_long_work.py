"""`signalbox triggers`, `hands` and `goals`: what is there, and wrong use told with the fix."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from bot.cli.root import cli
from bot.settings.settings import load
from bot.wiring.owner import settle_owner
from runtime.contract import Identity
from runtime.domain.triggers.kept import KeptTrigger
from runtime.domain.triggers.trigger import EventKind, EventTrigger, TriggerState
from runtime.store.store import open_store


@pytest.fixture
async def file(tmp_path: Path) -> Path:
    """Settings of a place with an owner and a trigger, where no process runs."""
    place = tmp_path / "signalbox.toml"
    place.write_text("")
    settings = load(place, environ={})
    settings.data_dir.mkdir(parents=True, exist_ok=True)
    store = await open_store(settings.database_url)
    await settle_owner(store.people, [Identity("telegram:1")], None, with_link=False)
    deploys = EventTrigger("file:deploys", "deploys", EventKind.WORDS, words=("deploy*",), prompt="Who?", agent="main")
    await store.triggers.keep_triggers_of_file([KeptTrigger(deploys, TriggerState.ACTIVE, by_file=True)], "test")
    await store.close()
    return place


def told(file: Path, *words: str) -> tuple[int, str]:
    ended = CliRunner().invoke(cli, [*words, "--config", str(file)])
    return ended.exit_code, " ".join(ended.output.split())


def test_a_trigger_is_listed_paused_and_resumed(file: Path) -> None:
    assert "deploys words deploy* active 0" in told(file, "triggers", "list")[1]
    assert told(file, "triggers", "pause", "deploys") == (0, "The trigger deploys is paused.")
    [row] = json.loads(told(file, "triggers", "list", "--json")[1])
    assert (row["state"], row["reason"], row["fired_at"]) == ("paused", "paused by owner", None)
    assert told(file, "triggers", "resume", "deploys") == (0, "The trigger deploys is active again.")


def test_a_hand_is_installed_activated_and_checked(file: Path) -> None:
    assert "watcher not installed" in told(file, "hands", "list")[1]
    assert told(file, "hands", "install", "watcher")[0] == 0
    code, output = told(file, "hands", "activate", "watcher")
    assert code != 0
    assert "to" in output  # it needs a room
    assert told(file, "hands", "activate", "watcher", "--to", "web:main/reports")[0] == 0
    assert "watcher active every hour web:main/reports" in told(file, "hands", "list")[1]
    assert told(file, "hands", "check") == (0, "1 hand, and nothing is wrong with them.")


def test_where_no_goal_was_set_that_is_said(file: Path) -> None:
    assert told(file, "goals", "list") == (0, "No goal was set.")
    assert json.loads(told(file, "goals", "list", "--json")[1]) == []


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (["triggers", "pause", "nothing"], "No trigger is called 'nothing'."),
        (["triggers", "resume", "deploys"], "This trigger is active already."),
        (
            ["triggers", "end", "deploys", "--yes"],
            "This trigger stands in the settings: take it out there, then reload.",
        ),
        (["triggers", "end", "deploys"], "Add --yes to do it."),
        (["hands", "install", "nothing"], "No hand called 'nothing' comes with Signalbox"),
        (["hands", "activate", "watcher"], "signalbox hands install watcher"),
        (["goals", "show", "nothing"], "No goal is called 'nothing'."),
        (["goals", "stop", "nothing"], "Add --yes to do it."),
    ],
)
def test_wrong_use_of_long_work_is_told_with_the_fix(file: Path, words: list[str], why: str) -> None:
    code, output = told(file, *words)
    assert code != 0
    assert why in output
