"""Settings of an agent inside a program: those of the file, what the program says in their place, and what is wrong with it."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

from bot.node.lock import control_of
from bot.sdk import options
from bot.sdk.agent import Agent
from bot.settings.settings import Settings
from runtime.errors import ConfigError

WITH_MODELS = """
[model]
name = "openai/gpt-4o"
api_key = "k"
temperature = 1.0

[[models]]
name = "fast"
model = "openai/gpt-4o-mini"
api_key = "k"

[[agents]]
name = "ops"
prompt = "You watch servers."
model = "fast"

[[accounts]]
channel = "telegram"
name = "main"
token = "123456789:ABCdefGhIJKlmNoPQRstuVWXyz012345678"
"""


@pytest.fixture(autouse=True)
def _apart(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """In a folder of its own, and the logs stay as the tests have them."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.delenv("XDG_CONFIG_HOME", raising=False)
    monkeypatch.setattr("bot.sdk.agent.warn_only", lambda settings: None)


def settings_of(folder: Path, text: str, **said: Any) -> Settings:
    (folder / "signalbox.toml").write_text(text)
    return Agent.from_settings(**said).settings


def test_what_the_program_says_goes_before_the_file(tmp_path: Path) -> None:
    chosen = settings_of(tmp_path, WITH_MODELS, temperature=0.2, max_tokens=500, effort="low", stop=("END",), seed=7)
    model = chosen.model
    assert (model.name, model.temperature, model.max_tokens, model.reasoning) == ("openai/gpt-4o", 0.2, 500, "low")
    assert (model.stop, model.seed) == (("END",), 7)
    assert chosen.accounts == ()
    assert chosen.web.port == 0


def test_a_model_that_is_named_goes_before_the_profiles_own(tmp_path: Path) -> None:
    assert settings_of(tmp_path, WITH_MODELS, agent="ops").agents[0].model == "fast"
    chosen = settings_of(tmp_path, WITH_MODELS, agent="ops", model="openai/o3")
    assert (chosen.model.name, chosen.agents[0].model) == ("openai/o3", "")


def test_channels_are_served_where_that_is_wanted(tmp_path: Path) -> None:
    assert [one.name for one in settings_of(tmp_path, WITH_MODELS, channels=True).accounts] == ["main"]


@pytest.mark.parametrize(
    ("said", "words"),
    [
        ({}, r"no signalbox\.toml in .*, and no model is named\. Make one with `signalbox init`"),
        ({"config": "other.toml", "model": "demo"}, r"other\.toml"),
        ({"model": "demo", "agent": "sales"}, "agent: there is no agent 'sales' in these settings. There are: main"),
        ({"model": "nonsense/none"}, "model.name"),
        ({"model": "fast"}, "model.name"),
        ({"model": "demo", "temperature": 9}, "model.temperature"),
        ({"model": "demo", "effort": "much"}, "model.reasoning"),
        ({"model": "demo", "temprature": 0.5}, "temprature: there is no such control. Did you mean temperature?"),
        ({"model": "demo", "name": "My Program"}, "name: 'My Program' is no name of a program"),
        ({"model": "demo", "role": "owner"}, "role: 'owner' is none of a program"),
        ({"model": "demo", "settings": {"web.prot": 1}}, "web.prot"),
    ],
    ids=lambda one: next(iter(one), "nothing") if isinstance(one, dict) else "",
)
def test_what_is_wrong_is_told_with_its_fix(said: dict[str, Any], words: str) -> None:
    with pytest.raises(ConfigError, match=words):
        Agent.from_settings(**said)


def test_an_agent_without_settings_is_told_the_way() -> None:
    with pytest.raises(ConfigError, match=r"Agent\.from_settings"):
        Agent()


def test_logs_are_left_to_a_program_that_has_set_them_up(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    told: list[str] = []
    monkeypatch.setattr("bot.telemetry.logs.configure", lambda level, *_: told.append(level))
    for is_configured in (True, False):
        monkeypatch.setattr("structlog.is_configured", lambda: is_configured)  # noqa: B023 - asked at once
        options.warn_only(Agent.from_settings(model="demo").settings)
    assert told == ["warning"]


async def test_people_reach_it_as_any_process(tmp_path: Path) -> None:
    async with Agent.from_settings(model="demo", data_dir=tmp_path / "var") as agent:
        control = await asyncio.to_thread(control_of, tmp_path / "var")
        assert control is not None
        assert control.url == agent.url
