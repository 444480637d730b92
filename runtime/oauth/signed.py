"""Signed tokens of an issuer (JWT): checked against its published keys, with a reason for each refusal."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from jwt import PyJWK

ALGORITHMS: Final = ("RS256", "ES256")
"""Asymmetric ones alone: with a shared secret, or without any, whoever knows the public key could sign."""
CLOCK_SKEW: Final = timedelta(seconds=60)
"""Two clocks may be that far apart."""
TOKEN_MAX_CHARS: Final = 16_384
KEYS_MAX: Final = 100
"""Keys of one issuer that are read."""
LEAST_RSA_BITS: Final = 2048
"""Source: RFC 7518, section 3.3."""


class SignedRefused(Exception):
    """A token that isn't good. `code` is for records, the text is a clause that follows "This token"."""

    def __init__(self, code: str, words: str) -> None:
        super().__init__(words)
        self.code = code


class UnknownKey(SignedRefused):
    """No key of the issuer has the token's id: the keys may have changed since they were read."""


@dataclass(frozen=True, slots=True)
class SignedTerms:
    """The issuer that must have signed, and whom for. `nonce`: what an ID token must repeat."""

    issuer: str
    audience: str
    nonce: str | None = None
    client_id: str = ""
    """As the one that asked: an ID token for several audiences must name it (`azp`)."""


def looks_signed(token: str) -> bool:
    """True for what has the form of a JWT, good or not.

    >>> looks_signed("sbx_abc"), looks_signed("eyJhbGciOiJub25lIn0.e30.")
    (False, True)
    """
    return token.count(".") == 2 and token.startswith("ey")


def keys_of(told: Mapping[str, Any]) -> list[PyJWK]:
    """Keys of a JWKS that may check signatures: no secrets, none for other uses, no short ones."""
    from jwt import PyJWK
    from jwt.exceptions import PyJWTError

    kept = []
    rows = told.get("keys")
    for row in rows[:KEYS_MAX] if isinstance(rows, list) else ():
        if not isinstance(row, dict) or row.get("kty") not in ("RSA", "EC") or row.get("use", "sig") != "sig":
            continue
        if row.get("alg", _algorithm(row)) != _algorithm(row):
            continue
        try:
            key = PyJWK.from_dict(row, algorithm=_algorithm(row))
        except (PyJWTError, ValueError, TypeError):
            continue
        if getattr(key.key, "key_size", 0) >= (LEAST_RSA_BITS if row["kty"] == "RSA" else 256):
            kept.append(key)
    return kept


def _algorithm(row: Mapping[str, Any]) -> str:
    """The one that its kind is for, whatever a token says."""
    return "RS256" if row["kty"] == "RSA" else "ES256"


def checked(token: str, keys: Sequence[PyJWK], terms: SignedTerms, now: datetime) -> dict[str, Any]:
    """The words of a token, once its signature, its issuer, its audience and its times hold. Errors: SignedRefused."""
    told = _verified(token, keys)
    _check_issuer(told, terms)
    _check_times(told, now.timestamp())
    return told


def _verified(token: str, keys: Sequence[PyJWK]) -> dict[str, Any]:
    import jwt

    if len(token) > TOKEN_MAX_CHARS:
        raise SignedRefused("form", "is too long")
    try:
        header = jwt.get_unverified_header(token)
    except (jwt.InvalidTokenError, ValueError, RecursionError):
        raise SignedRefused("form", "can't be read") from None
    algorithm = header.get("alg")
    if algorithm not in ALGORITHMS:
        shown = str(algorithm)[:20]
        raise SignedRefused("alg", f"is signed with {shown!r}; only {' and '.join(ALGORITHMS)} are accepted")
    if "crit" in header:
        raise SignedRefused("crit", "has extensions that must be understood, and aren't here")
    key = _key(keys, header.get("kid"), algorithm)
    try:
        told = jwt.PyJWS().decode(token, key=key.key, algorithms=[algorithm])
        told = json.loads(told)
    except (jwt.InvalidTokenError, ValueError, RecursionError):
        raise SignedRefused("signature", "has a wrong signature") from None
    return told if isinstance(told, dict) else {}


def _key(keys: Sequence[PyJWK], kid: object, algorithm: str) -> PyJWK:
    fitting = [key for key in keys if key.algorithm_name == algorithm]
    if kid is None and len(fitting) == 1:
        return fitting[0]
    found = [key for key in fitting if kid is not None and key.key_id == kid]
    if len(found) != 1:
        raise UnknownKey("key", "is signed with a key that its issuer doesn't publish")
    return found[0]


def _check_issuer(told: Mapping[str, Any], terms: SignedTerms) -> None:
    if told.get("iss") != terms.issuer:
        raise SignedRefused("iss", "is of another issuer")
    given = told.get("aud")
    audiences = given if isinstance(given, list) else [given]
    if not terms.audience or terms.audience not in audiences:
        raise SignedRefused("aud", "is for another audience")
    if terms.client_id and (len(audiences) > 1 or "azp" in told) and told.get("azp") != terms.client_id:
        raise SignedRefused("azp", "was given to another client")
    if terms.nonce is not None and told.get("nonce") != terms.nonce:
        raise SignedRefused("nonce", "belongs to another sign-in")


def _check_times(told: Mapping[str, Any], now: float) -> None:
    skew = CLOCK_SKEW.total_seconds()
    if _time(told, "exp") + skew <= now:
        raise SignedRefused("exp", "has ended")
    if "nbf" in told and _time(told, "nbf") - skew > now:
        raise SignedRefused("nbf", "isn't valid yet")
    if _time(told, "iat") - skew > now:
        raise SignedRefused("iat", "was made in the future; a clock is wrong")


def _time(told: Mapping[str, Any], name: str) -> float:
    value = told.get(name)
    if isinstance(value, bool) or not isinstance(value, int | float) or not abs(value) < 1e12:
        raise SignedRefused(name, f"has no usable {name}")
    return float(value)
