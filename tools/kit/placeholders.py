"""Placeholders for secrets in arguments: `{{secret:NAME}}`, filled at the wire for the hosts that the secret is bound to."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Final, Protocol
from urllib.parse import quote, urlsplit

from runtime.contract import Json, ToolContext
from runtime.errors import ToolFailed

PLACEHOLDER: Final = re.compile(r"\{\{\s*secret:\s*([^{}\s]{1,128})\s*\}\}")
PLACEHOLDERS_MOST: Final = 10
"""Different secrets in one call."""
WRITTEN_AS: Final = "{{{{secret:{name}}}}}"
UNKNOWN_NAME: Final = "There is no secret {name} for calls. Nothing was sent."
OTHER_HOST: Final = "The secret {name} isn't for {host}: it's only for {hosts}. Nothing was sent."
OPEN_WAY: Final = "The secret {name} isn't sent to {host} over http, where others could read it. Use https."
IN_HOST: Final = "A secret can't stand in the host of an address. Nothing was sent."


@dataclass(frozen=True, slots=True)
class LentSecret:
    """A secret for one call. `forms` are all ways in which an answer may repeat it."""

    name: str
    value: str = field(repr=False)
    forms: Sequence[str] = field(repr=False)


class SecretBook(Protocol):
    """Secrets that are bound to hosts."""

    def bound(self) -> Mapping[str, Sequence[str]]:
        """Hosts of each, by name: `api.example.com`, or `*.example.com` for all below it."""

    async def lent(self, name: str, *, tool: str, host: str, context: ToolContext) -> LentSecret:
        """The secret for one call, whose use is recorded. Errors: ToolFailed where it isn't there."""


class NoSecrets:
    """Implements `SecretBook` where nothing is lent."""

    def __init__(self, hosts: Mapping[str, Sequence[str]] | None = None) -> None:
        self._hosts = hosts or {}

    def bound(self) -> Mapping[str, Sequence[str]]:
        return self._hosts

    async def lent(self, name: str, *, tool: str, host: str, context: ToolContext) -> LentSecret:
        raise ToolFailed(UNKNOWN_NAME.format(name=name))


def names_in(value: Json) -> list[str]:
    """Names of the secrets that stand in `value`, each once."""
    return list(dict.fromkeys(_names(value)))


def _names(value: Json) -> Iterator[str]:
    match value:
        case str():
            yield from (found[1] for found in PLACEHOLDER.finditer(value))
        case dict():
            for key, one in value.items():
                yield from (*_names(key), *_names(one))
        case list():
            for one in value:
                yield from _names(one)
        case _:
            return


def objection(book: SecretBook, names: Sequence[str], url: str) -> str:
    """The reason for which a call with these secrets isn't sent to `url`; empty where it may be.

    A host counts as rules write it, in small letters and without a port.
    """
    try:
        parts = urlsplit(url)
        host = (parts.hostname or "").lower().rstrip(".")
    except ValueError:
        return IN_HOST
    if PLACEHOLDER.search(parts.netloc) or PLACEHOLDER.search(parts.scheme):
        return IN_HOST
    if len(names) > PLACEHOLDERS_MOST:
        return f"At most {PLACEHOLDERS_MOST} secrets go with one call."
    bound = book.bound()
    for name in names:
        if not (hosts := bound.get(name)):
            return UNKNOWN_NAME.format(name=name)
        if not any(fits_host(pattern, host) for pattern in hosts):
            return OTHER_HOST.format(name=name, host=host or "an address without a host", hosts=", ".join(hosts))
        if parts.scheme != "https" and host not in ("localhost", "127.0.0.1", "::1"):
            return OPEN_WAY.format(name=name, host=host)
    return ""


def fits_host(pattern: str, host: str) -> bool:
    """True for the host itself, and with `*.` for all below it.

    >>> fits_host("*.example.com", "api.example.com"), fits_host("*.example.com", "example.com")
    (True, False)
    >>> fits_host("api.example.com", "evil-api.example.com"), fits_host("*.com.evil", "api.com")
    (False, False)
    """
    return host.endswith(pattern[1:]) if pattern.startswith("*.") else host == pattern


Written = Callable[[str], str]
"""A value as it's written at its place."""


def as_is(value: str) -> str:
    return value


def in_address(value: str) -> str:
    return quote(value, safe="")


def in_json(value: str) -> str:
    return json.dumps(value)[1:-1]


class Filled:
    """Secrets of one call, by name."""

    def __init__(self, secrets: Sequence[LentSecret]) -> None:
        self._secrets = {secret.name: secret for secret in secrets}
        forms = [(form, secret.name) for secret in secrets for form in secret.forms]
        self._forms = sorted(forms, key=lambda one: -len(one[0]))  # the longest first: others may be within it

    def text(self, text: str, written: Written = as_is) -> str:
        return PLACEHOLDER.sub(lambda found: written(self._secrets[found[1]].value), text)

    def json(self, value: Json) -> Json:
        """`value` with its placeholders filled, wherever they stand but in names."""
        match value:
            case str():
                return self.text(value)
            case dict():
                return {key: self.json(one) for key, one in value.items()}
            case list():
                return [self.json(one) for one in value]
            case _:
                return value

    def arguments(self, given: Mapping[str, Json]) -> Mapping[str, Json]:
        """Arguments of a call with their placeholders filled."""
        return {name: self.json(value) for name, value in given.items()} if self._secrets else given

    def hidden(self, text: str) -> str:
        """`text` with placeholders for the secrets, in whatever form an answer repeats them."""
        for form, name in self._forms:
            text = text.replace(form, WRITTEN_AS.format(name=name))
        return text

    def hidden_bytes(self, data: bytes) -> bytes:
        for form, name in self._forms:
            data = data.replace(form.encode(), WRITTEN_AS.format(name=name).encode())
        return data


NOTHING_FILLED: Final = Filled([])


@contextmanager
def hidden_in(filled: Filled) -> Iterator[None]:
    """Errors for the model repeat none of the secrets that were sent."""
    try:
        yield
    except ToolFailed as error:
        text = str(error)
        if (clean := filled.hidden(text)) != text:
            raise ToolFailed(clean) from None
        raise


async def filling(book: SecretBook, names: Sequence[str], url: str, *, tool: str, context: ToolContext) -> Filled:
    """The secrets `names` for a call that goes to `url`. Errors: ToolFailed says why it isn't sent."""
    if not names:
        return NOTHING_FILLED
    if why := objection(book, names, url):
        raise ToolFailed(why)
    host = urlsplit(url).hostname or ""
    return Filled([await book.lent(name, tool=tool, host=host, context=context) for name in names])
