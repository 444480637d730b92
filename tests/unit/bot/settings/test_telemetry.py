"""OpenTelemetry's own variables count where the settings say nothing, and only where its extra is installed."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest

from bot.settings import telemetry
from bot.settings.settings import load
from bot.settings.sources import Layers
from bot.settings.telemetry import find_collector, is_installed
from runtime.errors import ConfigError

BASE = {"OTEL_EXPORTER_OTLP_ENDPOINT": "http://collector:4318"}
WHOLE = {"OTEL_EXPORTER_OTLP_TRACES_ENDPOINT": "http://traces:4318/v1/traces"}


def endpoint(variables: Mapping[str, str], *, installed: bool = True) -> object:
    layers = Layers()
    find_collector(layers, variables, installed=lambda: installed)
    return layers.get("telemetry.endpoint")


def test_without_a_word_traces_are_off() -> None:
    assert load(environ={}).telemetry.endpoint == ""


def test_the_usual_variable_turns_them_on_and_the_one_for_traces_goes_first() -> None:
    assert endpoint(BASE) == "http://collector:4318"
    assert endpoint(BASE | WHOLE) == "http://traces:4318/v1/traces"


@pytest.mark.parametrize("off", [{"OTEL_SDK_DISABLED": "TRUE"}, {"OTEL_TRACES_EXPORTER": "none"}])
def test_the_usual_variables_keep_them_off(off: dict[str, str]) -> None:
    assert endpoint(BASE | off) is None


def test_a_variable_for_all_programs_of_a_machine_does_not_ask_for_the_extra() -> None:
    assert endpoint(BASE, installed=False) is None


def test_our_own_setting_goes_first_and_its_source_is_told(tmp_path: Path) -> None:
    file = tmp_path / "signalbox.toml"
    file.write_text('[telemetry]\nendpoint = "http://ours:1"\nservice_name = "ours"\n')
    ours = load(file, environ=BASE | {"OTEL_SERVICE_NAME": "theirs"})
    assert (ours.telemetry.endpoint, ours.telemetry.service_name) == ("http://ours:1", "ours")
    theirs = load(environ=BASE | {"OTEL_SERVICE_NAME": "theirs"}, folder=tmp_path / "empty")
    assert (theirs.telemetry.endpoint, theirs.telemetry.service_name) == ("http://collector:4318", "theirs")
    assert theirs.source("telemetry.endpoint") == "OTEL_EXPORTER_OTLP_ENDPOINT"


@pytest.mark.parametrize("wrong", ["localhost:4318", "grpc://collector:4317", "http://", "http://h:port", "http://h:0"])
def test_what_is_no_address_is_told_with_an_example(wrong: str) -> None:
    with pytest.raises(ConfigError, match=r'telemetry.endpoint: got text .*expected an address such as "http://'):
        load(overrides={"telemetry.endpoint": wrong}, environ={})


def test_the_extra_is_here_and_where_it_is_not_that_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    assert is_installed()
    monkeypatch.setattr(telemetry, "EXTRA", "opentelemetry.nowhere.at.all")
    assert not is_installed()
