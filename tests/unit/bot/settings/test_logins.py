"""Sign-ins in the settings: their addresses, and models whose key is a token."""

from __future__ import annotations

from pathlib import Path
from typing import Final

import pytest

from bot.settings.settings import Settings, load
from bot.wiring.models.catalogue import catalogue_of
from bot.wiring.models.made import every_settings, mark_of
from runtime.errors import ConfigError
from runtime.models.account.tokens import OAUTH_KEY

VENDOR: Final = '[[logins]]\nname = "vendor"\nissuer = "https://id.example.com"\nclient_id = "us"\n'
OTHER: Final = VENDOR.replace("vendor", "other").replace("id.", "other.")


def read(folder: Path, text: str, **variables: str) -> Settings:
    file = folder / "signalbox.toml"
    file.write_text(text)
    return load(file, environ=variables)


@pytest.mark.parametrize(
    ("model", "logins"),
    [
        ('api_key = "__oauth__"', VENDOR),
        ('api_key = "__oauth__"\nlogin = "vendor"', VENDOR + OTHER),
        ('api_key = "login:vendor"', VENDOR + OTHER),
        ('login = "vendor"', VENDOR + OTHER),
        ("", VENDOR),
    ],
)
def test_a_key_may_stand_for_the_token_of_a_sign_in(tmp_path: Path, model: str, logins: str) -> None:
    variables = {} if model else {"SIGNALBOX_MODEL__API_KEY": "login:vendor"}
    settings = read(tmp_path, f'[model]\nname = "openai/gpt-4o"\n{model}\n{logins}', **variables)
    (given,) = every_settings(settings).values()
    assert (given.keys, given.login) == ((OAUTH_KEY,), "vendor")
    assert catalogue_of(settings)[0].key == "sign-in vendor"
    assert OAUTH_KEY not in settings.secret_values(), "it's no secret, so nobody looks for it in what people write"


def test_an_alias_takes_the_sign_in_over_and_may_have_a_key_of_its_own(tmp_path: Path) -> None:
    text = '[model]\nname = "big"\n[[models]]\nname = "big"\nmodel = "openai/gpt-4o"\nlogin = "vendor"\n'
    text += '[[models]]\nname = "own"\nmodel = "big"\napi_key = "sk-of-its-own"\n'
    settings = read(tmp_path, text + VENDOR)
    every = every_settings(settings)
    assert {name: given.login for name, given in every.items()} == {"big": "vendor", "own": ""}
    assert mark_of(every["big"]) != mark_of(every["own"])


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ('[model]\nname = "openai/x"\nlogin = "vendr"\n' + VENDOR, "did you mean vendor"),
        ('[model]\nname = "openai/x"\napi_key = "__oauth__"\n' + VENDOR + OTHER, r"several \[\[logins\]\]"),
        ('[model]\nname = "openai/x"\napi_key = "__oauth__"\n', r"there are no \[\[logins\]\]"),
        ('[model]\nname = "openai/x"\nlogin = "vendor"\napi_key = "sk-1"\n' + VENDOR, "keep one of them"),
        ('[[logins]]\nname = "v"\nclient_id = "us"\n', "token_endpoint"),
        ('[[logins]]\nname = "v"\nclient_id = "us"\ntoken_endpoint = "https://a.test/t"\n', "authorization_endpoint"),
        ('[[logins]]\nname = "v"\nclient_id = "us"\nissuer = "http://a.test"\n', "https:// address"),
        ('[secrets]\nshared_key = "short"\n', "shared_key"),
        ('[secrets]\nhosts = {A = ["https://a.test/x"]}\n', "a host"),
    ],
)
def test_what_is_wrong_is_told(tmp_path: Path, text: str, fault: str) -> None:
    with pytest.raises(ConfigError, match=fault):
        read(tmp_path, text)


def test_a_login_without_an_issuer_has_its_addresses(tmp_path: Path) -> None:
    text = '[[logins]]\nname = "v"\nclient_id = "us"\ntoken_endpoint = "https://a.test/t"\ndevice_endpoint = "https://a.test/d"\n'
    (login,) = read(tmp_path, text).logins
    assert login.device_endpoint == "https://a.test/d"
