"""The true sender of a mail, by the word of one's own mail server.

Anybody may write any address behind "From:". The server that took the mail in checks it (DMARC, DKIM) and writes what it
found into a header Authentication-Results, under its own name (RFC 8601). Only headers of that name count, and of several
only the topmost that tells of a method: a server puts its own above all that came with the mail. It must also remove
headers of its own name from mail that comes from outside, as the RFC demands.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Final

COMMENT: Final = re.compile(r"\([^()]*\)")
RESULT: Final = re.compile(r"^\s*(?P<method>[a-z0-9-]+)(?:/\d+)?\s*=\s*(?P<result>[a-z]+)", re.IGNORECASE)
PROPERTY: Final = re.compile(
    r"\b(?P<name>(?:header|smtp|policy)\.[a-z-]+)\s*=\s*\"?(?P<value>[^\s;\"]+)", re.IGNORECASE
)


def is_vouched_for(address: str, results: Sequence[str], authserv_id: str) -> bool:
    """True if the server says that the owner of the address's domain sent this: DMARC, or DKIM of that very domain."""
    domain = address.rpartition("@")[2].lower()
    own = [list(_told(one)) for one in results if _id_of(one) == authserv_id.lower()]
    dmarc = next((told for told in own if any(method == "dmarc" for method, _, _ in told)), None)
    if dmarc is not None:
        found = [(result, properties) for method, result, properties in dmarc if method == "dmarc"]
        return len(found) == 1 and found[0][0] == "pass" and found[0][1].get("header.from") == domain
    dkim = next((told for told in own if any(method == "dkim" for method, _, _ in told)), [])
    return any(
        method == "dkim" and result == "pass" and _is_of(domain, properties) for method, result, properties in dkim
    )


def _id_of(header: str) -> str:
    """The name of the server that wrote it."""
    first = COMMENT.sub(" ", header).partition(";")[0].split()
    return first[0].lower() if first else ""


def _told(header: str) -> Iterator[tuple[str, str, dict[str, str]]]:
    """Method, result and properties of each result in it."""
    for piece in COMMENT.sub(" ", header).split(";")[1:]:
        if found := RESULT.match(piece):
            properties = {one["name"].lower(): one["value"].lower() for one in PROPERTY.finditer(piece)}
            yield found["method"].lower(), found["result"].lower(), properties


def _is_of(domain: str, properties: dict[str, str]) -> bool:
    """True if a signature is by this domain itself: one of a service that sends for many says nothing about the address."""
    return properties.get("header.d", properties.get("header.i", "").rpartition("@")[2]) == domain
