"""The table of an account on a chat platform, as far as all channels share it; each channel adds what is its own."""

from __future__ import annotations

import re
from typing import Annotated, Final

from pydantic import AfterValidator, Field, SecretStr, ValidationInfo

from runtime.contract import TokenForm
from runtime.errors import ConfigError
from runtime.settings.token_forms import fault_of
from runtime.settings.types import Number, Section, Switch, is_http_address

NAME: Final = re.compile(r"[a-z0-9][a-z0-9-]{0,31}")
TOKENS: Final = "tokens"
"""Under which a validation's context holds the forms of all channels' tokens."""


def of_form(form: TokenForm) -> AfterValidator:
    """A token of that form, or none; one of another kind is told as what it is."""

    def check(value: SecretStr | None, info: ValidationInfo) -> SecretStr | None:
        known = (info.context or {}).get(TOKENS, (form,))
        if value and (fault := fault_of(value.get_secret_value(), form, known)):
            raise ValueError(fault)
        return value

    return AfterValidator(check)


def _named(name: str) -> str:
    if not NAME.fullmatch(name):
        raise ValueError('a name of at most 32 lowercase letters, digits and dashes, such as "work"')
    return name


def _server(url: str) -> str:
    if url and not is_http_address(url):
        raise ValueError('an address such as "http://127.0.0.1:8081", or nothing for the real platform')
    return url


def _reached(url: str) -> str:
    if url and not is_http_address(url):
        raise ValueError('the address under which the platform reaches us, such as "https://bot.example.org/telegram"')
    return url


AccountName = Annotated[str, AfterValidator(_named)]
ServerUrl = Annotated[str, AfterValidator(_server)]
HookUrl = Annotated[str, AfterValidator(_reached)]
"""Where a platform reaches us."""


class Account(Section):
    """The settings that every account has. A channel's own table says `channel: Literal["…"]`, and adds its settings."""

    channel: str = Field(description="Its platform.")
    name: AccountName = Field(
        description="Its name, also in addresses: lowercase letters, digits and dashes. Each account has its own."
    )
    enabled: Switch = Field(default=True, description="false: it is ignored, as if it weren't here.")
    messages_per_second: Number = Field(
        default=0,
        ge=0,
        le=1000,
        description="Most messages to send per second, to all rooms together, instead of the platform's own limits; 0: those limits.",
    )
    api_base_url: ServerUrl = Field(
        default="", description="Another server that speaks the platform's protocol; empty: the platform."
    )

    def secret(self, name: str) -> str:
        """The value of a secret that must be there. Errors: ConfigError names what is missing."""
        value: SecretStr | None = getattr(self, name)
        if value is None:
            fix = f"set {name}_env, or seal it: signalbox secrets"
            raise ConfigError(f'account "{self.name}": {name} is missing; {fix}')
        return value.get_secret_value()
