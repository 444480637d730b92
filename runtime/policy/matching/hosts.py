"""The host of a URL as a condition: read as strictly as it can be to allow, and in every way it may be read to deny. No I/O."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from ipaddress import IPv6Address, ip_address
from socket import inet_aton, inet_ntoa
from typing import Final
from urllib.parse import unquote

from runtime.contract import Json
from runtime.policy.matching.values import TEXTS_KEPT, as_read, every, is_long, some

EXPECTED: Final = (
    'a host without scheme, port or path, such as "example.org", or "*.example.org" for all hosts below it'
)
ALL_BELOW: Final = "*."
URL: Final = re.compile(r"(?:https?|wss?)://([^/?#@%\\]+)(?:[/?#].*)?", re.IGNORECASE)
"""A URL that every program reads alike: no user, nothing escaped in its host."""
AUTHORITY: Final = re.compile(r"(\[[0-9A-Fa-f:.]+\]|[^:\[\]]+)(?::[0-9]{0,5})?")
SCHEME: Final = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:")
DNS_NAME: Final = re.compile(r"(?:[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?\.)*[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?")
DOTS: Final = str.maketrans("\u3002\uff0e\uff61", "...")
"""Signs that stand for a dot between the labels of a name. Source: RFC 3490, section 3.1."""
DNS_NAME_MAX_CHARS: Final = 253


@dataclass(frozen=True, slots=True)
class Host:
    """A URL whose host is one of `hosts`. Names below `*.example.org` are meant without that one itself."""

    hosts: tuple[str, ...]

    def __str__(self) -> str:
        return f"host {' or '.join(self.hosts)}"

    def surely(self, value: Json) -> bool:
        return not is_long(value) and every(value, lambda one: isinstance(one, str) and self._is(plain_host(one)))

    def perhaps(self, value: Json) -> bool:
        return is_long(value) or some(value, self._may_be)

    def _is(self, host: str | None) -> bool:
        return host is not None and any(_below(host, one) or host == one for one in self.hosts)

    def _may_be(self, value: Json) -> bool:
        if not isinstance(value, str):
            return value is not None
        found = possible_hosts(value)
        return not found or "" in found or any(map(self._is, found))


def host_of(text: str) -> str:
    """A host as a rule names it, in the form that is compared. Errors: ValueError says what is expected."""
    below = ALL_BELOW if text.startswith(ALL_BELOW) else ""
    name = text.removeprefix(below)
    bare = name[1:-1] if name.startswith("[") and name.endswith("]") else name
    if (address := _address(bare)) and not below:
        return address
    host = _ascii(name)
    if host is None or host.replace(".", "").isdecimal():
        raise ValueError(EXPECTED)
    return below + host


@lru_cache(maxsize=TEXTS_KEPT)
def plain_host(url: str) -> str | None:
    """The host of a URL, if it is written so that nobody can read another; else None."""
    if not url.isprintable() or " " in url or unicodedata.normalize("NFKC", url.translate(DOTS)) != url:
        return None
    found = URL.fullmatch(url)
    authority = AUTHORITY.fullmatch(found[1]) if found else None
    if authority is None:
        return None
    host = authority[1]
    if host.startswith("["):
        return _address(host[1:-1])
    if host.rpartition(".")[2][:1].isdigit():
        return _address(host)
    return _ascii(host)


@lru_cache(maxsize=TEXTS_KEPT)
def possible_hosts(text: str) -> frozenset[str]:
    """Hosts that some program may read in a text, however it is written; an empty one where nobody can tell."""
    return frozenset(_read_in(text))


def _read_in(text: str) -> Iterator[str]:
    for written in _ways_to_read(text):
        for rest in _behind_scheme(written.lstrip("/\\")):
            for ends in (r"[/?#]", r"[/?#\\]"):
                for part in filter(None, re.split(ends, rest, maxsplit=1)[0].split("@")):
                    yield from _hosts_in(part) or [""]


def _behind_scheme(text: str) -> Iterator[str]:
    """Rest of a text behind its scheme; and all of it, where what looks like one may be a host with its port."""
    scheme = SCHEME.match(text)
    if scheme is None or text[scheme.end() :][:1] not in ("/", "\\"):
        yield text
    if scheme:
        yield text[scheme.end() :].lstrip("/\\")


def _ways_to_read(text: str) -> set[str]:
    """The text as it is, as it is read, without blanks, and with its escapes written out, once and twice."""
    found = {text, "".join(as_read(text).split())}
    for _ in range(2):
        found |= {unquote(one) for one in found}
    return found


def _hosts_in(part: str) -> list[str]:
    """The host in a part of an authority, with or without a port, in each form that it has."""
    bracketed = re.match(r"\[([^\]]*)\]", part)
    name = as_read(bracketed[1] if bracketed else part.partition(":")[0])
    found = [_address(name), _address(part), _ancient(name), _ascii(name), _older(name)]
    return [one for one in found if one]


def _below(host: str, pattern: str) -> bool:
    return pattern.startswith(ALL_BELOW) and host.endswith(pattern[1:]) and len(host) > len(pattern) - 1


def _address(text: str) -> str | None:
    """An IP address in its one form; an IPv4 one that is wrapped in IPv6 as itself."""
    try:
        address = ip_address(text)
    except ValueError:
        return None
    return str(address.ipv4_mapped or address) if isinstance(address, IPv6Address) else str(address)


def _ancient(name: str) -> str | None:
    """The IPv4 address that 2130706433, 0x7f.1 or 0177.0.0.1 stand for. It asks no one."""
    if not re.fullmatch(r"[0-9a-fxA-FX.]+", name) or not name[:1].isdigit():
        return None
    try:
        return inet_ntoa(inet_aton(name.rstrip(".")))
    except OSError:
        return None


def _ascii(name: str) -> str | None:
    """A name as it goes into the DNS, in small letters and without the dot at its end; None for what is no name."""
    labels = unicodedata.normalize("NFKC", name.translate(DOTS)).lower().removesuffix(".").split(".")
    host = ".".join(one if one.isascii() else f"xn--{one.encode('punycode').decode()}" for one in labels)
    return host if len(host) <= DNS_NAME_MAX_CHARS and DNS_NAME.fullmatch(host) else None


def _older(name: str) -> str | None:
    """The same name by the older rules (IDNA 2003), which write ß as ss."""
    try:
        return None if name.isascii() else name.encode("idna").decode().lower().removesuffix(".")
    except UnicodeError:
        return None
