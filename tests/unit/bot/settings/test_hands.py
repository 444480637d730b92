"""Hands: an agent and its work by the clock in one file, which is no way around anything."""

from __future__ import annotations

from pathlib import Path

import pytest

from bot.settings.hands.folder import SHIPPED_HANDS, hand_files
from bot.settings.settings import load
from runtime.errors import ConfigError

LEAST = 'prompt = "You watch."\ntask = "Look."\nwhen = "every hour"\n'


def written(folder: Path, text: str) -> Path:
    (folder / "hands").mkdir()
    (folder / "hands" / "watcher.toml").write_text(text)
    (folder / "signalbox.toml").write_text("")
    return folder


def test_a_hand_is_an_agent_and_while_active_a_schedule(tmp_path: Path) -> None:
    work = 'active = true\nto = ["web:main/reports"]\ntools = ["http_get"]\n'
    settings = load(folder=written(tmp_path, LEAST + work), environ={})
    (agent,), (schedule,) = settings.agents, settings.schedules
    assert (agent.name, agent.prompt, agent.tools) == ("watcher", "You watch.", ("http_get",))
    assert (schedule.name, schedule.agent, schedule.prompt) == ("hand watcher", "watcher", "Look.")


def test_a_hand_that_is_not_active_plans_nothing(tmp_path: Path) -> None:
    settings = load(folder=written(tmp_path, LEAST), environ={})
    assert len(settings.agents) == 1
    assert settings.schedules == ()


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("tasks = 1\n" + LEAST, "did you mean task"),
        (LEAST.replace("task", "about"), "task is missing"),
        (LEAST + "active = true\n", "to is missing"),
        (LEAST + "active = 1\n", "active is true or false"),
    ],
)
def test_a_fault_of_a_hand_names_its_file(tmp_path: Path, text: str, told: str) -> None:
    with pytest.raises(ConfigError, match=f"watcher.toml: .*{told}"):
        load(folder=written(tmp_path, text), environ={})


@pytest.mark.parametrize("file", hand_files(SHIPPED_HANDS), ids=lambda file: file.stem)
def test_each_shipped_hand_works_once_it_has_a_room(tmp_path: Path, file: Path) -> None:
    text = file.read_text().replace("active = false", "active = true").replace("to = []", 'to = ["web:main/reports"]')
    settings = load(folder=written(tmp_path, text), environ={})
    assert settings.schedules[0].agent == "watcher"
