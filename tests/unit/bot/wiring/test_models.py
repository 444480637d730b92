"""Models made of settings: one alone, or several that stand in for each other."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any, Final, cast

import pytest

from bot.server.phases.ahead import loading_ahead
from bot.settings.settings import Settings, load
from bot.testing.clocks import HandClock
from bot.wiring.access import gate_of
from bot.wiring.models.made import LateDemo, every_settings, mark_of, models_of, window_of
from runtime.cluster.cooldowns import SharedCooldowns
from runtime.cluster.notifier import LocalNotifier
from runtime.contract import Model
from runtime.models.choice.alone import Alone
from runtime.models.choice.chain import ModelChain
from runtime.models.litellm_model import LiteModel
from runtime.models.settings import Controls
from tests.contract.runtime.stores import memory_store

SONNET: Final = '[[models]]\nname = "sonnet"\nmodel = "anthropic/claude-sonnet-4-5"\napi_key = "k2"\n'
FIRST: Final = '[model]\nname = "openai/gpt-4o"\napi_key = "k1"\n'


def read(folder: Path, text: str) -> Settings:
    file = folder / "signalbox.toml"
    file.write_text(text, encoding="utf-8")
    return load(file, environ={})


async def made(settings: Settings) -> Model:
    clock = HandClock()
    store = memory_store(clock)
    cooldowns = SharedCooldowns(store=store.cooldowns, notifier=LocalNotifier(), now=clock)
    await store.close()
    return models_of(settings, cooldowns, clock)


async def test_one_model_stands_alone(tmp_path: Path) -> None:
    assert isinstance(await made(read(tmp_path, "")), LateDemo)
    alone = await made(read(tmp_path, FIRST))
    assert isinstance(alone, Alone)
    assert isinstance(alone.model, LiteModel)


async def test_beside_the_demo_there_is_no_model_to_choose(tmp_path: Path) -> None:
    settings = read(tmp_path, SONNET)
    assert isinstance(await made(settings), LateDemo)
    assert gate_of(settings).models == ()
    assert gate_of(read(tmp_path, FIRST + SONNET)).models == ("sonnet",)


def test_all_models_and_loading_ahead_are_told_if_litellm_is_loaded_whole(tmp_path: Path) -> None:
    for text, lean in (("lean = false\n", False), ("", True)):
        settings = read(tmp_path, f"{FIRST}{text}{SONNET}")
        (duty,) = cast(Any, list(loading_ahead(settings, cast(Any, None), cast(Any, None))))
        told = [*every_settings(settings).values()]
        assert ([one.lean for one in told], duty.args[0], duty.keywords) == (
            [lean, lean],
            "openai/gpt-4o",
            {"lean": lean},
        )


def test_nothing_is_loaded_ahead_for_the_demo_or_where_it_is_switched_off(tmp_path: Path) -> None:
    for text in ("", FIRST + "preload = false\n"):
        assert list(loading_ahead(read(tmp_path, text), cast(Any, None), cast(Any, None))) == []


async def test_several_are_one_chain_in_which_the_usual_one_is_first(tmp_path: Path) -> None:
    chain = await made(read(tmp_path, FIRST + 'fallbacks = ["sonnet"]\n' + SONNET))
    assert isinstance(chain, ModelChain)
    assert list(chain.members) == ["openai/gpt-4o", "sonnet"]
    assert chain.name == "openai/gpt-4o"


async def test_an_alias_as_the_usual_model_is_one_member(tmp_path: Path) -> None:
    chain = await made(read(tmp_path, '[model]\nname = "sonnet"\n' + SONNET))
    assert isinstance(chain, ModelChain)
    assert {name: one.model.name for name, one in chain.members.items()} == {"sonnet": "anthropic/claude-sonnet-4-5"}


def test_what_the_usual_model_sets_itself_goes_before_its_alias(tmp_path: Path) -> None:
    settings = read(
        tmp_path, '[model]\nname = "sonnet"\ntemperature = 0.2\n' + SONNET + "temperature = 0.9\nseed = 7\n"
    )
    (usual,) = every_settings(settings).values()
    assert (usual.name, usual.keys, usual.controls) == (
        "anthropic/claude-sonnet-4-5",
        ("k2",),
        Controls(temperature=0.2, seed=7),
    )


def test_another_key_is_another_mark(tmp_path: Path) -> None:
    given = every_settings(read(tmp_path, SONNET))["sonnet"]
    assert mark_of(given) == mark_of(replace(given, timeout=given.timeout * 2))
    assert mark_of(given) != mark_of(replace(given, api_key="another"))
    assert "k2" not in mark_of(given)


def test_the_smallest_window_counts(tmp_path: Path) -> None:
    settings = read(tmp_path, FIRST + SONNET + "context_tokens = 9000\n")
    assert window_of(settings).tokens == 9000


async def test_prices_are_those_of_the_settings_else_of_the_list(tmp_path: Path) -> None:
    chain = await made(read(tmp_path, FIRST + SONNET + "input_price = 1.0\noutput_price = 2.5\n"))
    assert isinstance(chain, ModelChain)
    prices = {name: one.route.price() for name, one in chain.members.items()}
    assert prices == {"openai/gpt-4o": pytest.approx(12.5), "sonnet": 3.5}
