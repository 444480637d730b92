"""The leak guard as settings and flags of a start make it."""

from __future__ import annotations

from pathlib import Path

import pytest

from bot.server.reload import differences, merged
from bot.settings.safety.guard import Guardrails
from bot.settings.settings import Settings
from bot.wiring.safety.guard import door_of, guard_of, scan_door_of
from runtime.guard.findings import Gate
from tests.unit.bot.settings.test_settings import read
from tests.unit.guard.secrets import SECRETS

TOKEN = SECRETS["github"][1]
OURS = "a-long-key-of-ours"
ADDRESS = "ada@example.org"
MODEL = f'[model]\nname = "openai/ours"\napi_base = "http://127.0.0.1:9/v1"\napi_key = "{OURS}"\n'
RULES = '[[guard_rules]]\nname = "code name"\nwords = ["bluebird"]\n'
ROOM = '[[rooms]]\naddress = "web:main/strict"\nsecrets = "enforce"\npersonal = "redact"\n'


def said(settings: Settings, text: str, room: str = "") -> str:
    return guard_of(settings, b"key").check(text, Gate.MESSAGE_IN, room).text


@pytest.mark.parametrize("word", [TOKEN, OURS, "bluebird", ADDRESS])
@pytest.mark.parametrize("room", ["", "web:main/strict"])
def test_without_guardrails_nothing_is_looked_for(tmp_path: Path, word: str, room: str) -> None:
    settings = read(tmp_path, '[guard]\npersonal = "redact"\n' + MODEL + RULES + ROOM)
    assert word not in said(settings, f"it is {word} here", room)
    assert said(settings.guarded_by(Guardrails.OFF), f"it is {word} here", room) == f"it is {word} here"


@pytest.mark.parametrize("secrets", ["off", "warn", "redact"])
def test_enforced_guardrails_withhold_secrets_whatever_the_settings_say(tmp_path: Path, secrets: str) -> None:
    settings = read(tmp_path, f'[guard]\nsecrets = "{secrets}"\n{MODEL}').guarded_by(Guardrails.ENFORCED)
    assert all(said(settings, f"it is {word}").startswith("[withheld") for word in (TOKEN, OURS))


def test_enforced_guardrails_withhold_what_is_looked_for_and_nothing_else(tmp_path: Path) -> None:
    settings = read(tmp_path, MODEL + RULES + ROOM).guarded_by(Guardrails.ENFORCED)
    assert said(settings, "a bluebird").startswith("[withheld")
    assert said(settings, f"ask {ADDRESS}") == f"ask {ADDRESS}"
    assert said(settings, f"ask {ADDRESS}", "web:main/strict").startswith("[withheld")


@pytest.mark.parametrize("guardrails", Guardrails)
def test_a_reload_keeps_what_the_start_said(tmp_path: Path, guardrails: Guardrails) -> None:
    settings = read(tmp_path, MODEL).guarded_by(guardrails)
    fresh = settings.reread()
    assert [one.guardrails for one in (fresh, merged(settings, fresh), settings.with_secrets())] == [guardrails] * 3
    assert not list(differences(settings, fresh))


@pytest.mark.parametrize("guardrails", Guardrails)
def test_a_scan_looks_as_the_settings_say_whatever_the_process_was_started_with(
    tmp_path: Path, guardrails: Guardrails
) -> None:
    settings = read(tmp_path, MODEL).guarded_by(guardrails)
    settings.data_dir.mkdir(parents=True, exist_ok=True)
    door = scan_door_of(settings, str, door_of(settings, str))
    texts = [door.guard.check(f"it is {word} here", Gate.MESSAGE_IN).text for word in (TOKEN, OURS)]
    assert all(text.startswith("it is [redacted: ") and text.endswith(" here") for text in texts)


def test_the_banner_tells_of_a_guard_that_is_off(tmp_path: Path) -> None:
    settings = read(tmp_path, MODEL)
    assert settings.banner is None
    assert "--no-guardrails" in (settings.guarded_by(Guardrails.OFF).banner or "")
    assert settings.guarded_by(Guardrails.ENFORCED).banner is None
