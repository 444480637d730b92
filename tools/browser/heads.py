"""Heads of HTTP/1.1 messages as the gateway reads and writes them: a few rules, and whatever breaks one is refused. No I/O."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

REQUEST_LINE: Final = re.compile(r"([A-Z]{1,20}) (\S{1,16000}) HTTP/1\.[01]")
STATUS_LINE: Final = re.compile(r"HTTP/1\.[01] (\d{3})(?: .*)?")
FIELD: Final = re.compile(r"([!#$%&'*+.^_`|~0-9A-Za-z-]+):[ \t]*([^\r\n\0]*)")
BETWEEN_TWO: Final = frozenset(
    (
        "connection",
        "keep-alive",
        "proxy-connection",
        "proxy-authorization",
        "proxy-authenticate",
        "te",
        "trailer",
        "host",
    )
)
"""Fields about a connection and its two ends, which the gateway says itself. Source: RFC 9110, 7.6.1."""
UPGRADE: Final = "upgrade"
WEBSOCKET: Final = "websocket"

Fields = Sequence[tuple[str, str]]


class BadHead(Exception):
    """Something that no browser and no honest server sends."""


@dataclass(frozen=True, slots=True)
class Head:
    """The first line and the fields of a message."""

    first: str
    fields: Fields

    @classmethod
    def parse(cls, raw: bytes) -> Head:
        first, *lines = raw.decode("latin-1").removesuffix("\r\n\r\n").split("\r\n")
        found = [FIELD.fullmatch(line) for line in lines if line]
        if not all(found):
            raise BadHead
        return cls(first, [(one[1], one[2].rstrip()) for one in found if one])

    def all(self, name: str) -> list[str]:
        return [value for field, value in self.fields if field.lower() == name]

    @property
    def is_websocket(self) -> bool:
        return [value.lower() for value in self.all(UPGRADE)] == [WEBSOCKET]

    @property
    def request(self) -> tuple[str, str]:
        """The method and the target. Errors: BadHead."""
        if not (found := REQUEST_LINE.fullmatch(self.first)):
            raise BadHead
        return found[1], found[2]

    @property
    def status(self) -> int:
        if not (found := STATUS_LINE.fullmatch(self.first)):
            raise BadHead
        return int(found[1])

    @property
    def length(self) -> int:
        """Bytes of a request's body. Errors: BadHead, also for a body whose end only shows on the way."""
        lengths = set(self.all("content-length"))
        if self.all("transfer-encoding") or len(lengths) > 1 or not all(one.isdigit() for one in lengths):
            raise BadHead
        return int(next(iter(lengths), "0"))

    def onward(self, first: str, host: str = "") -> bytes:
        """The message as it goes on: over a connection that ends with it, unless both ends keep it for a web socket."""
        keeps = self.is_websocket
        lines = [first, *([f"Host: {host}"] if host else []), f"Connection: {'Upgrade' if keeps else 'close'}"]
        lines += _kept(self.fields, keeps=keeps)
        return "\r\n".join([*lines, "", ""]).encode("latin-1")


def _kept(fields: Fields, *, keeps: bool) -> Iterator[str]:
    for name, value in fields:
        if name.lower() not in BETWEEN_TWO and (keeps or name.lower() != UPGRADE):
            yield f"{name}: {value}"
