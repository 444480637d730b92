"""`[[logins]]`: issuers of tokens at which a person signs in once, for all nodes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Annotated, Any, Final

from pydantic import AfterValidator, Field

from bot.settings.faults import nearest
from bot.settings.mcp import is_open_to_all
from runtime.settings.types import Secret, Section, Text, Whole, is_http_address

if TYPE_CHECKING:
    from bot.settings.sources import Layers

OAUTH_WORD: Final = "__oauth__"
"""As a model's key: the token of its sign-in."""
LOGIN_WORD: Final = "login:"
"""Begins a key that names its sign-in."""
LOGIN_ADDRESSES: Final = (
    *("issuer", "authorization_endpoint", "token_endpoint", "device_endpoint", "revocation_endpoint"),
)
LOGIN_USERS: Final = ("model", "models")

Fault = tuple[str, str]
"""The setting, and what is wrong with it."""


def _called(name: str) -> str:
    if len(name) > 40 or not name.replace("-", "").replace("_", "").isalnum() or not name.isascii():
        raise ValueError('a name of at most 40 letters, digits, "-" and "_", such as "vendor"')
    return name


def _address(url: str) -> str:
    if url and (not is_http_address(url) or is_open_to_all(url) or "#" in url or "@" in url):
        raise ValueError('an https:// address, such as "https://id.example.com"')
    return url


Address = Annotated[str, AfterValidator(_address)]


class LoginTable(Section):
    """An issuer of tokens, at which a person signs in with `signalbox login NAME`: [sign-ins.md](sign-ins.md)."""

    name: Annotated[str, AfterValidator(_called)] = Field(
        description="What it is called here. Each sign-in has its own name."
    )
    issuer: Address = Field(
        default="",
        description="Address of the issuer, whose metadata name the other addresses. Without it, set those.",
    )
    authorization_endpoint: Address = Field(default="", description="Page at which a person signs in with a browser.")
    token_endpoint: Address = Field(default="", description="Address that gives tokens.")
    device_endpoint: Address = Field(default="", description="Address that gives codes to enter on another device.")
    revocation_endpoint: Address = Field(default="", description="Address that takes tokens back.")
    client_id: Text = Field(description="Our id at the issuer.")
    client_secret: Secret = Field(default=None, description="Secret that belongs to `client_id`, if it has one.")
    client_secret_env: str = Field(
        default="", description="Name of the variable or sealed secret that holds `client_secret`."
    )
    scopes: tuple[Text, ...] = Field(
        default=(), description='Scopes to ask for. Many issuers renew tokens only with "offline_access".'
    )
    audience: str = Field(default="", description="The API that tokens are for, if the issuer wants to be told.")
    callback_port: Whole = Field(
        default=0,
        ge=0,
        le=65535,
        description="Port on this machine to which the browser returns. 0: any free one.",
    )


def faults_together(layers: Layers) -> Iterator[Fault]:
    """Sign-ins without addresses, and models whose sign-in isn't there or has another key beside it."""
    for place, table in layers.tables("logins"):
        if not any(table.get(name) for name in ("issuer", "token_endpoint")):
            yield f"{place}.issuer", "is missing; set it, or token_endpoint and the address of a page or of codes"
        elif not table.get("issuer") and not any(
            table.get(name) for name in ("authorization_endpoint", "device_endpoint")
        ):
            yield f"{place}.device_endpoint", "is missing; set it, or authorization_endpoint, or issuer"
    names = [table.get("name") for _, table in layers.tables("logins")]
    for place in ("model", *(place for place, _ in layers.tables("models"))):
        yield from _use(layers, place, names)


def _use(layers: Layers, place: str, names: list[Any]) -> Iterator[Fault]:
    login = layers.get(f"{place}.login")
    if not login:
        return
    if login not in names:
        known = [name for name in names if isinstance(name, str)]
        near = nearest(str(login), known)
        yield f"{place}.login", f'"{login}" names no [[logins]]; {f"did you mean {near}?" if near else "add it there"}'
    for key in ("api_key", "api_key_env", "api_keys", "api_key_envs"):
        if layers.get(f"{place}.{key}"):
            yield layers.title(f"{place}.{key}"), "is set, and login too; keep one of them"


def login_meant(key: object, given: object, tables: Sequence[tuple[str, Mapping[str, Any]]]) -> tuple[str, str]:
    """The sign-in that a model's key names, and a fault; both empty for a key that is none of these."""
    if not isinstance(key, str) or not (key == OAUTH_WORD or key.startswith(LOGIN_WORD)):
        return "", ""
    if key.startswith(LOGIN_WORD):
        return key.removeprefix(LOGIN_WORD), ""
    if isinstance(given, str) and given:
        return given, ""
    if len(tables) == 1:
        return str(tables[0][1].get("name")), ""
    count = "no [[logins]]" if not tables else "several [[logins]]"
    return "", f'is "{OAUTH_WORD}", and there are {count}; name one with login = "NAME"'
