"""Flags of a start: settings with a source of their own."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any, Final

import pytest

from bot.node.lock import Control, announced, control_of, holding
from bot.settings.given.flags import NO_FLAGS, Flags, flags_of
from bot.settings.settings import Settings, load, load_usable
from runtime.errors import ConfigError

TWO = """
[model]
name = "openai/gpt-4o"
api_key = "of-openai-alone"
api_base = "http://127.0.0.1:9/v1"
input_price = 1.0
output_price = 2.0

[[models]]
name = "sonnet"
model = "anthropic/claude-sonnet"
api_key = "of-anthropic-alone"

[[accounts]]
channel = "telegram"
name = "work"
token = "1001:AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"

[[accounts]]
channel = "telegram"
name = "ops"
token_env = "NOWHERE"
"""


def _loaded(folder: Path, flags: Flags, **more: Any) -> Settings:
    (folder / "signalbox.toml").write_text(TWO)
    return load(None, flags, environ={}, folder=folder, **more)


def _fault(folder: Path, flags: Flags) -> str:
    with pytest.raises(ConfigError) as told:
        _loaded(folder, flags)
    return str(told.value)


def test_accounts_beside_those_of_the_flag_are_off_and_need_no_secret(tmp_path: Path) -> None:
    settings = _loaded(tmp_path, Flags(only=["telegram:work"]))
    assert [(one.name, one.enabled) for one in settings.accounts] == [("work", True), ("ops", False)]
    assert settings.source("accounts[2].enabled") == "flag"
    assert settings.source("accounts[1].enabled") != "flag"


def test_the_page_alone_connects(tmp_path: Path) -> None:
    assert not any(one.enabled for one in _loaded(tmp_path, Flags(only=["web"])).accounts)


ELSEWHERE: Final = """
[operators]
room = "telegram:work/1"

[[schedules]]
name = "morning"
when = "every day at 9"
to = ["telegram:ops/1"]
prompt = "Say hello"
"""


def test_what_goes_to_an_account_that_the_flag_turned_off_waits(tmp_path: Path) -> None:
    (tmp_path / "signalbox.toml").write_text(TWO + ELSEWHERE)
    settings = load(None, Flags(only=["web"]), environ={}, folder=tmp_path)
    assert list(settings.planned[0].to) == ["telegram:ops/1"]


def test_what_goes_to_an_account_that_the_settings_turned_off_is_refused_with_the_flag_too(tmp_path: Path) -> None:
    (tmp_path / "signalbox.toml").write_text(TWO.replace('name = "ops"', 'name = "ops"\nenabled = false') + ELSEWHERE)
    with pytest.raises(ConfigError, match="the account telegram:ops is not enabled"):
        load(None, Flags(only=["web"]), environ={}, folder=tmp_path)


def test_an_account_of_variables_alone_is_turned_off_too(tmp_path: Path) -> None:
    variables = {"TELEGRAM_BOT_TOKEN": "1001:AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"}
    settings = load(None, Flags(only=["web"]), environ=variables, folder=tmp_path)
    assert [one.enabled for one in settings.accounts] == [False]


def test_an_unknown_account_is_refused_with_those_there_are(tmp_path: Path) -> None:
    assert '"nobody"; there are: work, ops, web.' in _fault(tmp_path, Flags(only=["nobody"]))
    assert "did you mean work? There are: work, ops, web." in _fault(tmp_path, Flags(only=["wrk"]))


def test_flags_stay_at_a_reload(tmp_path: Path) -> None:
    again = _loaded(tmp_path, Flags({"log.level": "debug"}, ["work"])).reread()
    assert (again.log.level, again.accounts[1].enabled) == ("debug", False)


def test_another_vendor_never_gets_the_key_of_the_model_it_replaces(tmp_path: Path) -> None:
    settings = _loaded(tmp_path, Flags({"model.name": "ollama/llama"}, ["work"]))
    assert (settings.model.name, settings.model.api_key, settings.model.api_base) == ("ollama/llama", None, "")
    assert settings.model.input_price is None


def test_another_model_of_the_vendor_keeps_its_key_but_no_price(tmp_path: Path) -> None:
    model = _loaded(tmp_path, Flags({"model.name": "openai/gpt-5"}, ["work"])).model
    assert model.api_key is not None
    assert (model.api_key.get_secret_value(), model.api_base) == ("of-openai-alone", "http://127.0.0.1:9/v1")
    assert model.input_price is None


def test_the_same_model_by_a_flag_changes_nothing(tmp_path: Path) -> None:
    assert _loaded(tmp_path, Flags({"model.name": "openai/gpt-4o"}, ["work"])).model.input_price == 1.0


def test_an_unknown_model_is_refused_with_those_there_are(tmp_path: Path) -> None:
    assert "did you mean sonnet?" in _fault(tmp_path, Flags({"model.name": "sonett"}, ["work"]))
    assert "[[models]] has sonnet" in _fault(tmp_path, Flags({"model.name": "qqq"}, ["work"]))


def test_the_running_process_tells_its_flags(tmp_path: Path) -> None:
    flags = Flags({"web.port": 0}, ["work"])
    control = Control("http://127.0.0.1:1", "t", os.getpid(), flags.as_json())
    with holding(tmp_path), announced(tmp_path, control):
        found = control_of(tmp_path)
    assert found is not None
    assert flags_of(found.flags) == flags


@pytest.mark.parametrize("garbage", [None, 7, [], {}, {"settings": 3}, "x"])
def test_garbage_is_no_flags(garbage: object) -> None:
    assert flags_of(garbage) == NO_FLAGS


def test_whoever_looks_at_what_is_broken_counts_flags_too(tmp_path: Path) -> None:
    (tmp_path / "signalbox.toml").write_text(TWO)
    settings, faults = load_usable(None, Flags(only=["work"]), environ={}, folder=tmp_path)
    assert (faults, settings.accounts[1].enabled) == (None, False)
