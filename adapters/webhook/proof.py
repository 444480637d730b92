"""Proof that a sender may: a secret that it shows, or a signature that only who holds the secret can make. Pure.

Every comparison takes the same time wherever the first wrong character is.
"""

from __future__ import annotations

import base64
import binascii
import hmac
import re
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from enum import Enum
from typing import Final

from adapters.webhook.settings import Proof

BEARER: Final = "bearer "
STANDARD: Final = "whsec_"
"""Begins a secret of Standard Webhooks, whose key is the rest as base64. Stripe's begin so too, and are taken as they are."""
_PLACES: Final = re.compile(r"\{(body|timestamp|id)\}")
_STAMP: Final = re.compile(r"(?:^|[,\s])t=(\d+)|^(\d+)$", re.ASCII)  # Stripe's `t=…,v1=…`, or the header as a whole
_APART: Final = re.compile(r"[\s,]+")
SECONDS: Final = 11
"""Digits of a timestamp that can be one: the year 5138."""


class Proven(Enum):
    YES = "yes"
    NO = "no"  # nothing was shown, or something wrong
    LATE = "late"  # validly signed, but too far from our time: perhaps a replay


def proven(proof: Proof, headers: Mapping[str, str], body: bytes, now: datetime) -> Proven:
    """Prove that a request with these headers and this body is from somebody who holds the secret."""
    if proof.kind == "token":
        return Proven.YES if _same(_shown(proof, headers), _bytes(proof.secret)) else Proven.NO
    stamp = _stamp(headers.get(proof.timestamp_header, "")) if proof.timestamp_header else None
    if proof.timestamp_header and stamp is None:
        return Proven.NO
    if not _is_signed(proof, headers.get(proof.header, ""), signed_by(proof, headers, body)):
        return Proven.NO
    return Proven.YES if stamp is None or _is_near(stamp, proof, now) else Proven.LATE


def signed_by(proof: Proof, headers: Mapping[str, str], body: bytes) -> bytes:
    """Bytes that are signed."""
    values = {
        "body": body,
        "timestamp": _bytes(_stamp(headers.get(proof.timestamp_header, "")) or ""),
        "id": _bytes(headers.get(proof.id_header, "")),
    }
    pieces = _PLACES.split(proof.signed)  # words and names of places in turn
    return b"".join(values[piece] if place % 2 else piece.encode() for place, piece in enumerate(pieces))


def _shown(proof: Proof, headers: Mapping[str, str]) -> bytes:
    """The secret that a request shows."""
    if own := headers.get(proof.header):
        return _bytes(own)
    given = headers.get("Authorization", "")
    return _bytes(given[len(BEARER) :].strip()) if given.lower().startswith(BEARER) else b""


def _is_signed(proof: Proof, header: str, content: bytes) -> bool:
    """True if one of the signatures that the header lists is right: while a secret is changed, senders give two."""
    wanted = [form for key in _keys(proof.secret) for form in _forms(hmac.digest(key, content, "sha256"))]
    return any(_same(_bytes(shown), form) for shown in _signatures(header, proof.prefix) for form in wanted)


def _keys(secret: str) -> Iterator[bytes]:
    yield _bytes(secret)
    if secret.startswith(STANDARD):
        try:
            yield base64.b64decode(secret.removeprefix(STANDARD), validate=True)
        except binascii.Error:
            return  # then it is no secret of that kind


def _forms(digest: bytes) -> tuple[bytes, bytes]:
    """As senders write it."""
    return digest.hex().encode(), base64.b64encode(digest)


def _signatures(header: str, prefix: str) -> Iterator[str]:
    """Signatures behind `prefix`, in a header that may list several between commas or spaces."""
    apart = r"\s+" if "," in prefix else _APART
    for piece in re.split(apart, header.strip()):
        if piece.startswith(prefix) and len(piece) > len(prefix):
            yield piece.removeprefix(prefix)


def _stamp(header: str) -> str | None:
    """The time of a request in seconds, as it was written."""
    found = _STAMP.search(header.strip())
    stamp = (found[1] or found[2]) if found else ""
    return stamp if 0 < len(stamp) <= SECONDS else None


def _is_near(stamp: str, proof: Proof, now: datetime) -> bool:
    return abs(now - datetime.fromtimestamp(int(stamp), UTC)) <= proof.tolerance


def _same(shown: bytes, right: bytes) -> bool:
    return bool(shown) and hmac.compare_digest(shown, right)


def _bytes(text: str) -> bytes:
    """A header as it came."""
    return text.encode("utf-8", "surrogateescape")
