"""Settings of models: aliases, keys, prices and controls; every fault at once."""

from __future__ import annotations

from pathlib import Path
from typing import Final

import pytest

from bot.secrets import model_keys
from bot.settings.models.aliases import by_name, first_of
from bot.settings.settings import Settings, load
from bot.wiring.models.made import refuses_unpriced
from runtime.contract import Work
from runtime.errors import ConfigError
from runtime.policy.budgets import Scope, Then

OPENAI: Final = {"OPENAI_API_KEY": "key-of-openai"}
ANTHROPIC: Final = {"ANTHROPIC_API_KEY": "key-of-anthropic"}
SONNET: Final = '[[models]]\nname = "sonnet"\nmodel = "anthropic/claude-sonnet-4-5"\n'
FIRST: Final = '[model]\nname = "openai/gpt-4o"\nfallbacks = ["sonnet"]\n'


def read(folder: Path, text: str, **variables: str) -> Settings:
    file = folder / "signalbox.toml"
    file.write_text(text, encoding="utf-8")
    return load(file, environ=variables)


def faults(folder: Path, text: str, **variables: str) -> list[str]:
    with pytest.raises(ConfigError) as caught:
        read(folder, text, **variables)
    return [line.strip() for line in str(caught.value).splitlines()[1:]]


def test_a_model_and_its_fallback_have_each_their_vendors_key(tmp_path: Path) -> None:
    settings = read(tmp_path, FIRST + SONNET, **OPENAI, **ANTHROPIC)
    keys = [one.api_key.get_secret_value() for one in (settings.model, *settings.models) if one.api_key]
    assert keys == ["key-of-openai", "key-of-anthropic"]


def test_all_faults_of_models_are_told_at_once(tmp_path: Path) -> None:
    text = (
        '[model]\nname = "openai/gpt-4o"\nfallbacks = ["sonet", "b"]\n'
        + SONNET
        + '[[models]]\nname = "a"\nmodel = "b"\n[[models]]\nname = "b"\nmodel = "a"\n'
        + '[[models]]\nname = "a"\nmodel = "openai/gpt-4o-mini"\ninput_price = -1.0\n'
        + '[[models]]\nname = "typo"\nmodel = "sonet"\n'
    )
    told = "\n".join(faults(tmp_path, text, **OPENAI))
    assert 'model.fallbacks: "sonet" names no model; did you mean sonnet?' in told
    assert 'models[1].api_key ("sonnet"): anthropic/claude-sonnet-4-5 needs a key, and none was found' in told
    assert "set the variable ANTHROPIC_API_KEY" in told
    assert "models[4].name" in told
    assert "models[2] has this name too" in told
    assert "input_price" in told
    assert "at least 0" in told
    assert '"sonet" names no model; did you mean sonnet?' in told


def test_half_a_price_is_refused_since_the_other_half_would_be_free(tmp_path: Path) -> None:
    local = FIRST.replace('fallbacks = ["sonnet"]\n', "") + 'api_base = "http://127.0.0.1:9/v1"\ninput_price = 1.0\n'
    assert faults(tmp_path, local, **OPENAI) == [
        "model.output_price: is missing, and the other price is set; set both, with 0 for what is free."
    ]
    assert read(tmp_path, local + "output_price = 0\n", **OPENAI).model.output_price == 0


def test_an_alias_may_have_the_other_price_from_its_model(tmp_path: Path) -> None:
    priced = SONNET + "input_price = 3.0\noutput_price = 15.0\n"
    text = FIRST + priced + '[[models]]\nname = "cheaper"\nmodel = "sonnet"\ninput_price = 1.0\n'
    assert read(tmp_path, text, **OPENAI, **ANTHROPIC).models[1].input_price == 1.0


def test_the_demo_stands_beside_no_other_model(tmp_path: Path) -> None:
    text = FIRST + '[[models]]\nname = "toy"\nmodel = "demo"\n'
    assert any("the demo model stands alone" in line for line in faults(tmp_path, text, **OPENAI))


def test_a_circle_of_names_is_shown_whole(tmp_path: Path) -> None:
    text = '[[models]]\nname = "a"\nmodel = "b"\n[[models]]\nname = "b"\nmodel = "a"\n'
    assert any("leads in a circle: a → b → a" in line for line in faults(tmp_path, text))


def test_a_fallback_that_is_the_model_itself_or_named_twice_is_refused(tmp_path: Path) -> None:
    text = '[model]\nname = "sonnet"\nfallbacks = ["sonnet"]\n' + SONNET
    assert any('"sonnet" is the model itself' in line for line in faults(tmp_path, text, **ANTHROPIC))
    twice = FIRST.replace('["sonnet"]', '["sonnet", "sonnet"]') + SONNET
    assert any("is named twice" in line for line in faults(tmp_path, twice, **OPENAI, **ANTHROPIC))


def test_the_demo_has_no_fallbacks(tmp_path: Path) -> None:
    assert any("demo" in line for line in faults(tmp_path, '[model]\nfallbacks = ["sonnet"]\n' + SONNET, **ANTHROPIC))


@pytest.mark.parametrize("name", ["demo", "auto", "default", "a b", "a/b"])
def test_names_that_mean_something_else_are_no_aliases(tmp_path: Path, name: str) -> None:
    assert any("models[1]" in line for line in faults(tmp_path, SONNET.replace("sonnet", name, 1), **ANTHROPIC))


def test_an_alias_of_an_alias_takes_over_what_it_leaves_open(tmp_path: Path) -> None:
    warm = '[[models]]\nname = "warm"\nmodel = "sonnet"\ntemperature = 1.5\n'
    settings = read(tmp_path, SONNET + "max_tokens = 500\ntemperature = 0.1\n" + warm, **ANTHROPIC)
    found = by_name(settings.models)["warm"]
    assert (found.name, found.model, found.max_tokens, found.temperature) == (
        "warm",
        "anthropic/claude-sonnet-4-5",
        500,
        1.5,
    )
    assert found.api_key is not None
    assert found.api_key.get_secret_value() == "key-of-anthropic"


def test_the_model_may_be_an_alias(tmp_path: Path) -> None:
    settings = read(tmp_path, '[model]\nname = "sonnet"\n' + SONNET + "context_tokens = 9000\n", **ANTHROPIC)
    first = first_of(settings.model, by_name(settings.models))
    assert (first.name, first.context_tokens) == ("anthropic/claude-sonnet-4-5", 9000)
    assert first.api_key is not None


def test_kinds_of_work_are_said_as_for(tmp_path: Path) -> None:
    settings = read(tmp_path, SONNET + 'for = ["summary", "coding"]\n', **ANTHROPIC)
    assert settings.models[0].works == (Work.SUMMARY, Work.CODING)
    assert settings.shown()["models"][0]["for"] == ["summary", "coding"]


def test_several_keys_are_found_by_their_names(tmp_path: Path) -> None:
    text = '[model]\nname = "openai/gpt-4o"\napi_key_envs = ["ONE", "TWO"]\n'
    settings = read(tmp_path, text, ONE="key-one", TWO="key-two")
    assert [key.get_secret_value() for key in settings.model.api_keys] == ["key-one", "key-two"]
    assert "key-one" in settings.secret_values()
    assert "key-two" not in str(settings.shown())
    assert settings.shown()["model"]["api_key_envs"] == ["ONE", "TWO"]
    assert any("the variable TWO is not set" in line for line in faults(tmp_path, text, ONE="key-one"))


def test_one_key_and_several_are_not_both_said(tmp_path: Path) -> None:
    text = '[model]\nname = "openai/gpt-4o"\napi_key_env = "ONE"\napi_key_envs = ["TWO"]\n'
    assert any("keep one of them" in line for line in faults(tmp_path, text, ONE="a", TWO="b"))


@pytest.mark.parametrize("vendor", list(model_keys.AUTO))
def test_auto_takes_the_first_vendor_whose_key_is_found(tmp_path: Path, vendor: str) -> None:
    later = list(model_keys.AUTO)[list(model_keys.AUTO).index(vendor) :]
    variables = {model_keys.KEYS[one][0]: f"key-of-{one}" for one in later}
    settings = read(tmp_path, '[model]\nname = "auto"\n', **variables)
    assert settings.model.name == model_keys.AUTO[vendor]
    assert settings.model.api_key is not None
    assert settings.model.api_key.get_secret_value() == f"key-of-{vendor}"


def test_the_page_lists_the_vendors_of_auto_in_their_order() -> None:
    page = (Path(__file__).parents[4] / "docs" / "models.md").read_text(encoding="utf-8")
    places = [page.index(f"| `{model_keys.KEYS[vendor][0]}`") for vendor in model_keys.AUTO]
    assert places == sorted(places)
    assert all(f"`{model}`" in page for model in model_keys.AUTO.values())


def test_auto_without_any_key_says_which_there_are(tmp_path: Path) -> None:
    (line,) = faults(tmp_path, '[model]\nname = "auto"\n')
    assert "ANTHROPIC_API_KEY" in line
    assert "OPENAI_API_KEY" in line


@pytest.mark.parametrize(
    "setting",
    ["temperature = 2.5", "top_p = 0.0", "max_tokens = 0", 'reasoning = "hard"', 'stop = ["a", "b", "c", "d", "e"]'],
)
def test_controls_have_bounds(tmp_path: Path, setting: str) -> None:
    assert faults(tmp_path, f'[model]\nname = "openai/gpt-4o"\n{setting}\n', **OPENAI)


# ---------------------------------------------------------------------------------------------------------- the budgets


def test_budgets_are_taken_to_the_millionth_of_a_dollar(tmp_path: Path) -> None:
    text = '[budgets]\nday = 20\nroom_day = 0.123456\nagent_calls_hour = 50\nover = "ask"\n'
    rules = read(tmp_path, text).budgets.rules
    assert rules.limits == {Scope.DAY: 20_000_000, Scope.ROOM_DAY: 123_456, Scope.AGENT_CALLS_HOUR: 50}
    assert (rules.then, rules.warn_at, rules.hold) == (Then.ASK, 0.8, 50_000)
    assert not read(tmp_path, "").budgets.rules.limits


def test_all_faults_of_budgets_are_told_at_once(tmp_path: Path) -> None:
    text = (
        "[budgets]\nday = 0\nmonth = -1.5\nperson_dya = 2\nagent_calls_hour = 0\nwarn_at = 1.5\n"
        'over = "cheapest"\nunpriced = "free"\nroom_day = "much"\n'
    )
    told = "\n".join(faults(tmp_path, text))
    for name in ("day", "month", "person_dya", "agent_calls_hour", "warn_at", "over", "unpriced", "room_day"):
        assert f"budgets.{name}" in told
    assert "person_day" in told  # what was meant
    assert "there is only one model" in told


def test_a_model_without_a_price_is_refused_only_where_budgets_are_set(tmp_path: Path) -> None:
    agent = '[[agents]]\nname = "ops"\nprompt = "p"\nbudget_day = 1.0\n'
    assert refuses_unpriced(read(tmp_path, '[budgets]\nday = 1\nunpriced = "refuse"\n'))
    assert refuses_unpriced(read(tmp_path, f'[budgets]\nunpriced = "refuse"\n{agent}'))
    assert not refuses_unpriced(read(tmp_path, '[budgets]\nunpriced = "refuse"\n'))
