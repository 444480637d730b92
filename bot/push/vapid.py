"""The key by which push services know us, and the words in their own envelopes.

The key is made of the one that seals what nodes share: it is kept nowhere, and every node has the same.

Source: RFC 8292 (VAPID), RFC 8291 (message encryption), RFC 8030 (TTL, Urgency, Topic), read 2026-11.
"""

from __future__ import annotations

import json
import re
from base64 import urlsafe_b64decode, urlsafe_b64encode
from binascii import Error as BadBase64
from dataclasses import asdict, dataclass, field
from datetime import datetime, timedelta
from functools import cached_property
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import SplitResult, urlsplit

from runtime.guard.sealing import Sealer

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ec import EllipticCurvePrivateKey

LIBRARY: Final = "pywebpush"
P256_ORDER: Final = 0xFFFFFFFF00000000FFFFFFFFFFFFFFFFBCE6FAADA7179E84F3B9CAC2FC632551
"""Number of points of the curve. Source: FIPS 186-5, P-256."""
KEY_PLACE: Final = "key for push services"
PROOF_LIFE: Final = timedelta(hours=12)
"""Push services take a day at most (RFC 8292, section 2)."""
POINT_BYTES: Final = 65
AUTH_BYTES: Final = 16
ENDPOINT_MAX_CHARS: Final = 1_000
ORIGIN_SHAPE: Final = re.compile(r"https?://[A-Za-z0-9._-]+(:\d{1,5})?")
"""Origins for which a proof can be made: a name and perhaps a port."""
BAD_BROWSER: Final = (
    "A browser has an `endpoint`, an https address, and the `keys` `p256dh` and `auth`, as its push service gave them."
)


def is_library_here() -> bool:
    """True if the extra `push` is installed."""
    return find_spec(LIBRARY) is not None


@dataclass(frozen=True, slots=True)
class BrowserAddress:
    """The place where a browser is told, and the keys with which it alone reads that. Errors: ValueError."""

    endpoint: str = field(repr=False)
    p256dh: str = field(repr=False)
    auth: str = field(repr=False)

    def __post_init__(self) -> None:
        """Check all that the libraries which sign and seal would fail at later: people send what they like."""
        _check(len(self.endpoint) <= ENDPOINT_MAX_CHARS and self.endpoint.isascii() and self.endpoint.isprintable())
        _check(bool(ORIGIN_SHAPE.fullmatch(self.origin)))
        point = from_base64(self.p256dh)
        _check(len(point) == POINT_BYTES and _is_on_curve(point) and len(from_base64(self.auth)) == AUTH_BYTES)

    @classmethod
    def of_browser(cls, given: dict[str, Any]) -> BrowserAddress:
        """As `PushSubscription.toJSON()` writes it. Errors: ValueError."""
        keys, endpoint = given.get("keys"), given.get("endpoint")
        texts = [endpoint, *((keys.get("p256dh"), keys.get("auth")) if isinstance(keys, dict) else (None,))]
        if not all(isinstance(one, str) for one in texts) or len(texts) != 3:
            raise ValueError(BAD_BROWSER)
        place = _split(str(endpoint))
        _check(place.scheme == "https" and bool(place.hostname) and not place.username and not place.fragment)
        return cls(*map(str, texts))

    @classmethod
    def of_text(cls, text: str) -> BrowserAddress:
        return cls(**json.loads(text))

    def as_text(self) -> str:
        return json.dumps(asdict(self))

    @property
    def origin(self) -> str:
        place = _split(self.endpoint)
        return f"{place.scheme}://{place.netloc}"


class Vapid:
    """Our name at push services."""

    def __init__(self, sealer: Sealer, subject: str) -> None:
        self._sealer = sealer
        self._subject = subject

    @cached_property
    def _key(self) -> EllipticCurvePrivateKey:
        from cryptography.hazmat.primitives.asymmetric.ec import SECP256R1, derive_private_key

        wide = int(self._sealer.mark("first half", KEY_PLACE) + self._sealer.mark("second half", KEY_PLACE), 16)
        return derive_private_key(wide % (P256_ORDER - 1) + 1, SECP256R1())

    @cached_property
    def public_key(self) -> str:
        """As browsers take it."""
        from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

        point = self._key.public_key().public_bytes(Encoding.X962, PublicFormat.UncompressedPoint)
        return urlsafe_b64encode(point).rstrip(b"=").decode()

    def proof(self, of: BrowserAddress, now: datetime) -> dict[str, str]:
        """The header that says who sends."""
        from py_vapid import Vapid02

        claims = {"sub": self._subject, "aud": of.origin, "exp": int((now + PROOF_LIFE).timestamp())}
        # The settings have checked `subject`; the library takes fewer addresses than RFC 8292 does.
        return dict(Vapid02(private_key=self._key, conf={"no-strict": True}).sign(claims))

    @staticmethod
    def sealed_for(of: BrowserAddress, told: dict[str, str]) -> bytes:
        """The message, which only that browser reads."""
        from pywebpush import WebPusher

        keys = {"p256dh": of.p256dh, "auth": of.auth}
        made = WebPusher({"endpoint": of.endpoint, "keys": keys}).encode(json.dumps(told).encode(), "aes128gcm")
        return bytes(made["body"])


def from_base64(text: str) -> bytes:
    try:
        return urlsafe_b64decode(text + "=" * (-len(text) % 4))
    except (BadBase64, ValueError) as error:
        raise ValueError(BAD_BROWSER) from error


def _split(endpoint: str) -> SplitResult:
    """An address, whose port can be dialled if it names one. Errors: ValueError."""
    try:
        place = urlsplit(endpoint)
        _check(place.port != 0)
    except ValueError as error:
        raise ValueError(BAD_BROWSER) from error
    return place


def _is_on_curve(point: bytes) -> bool:
    from cryptography.hazmat.primitives.asymmetric.ec import SECP256R1, EllipticCurvePublicKey

    try:
        EllipticCurvePublicKey.from_encoded_point(SECP256R1(), point)
    except ValueError:
        return False
    return True


def _check(is_well: bool) -> None:
    if not is_well:
        raise ValueError(BAD_BROWSER)
