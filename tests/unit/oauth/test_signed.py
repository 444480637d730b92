"""Signed tokens: what `joserfc` signed is read, and every token that isn't good is refused with its reason."""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any, Final

import pytest
from joserfc import jwt
from joserfc.jwk import ECKey, OctKey, RSAKey

from runtime.oauth.signed import SignedRefused, SignedTerms, UnknownKey, checked, keys_of

NOW: Final = datetime(2026, 11, 26, 12, 0, tzinfo=UTC)
AT: Final = int(NOW.timestamp())
TERMS: Final = SignedTerms("https://id.example.com", "api")
RSA: Final = RSAKey.generate_key(2048, {"kid": "r"})
EC: Final = ECKey.generate_key("P-256", {"kid": "e"})
KEYS: Final = keys_of({"keys": [RSA.as_dict(private=False), EC.as_dict(private=False)]})
GOOD: Final = {"iss": "https://id.example.com", "aud": "api", "sub": "ada", "iat": AT, "exp": AT + 60}


def signed(claims: Mapping[str, Any], key: RSAKey | ECKey = RSA, **header: object) -> str:
    algorithm = "RS256" if isinstance(key, RSAKey) else "ES256"
    return jwt.encode({"alg": algorithm, "kid": key.kid, **header}, dict(claims), key)


def refused(token: str, terms: SignedTerms = TERMS) -> str:
    with pytest.raises(SignedRefused) as caught:
        checked(token, KEYS, terms, NOW)
    return caught.value.code


def encoded(told: object) -> str:
    return base64.urlsafe_b64encode(json.dumps(told).encode()).decode().rstrip("=")


@pytest.mark.parametrize("key", [RSA, EC], ids=["RS256", "ES256"])
def test_a_good_token_is_read(key: RSAKey | ECKey) -> None:
    assert checked(signed(GOOD, key), KEYS, TERMS, NOW)["sub"] == "ada"
    assert checked(signed({**GOOD, "aud": ["other", "api"]}, key), KEYS, TERMS, NOW)["aud"] == ["other", "api"]


@pytest.mark.parametrize(
    ("changed", "why"),
    [
        ({"iss": "https://id.example.com/"}, "iss"),
        ({"iss": None}, "iss"),
        ({"aud": "other"}, "aud"),
        ({"aud": ["API"]}, "aud"),
        ({"aud": None}, "aud"),
        ({"exp": AT - 61}, "exp"),
        ({"exp": None}, "exp"),
        ({"exp": "soon"}, "exp"),
        ({"exp": True}, "exp"),
        ({"exp": 1e300}, "exp"),
        ({"nbf": AT + 61}, "nbf"),
        ({"iat": AT + 61}, "iat"),
        ({"iat": None}, "iat"),
    ],
)
def test_a_token_of_others_or_of_another_time_is_refused(changed: dict[str, Any], why: str) -> None:
    assert refused(signed({**GOOD, **changed})) == why


@pytest.mark.parametrize("changed", [{"exp": AT - 59}, {"nbf": AT + 59}, {"iat": AT + 59}])
def test_a_clock_may_be_a_minute_off(changed: dict[str, Any]) -> None:
    assert checked(signed({**GOOD, **changed}), KEYS, TERMS, NOW)["sub"] == "ada"


def test_no_signature_and_a_shared_secret_are_refused() -> None:
    assert refused(f"{encoded({'alg': 'none'})}.{encoded(GOOD)}.") == "alg"
    assert refused(f"{encoded({'alg': 'NONE', 'kid': 'r'})}.{encoded(GOOD)}.") == "alg"
    # The public key, which everybody has, as the secret of an HMAC.
    head = f"{encoded({'alg': 'HS256', 'kid': 'r'})}.{encoded(GOOD)}"
    mac = hmac.new(RSA.as_pem(private=False), head.encode(), hashlib.sha256).digest()
    assert refused(f"{head}.{base64.urlsafe_b64encode(mac).decode().rstrip('=')}") == "alg"


def test_a_token_that_was_changed_is_refused() -> None:
    head, body, signature = signed(GOOD).split(".")
    assert refused(f"{head}.{encoded({**GOOD, 'sub': 'eve'})}.{signature}") == "signature"
    assert refused(f"{head}.{body}.") == "signature"
    assert refused(f"{encoded({'alg': 'ES256', 'kid': 'e'})}.{body}.{signature}") == "signature"
    assert refused(signed(GOOD, RSAKey.generate_key(2048, {"kid": "r"}))) == "signature"
    assert refused("ey.ey.ey") == "form"
    assert refused("ey" + "a" * 20_000 + "..") == "form"


def test_a_key_is_named_or_the_only_one_of_its_kind() -> None:
    with pytest.raises(UnknownKey):
        checked(signed(GOOD, kid="gone"), KEYS, TERMS, NOW)
    token = jwt.encode({"alg": "RS256"}, dict(GOOD), RSA)
    assert checked(token, KEYS, TERMS, NOW)["sub"] == "ada"
    with pytest.raises(UnknownKey):
        checked(token, [*KEYS, *KEYS], TERMS, NOW)
    # A key in the token's own head is nobody's.
    with pytest.raises(UnknownKey):
        checked(signed(GOOD, kid="x", jwk=RSA.as_dict(private=False)), KEYS, TERMS, NOW)


def test_an_id_token_belongs_to_one_sign_in_and_one_client() -> None:
    terms = SignedTerms("https://id.example.com", "page", nonce="n", client_id="page")
    mine = {**GOOD, "aud": "page", "nonce": "n"}
    assert checked(signed(mine), KEYS, terms, NOW)["nonce"] == "n"
    assert refused(signed({**mine, "nonce": "m"}), terms) == "nonce"
    assert refused(signed({**mine, "nonce": None}), terms) == "nonce"
    assert refused(signed({**mine, "azp": "other"}), terms) == "azp"
    assert refused(signed({**mine, "aud": ["page", "other"]}), terms) == "azp"


def test_keys_for_other_uses_are_left_out() -> None:
    secret = OctKey.generate_key(256, {"kid": "s"}).as_dict(private=True)
    short = {**RSA.as_dict(private=False), "kid": "short", "n": encoded("x" * 90)}
    for_encryption = {**RSA.as_dict(private=False), "use": "enc"}
    other = {**RSA.as_dict(private=False), "alg": "RS512"}
    rows: list[object] = [secret, short, for_encryption, other, {"kty": "RSA"}, "x", None]
    assert keys_of({"keys": rows}) == []
    assert keys_of({"keys": "none"}) == keys_of({}) == []
