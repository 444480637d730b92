"""The true sender of a mail, by the word of one's own mail server.

Anybody may write any address behind "From:". The server that took the mail in checks it (DMARC, DKIM) and writes what it
found into a header Authentication-Results, under its own name (RFC 8601). Only headers of that name count, and of several
only the topmost that tells of a method: a server puts its own above all that came with the mail. It must also remove
headers of its own name from mail that comes from outside, as the RFC demands.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from enum import Enum
from typing import Final

from signalbox_email.incoming.signatures import akin

SIGN: Final = re.compile(r'\\.|"|\(|\)|;|\s|[^\\"();\s]+|\\', re.DOTALL)
RESULT: Final = re.compile(r"^\s*(?P<method>[a-z0-9-]+)(?:/\d+)?\s*=\s*(?P<result>[a-z]+)", re.IGNORECASE)
PROPERTY: Final = re.compile(
    r"(?<!\S)(?P<name>(?:header|smtp|policy)\.[a-z-]+)\s*=\s*(?P<value>\S+)(?!\S)", re.IGNORECASE
)
UNREADABLE: Final = "dmarc=permerror"
QUOTED: Final = "\N{REPLACEMENT CHARACTER}"
"""Stands for each sign in quotes that ends a word elsewhere: senders choose some of what a server quotes."""


class Vouched(Enum):
    """The ground on which a server vouches for a sender."""

    SIGNED = "a signature of the domain is right"
    SENT = "DMARC passes, and no signature is told of: the mail may have none, and came from a server of the domain"


def vouched(address: str, results: Sequence[str], authserv_id: str) -> Vouched | None:
    """The ground on which the server says that the owner of the address's domain sent this: DMARC, or DKIM of that very domain."""
    domain = address.rpartition("@")[2].lower()
    own = [list(_told(one)) for one in results if _id_of(one) == authserv_id.lower()]
    told_dkim = next((told for told in own if any(method == "dkim" for method, _, _ in told)), [])
    signers = [_signer(properties) for method, result, properties in told_dkim if (method, result) == ("dkim", "pass")]
    dmarc = next((told for told in own if any(method == "dmarc" for method, _, _ in told)), None)
    if dmarc is None:  # a signature of a service that sends for many says nothing about the address
        return Vouched.SIGNED if domain in signers else None
    found = [(result, properties) for method, result, properties in dmarc if method == "dmarc"]
    if len(found) != 1 or found[0][0] != "pass" or found[0][1].get("header.from") != domain:
        return None
    return Vouched.SIGNED if any(akin(domain, one) for one in signers) else Vouched.SENT


def _id_of(header: str) -> str:
    """The name of the server that wrote it."""
    first = next(_pieces(header)).split()
    return first[0].lower() if first else ""


def _told(header: str) -> Iterator[tuple[str, str, dict[str, str]]]:
    """Method, result and properties of each result in it."""
    for piece in list(_pieces(header))[1:]:
        if found := RESULT.match(piece):
            properties = {one["name"].lower(): one["value"].lower() for one in PROPERTY.finditer(piece)}
            yield found["method"].lower(), found["result"].lower(), properties


def _pieces(header: str) -> Iterator[str]:
    """Its parts between semicolons, without comments, which nest, and without quotes. One that is left open vouches for nobody."""
    piece, depth, in_quotes = "", 0, False
    for sign in SIGN.findall(header):
        if sign == '"' and not depth:
            in_quotes = not in_quotes
        elif in_quotes:
            piece += QUOTED if sign in "();" or sign.isspace() else sign[-1] if sign[0] == "\\" else sign
        elif sign in "()":
            depth = max(0, depth + (1 if sign == "(" else -1))
            piece += " "
        elif sign == ";" and not depth:
            yield piece
            piece = ""
        elif not depth:
            piece += sign
    yield UNREADABLE if depth or in_quotes else piece


def _signer(properties: dict[str, str]) -> str:
    """The domain of a signature."""
    return properties.get("header.d", properties.get("header.i", "").rpartition("@")[2])
