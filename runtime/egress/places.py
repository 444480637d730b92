"""The address of a request, taken apart once: what is checked here is what is sent, so two readings cannot differ."""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass
from ipaddress import AddressValueError, IPv4Address, IPv6Address, ip_address
from typing import Final
from urllib.parse import unquote

from yarl import URL

from runtime.egress.addresses import Ip
from runtime.egress.errors import Refused, Why

URL_MAX_CHARS: Final = 8000  # characters; servers take about this much (RFC 9110, 4.1)
LONGEST_NAME: Final = 253  # RFC 1035, 2.3.4
HOST_NAME: Final = re.compile(r"(?!-)[a-z0-9_-]{1,63}(?<!-)(\.(?!-)[a-z0-9_-]{1,63}(?<!-))*")
NUMBER: Final = re.compile(r"[0-9]+|0x[0-9a-f]*")

# Names that mean something else on every network, which no public host can have (RFC 6761, 6762, 7686, 8375, and the names
# that clouds use for themselves). They are refused before anybody is asked what they mean.
LOCAL: Final = ("localhost", "localdomain", "local", "internal", "home.arpa", "onion")


@dataclass(frozen=True, slots=True)
class Place:
    """Place to which a request goes. `host` is in ASCII and small letters, as rules compare it, `path` is decoded; `address` is set
    where the host is one."""

    url: URL
    host: str
    port: int
    path: str
    address: Ip | None

    @classmethod
    def parse(cls, text: str) -> Place:
        """Errors: Refused, for whatever is not a plain http or https address."""
        url = _url(text.strip(" "))
        host, address = _host(url)
        port = url.port
        if not port:
            raise Refused(Why.PORT, f"nothing listens on port 0 of {host}.")
        return cls(url.with_fragment(None), host, port, _path(url), address)

    @property
    def shown(self) -> str:
        """Name in errors: the path and the query may hold a secret."""
        host = f"[{self.host}]" if isinstance(self.address, IPv6Address) else self.host
        return f"{self.url.scheme}://{host}" + ("" if self.url.is_default_port() else f":{self.port}")

    @property
    def is_local(self) -> bool:
        """True if the name is one of those that no public host has."""
        return any(self.host == name or self.host.endswith(f".{name}") for name in LOCAL)

    def leads_to(self, location: str) -> Place:
        """Place to which a redirect leads. Errors: Refused."""
        try:
            url = self.url.join(URL(location))
        except ValueError:
            raise Refused(Why.REDIRECT, f"{self.shown} redirects to something that isn't an address.") from None
        place = Place.parse(str(url))  # read anew as a text, with every check
        if self.url.scheme == "https" and place.url.scheme == "http":
            raise Refused(Why.REDIRECT, f"{self.shown} redirects to {place.shown}, which is not encrypted.")
        return place


def _url(text: str) -> URL:
    if len(text) > URL_MAX_CHARS:
        raise Refused(Why.FORM, f"the address has {len(text):,} characters; at most {URL_MAX_CHARS:,} are sent.")
    _check_characters(text)
    _check_userinfo(text)
    try:
        url = URL(text)
    except ValueError:
        raise Refused(Why.FORM, 'that isn\'t an address such as "https://example.org/page".') from None
    if url.scheme not in ("http", "https"):
        given = f'"{url.scheme[:20]}:"' if url.scheme else "no scheme"
        raise Refused(Why.SCHEME, f'the address has {given}; it must begin with "https://" or "http://".')
    return url


def _check_characters(text: str) -> None:
    """Spaces, line ends and backslashes are read one way here and another way there."""
    if any(character == "\\" or unicodedata.category(character)[0] in "CZ" for character in text):
        raise Refused(
            Why.FORM, "the address has a space, a backslash or an invisible character in it; encode it with %."
        )


def _check_userinfo(text: str) -> None:
    authority = re.split(r"[/?#]", text.partition("//")[2], maxsplit=1)[0]
    if "@" in authority:
        raise Refused(Why.USERINFO, 'the address has a user or password before an "@"; remove them.')


def _host(url: URL) -> tuple[str, Ip | None]:
    host = (url.raw_host or "").lower()
    if not host:
        raise Refused(Why.HOST, "the address names no host.")
    if ":" in host:
        return _v6(host)
    if host.endswith("."):
        raise Refused(Why.HOST, f"the host {host[:LONGEST_NAME]} ends with a dot; write it without.")
    if len(host) > LONGEST_NAME or not HOST_NAME.fullmatch(host):
        raise Refused(Why.HOST, "the host isn't a valid DNS name.")
    if NUMBER.fullmatch(host.rpartition(".")[2]):
        return _v4(host)
    return host, None


def _v4(host: str) -> tuple[str, Ip]:
    """A name whose last part is a number is an IPv4 address to most programs, in any of many spellings; one is taken."""
    try:
        return host, IPv4Address(host)
    except AddressValueError:
        raise Refused(
            Why.HOST, f"{host} is an unusual way to write an IPv4 address; write it as 93.184.215.14."
        ) from None


def _v6(host: str) -> tuple[str, Ip]:
    if "%" in host:
        raise Refused(Why.HOST, "an IPv6 address with a zone is for one network interface of this machine only.")
    try:
        address = ip_address(host)
    except ValueError:
        raise Refused(Why.HOST, "the host in brackets isn't an IPv6 address.") from None
    return str(address), address


def _path(url: URL) -> str:
    """The path as rules compare it. Steps up that are still there once it is decoded are there to deceive a rule."""
    path = unquote(url.raw_path)
    if any(step in (".", "..") for step in re.split(r"[/\\]", path)):
        raise Refused(Why.FORM, 'the path has an encoded "." or ".." in it.')
    return path or "/"
