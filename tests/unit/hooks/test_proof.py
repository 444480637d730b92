"""Who may: the examples that senders document, and everything that is a little off."""

from __future__ import annotations

import base64
import hmac
from datetime import UTC, datetime, timedelta
from typing import Any, Final

import pytest
from hypothesis import given
from hypothesis import strategies as st
from multidict import CIMultiDict

from adapters.webhook.proof import Proven, proven
from adapters.webhook.settings import SIGNATURE_HEADER, Proof

NOON: Final = datetime(2026, 8, 1, 12, tzinfo=UTC)
STAMP: Final = str(int(NOON.timestamp()))
SECRET: Final = "It's a Secret to Everybody"
BODY: Final = b"Hello, World!"
TOKEN: Final = Proof("token", SECRET)
GITHUB: Final = Proof("hmac", SECRET, header=SIGNATURE_HEADER)
TIMED: Final = Proof("hmac", SECRET, "X-Signature", "v1=", "{timestamp}.{body}", "X-Timestamp")
OLD: Final = "1531420618"
"""The moment of Slack's example."""
SLACK_BODY: Final = (
    b"token=xyzz0WbapA4vBCDEFasx0q6G&team_id=T1DC2JH3J&team_domain=testteamnow&channel_id=G8PSS9T3V&channel_name=foobar"
    b"&user_id=U2CERLKJA&user_name=roadrunner&command=%2Fwebhook-collect&text=&response_url=https%3A%2F%2Fhooks.slack.com"
    b"%2Fcommands%2FT1DC2JH3J%2F397700885554%2F96rGlfmibIGlgcZRskXaIFfN"
    b"&trigger_id=398738663015.47445629121.803a0bc887a14d10d2c447fce8b6703c"
)


def shown(proof: Proof, body: bytes = BODY, *, now: datetime = NOON, **headers: str) -> Proven:
    return proven(proof, CIMultiDict({name.replace("_", "-"): value for name, value in headers.items()}), body, now)


def signed(content: bytes, secret: str = SECRET) -> str:
    return hmac.digest(secret.encode(), content, "sha256").hex()


# ---------------------------------------------------------------------------------------------------- what they document


def test_githubs_example_is_proven() -> None:
    signature = "sha256=757107ea0eb2509fc211221cce984b8a37570b6d7586c22c46f4379c8b043e17"
    assert shown(GITHUB, X_Hub_Signature_256=signature) is Proven.YES
    assert shown(GITHUB, BODY + b" ", X_Hub_Signature_256=signature) is Proven.NO


def test_slacks_example_is_proven_at_its_time_and_late_today() -> None:
    proof = Proof(
        "hmac",
        "8f742231b10e8888abcd99yyyzzz85a5",
        "X-Slack-Signature",
        "v0=",
        "v0:{timestamp}:{body}",
        "X-Slack-Request-Timestamp",
    )
    headers: dict[str, Any] = {
        "X_Slack_Signature": "v0=a2114d57b48eac39b9ad189dd8316235a7b4a8d21a10bd27519666489c69b503",
        "X_Slack_Request_Timestamp": OLD,
    }
    then = datetime.fromtimestamp(int(OLD), UTC)
    assert shown(proof, SLACK_BODY, now=then, **headers) is Proven.YES
    assert shown(proof, SLACK_BODY, **headers) is Proven.LATE


def test_the_example_of_standard_webhooks_is_proven() -> None:
    proof = Proof(
        "hmac",
        "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw",
        "webhook-signature",
        "v1,",
        "{id}.{timestamp}.{body}",
        "webhook-timestamp",
        "webhook-id",
    )
    headers: dict[str, Any] = {
        "webhook_id": "msg_p5jXN8AQM9LWM0D4loKWxJek",
        "webhook_timestamp": "1614265330",
        "webhook_signature": "v1,bm90LXRoaXM= v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE= v2,other",
    }
    then = datetime.fromtimestamp(1614265330, UTC)
    assert shown(proof, b'{"test": 2432232314}', now=then, **headers) is Proven.YES
    other: dict[str, Any] = {**headers, "webhook_id": "msg_another"}
    assert shown(proof, b'{"test": 2432232314}', now=then, **other) is Proven.NO


def test_a_header_with_time_and_signatures_as_stripe_writes_it() -> None:
    proof = Proof("hmac", "whsec_taken_as_it_is", "Stripe-Signature", "v1=", "{timestamp}.{body}", "Stripe-Signature")
    right = signed(STAMP.encode() + b"." + BODY, "whsec_taken_as_it_is")
    assert shown(proof, Stripe_Signature=f"t={STAMP},v1={'0' * 64},v1={right},v0=old") is Proven.YES
    assert shown(proof, Stripe_Signature=f"t={STAMP},v0={right}") is Proven.NO
    assert shown(proof, Stripe_Signature=f"v1={right}") is Proven.NO


def test_base64_without_a_prefix_as_shopify_writes_it() -> None:
    proof = Proof("hmac", SECRET, "X-Shopify-Hmac-Sha256", "")
    right = base64.b64encode(hmac.digest(SECRET.encode(), BODY, "sha256")).decode()
    assert shown(proof, X_Shopify_Hmac_Sha256=right) is Proven.YES
    assert shown(proof, X_Shopify_Hmac_Sha256=right[:-2] + "A=") is Proven.NO


# ------------------------------------------------------------------------------------------------------------- a token


@pytest.mark.parametrize(
    "headers",
    [{"X_Signalbox_Token": SECRET}, {"Authorization": f"Bearer {SECRET}"}, {"Authorization": f"bearer  {SECRET}"}],
)
def test_a_token_is_shown_in_its_header_or_as_bearer(headers: dict[str, Any]) -> None:
    assert shown(TOKEN, **headers) is Proven.YES


@pytest.mark.parametrize(
    "headers",
    [
        {},
        {"X_Signalbox_Token": ""},
        {"X_Signalbox_Token": SECRET[:-1]},
        {"X_Signalbox_Token": SECRET + "x"},
        {"X_Signalbox_Token": "wrong", "Authorization": f"Bearer {SECRET}"},
        {"Authorization": SECRET},
        {"Authorization": "Bearer"},
        {"Authorization": f"Basic {SECRET}"},
        {"X_Signalbox_Token": "\udcff\udcfe"},
        {"X_Hub_Signature_256": f"sha256={signed(BODY)}"},
    ],
)
def test_anything_else_is_no_token(headers: dict[str, Any]) -> None:
    assert shown(TOKEN, **headers) is Proven.NO


# -------------------------------------------------------------------------------------------------------- a signature


@pytest.mark.parametrize(
    "value",
    [
        "",
        "sha256=",
        "sha256= ",
        signed(BODY),
        f"sha1={signed(BODY)}",
        f"sha256={signed(BODY)[:-1]}",
        f"sha256={signed(BODY)}00",
        f"sha256={signed(BODY, 'another secret')}",
        "sha256=\udcff",
        SECRET,
    ],
)
def test_a_signature_that_is_a_little_off_is_none(value: str) -> None:
    assert shown(GITHUB, X_Hub_Signature_256=value) is Proven.NO


def test_a_token_is_no_signature() -> None:
    assert shown(GITHUB, X_Signalbox_Token=SECRET, Authorization=f"Bearer {SECRET}") is Proven.NO


@pytest.mark.parametrize(
    ("away", "outcome"),
    [
        (timedelta(), Proven.YES),
        (timedelta(minutes=5), Proven.YES),
        (timedelta(minutes=-5), Proven.YES),
        (timedelta(minutes=5, seconds=1), Proven.LATE),
        (timedelta(minutes=-5, seconds=-1), Proven.LATE),
    ],
)
def test_a_signed_time_may_be_five_minutes_away(away: timedelta, outcome: Proven) -> None:
    signature = f"v1={signed(STAMP.encode() + b'.' + BODY)}"
    assert shown(TIMED, now=NOON + away, X_Signature=signature, X_Timestamp=STAMP) is outcome


@pytest.mark.parametrize("stamp", ["", "soon", "-1", "1" * 12, f"{STAMP}.5", f"{STAMP}x", "٣", f"{int(STAMP) + 1}"])
def test_a_time_that_is_none_or_was_not_signed_proves_nothing(stamp: str) -> None:
    signature = f"v1={signed(STAMP.encode() + b'.' + BODY)}"
    assert shown(TIMED, X_Signature=signature, X_Timestamp=stamp) is Proven.NO


@given(st.binary(max_size=200), st.text(st.characters(min_codepoint=33, max_codepoint=126), min_size=16, max_size=60))
def test_whoever_has_the_secret_can_prove_it_and_another_cannot(body: bytes, secret: str) -> None:
    proof = Proof("hmac", secret, header=SIGNATURE_HEADER)
    assert shown(proof, body, X_Hub_Signature_256=f"sha256={signed(body, secret)}") is Proven.YES
    assert shown(proof, body, X_Hub_Signature_256=f"sha256={signed(body, secret + 'x')}") is Proven.NO


def test_no_secret_in_a_repr() -> None:
    assert SECRET not in repr(GITHUB)
