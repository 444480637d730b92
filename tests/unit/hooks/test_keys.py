"""What is the same delivery again, and what is news."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any, Final

import pytest
from hypothesis import given
from hypothesis import strategies as st
from multidict import CIMultiDict

from adapters.webhook.keys import Keys, NoId, keys_of
from adapters.webhook.settings import Hook, Proof

NOON: Final = datetime(2026, 8, 1, 12, tzinfo=UTC)
WINDOW: Final = timedelta(minutes=5)
PLAIN: Final = Hook("deploys", "web:main/ops001", Proof("token", "s" * 16))
TIMED: Final = replace(PLAIN, proof=Proof("hmac", "s" * 16, "S", "", "{timestamp}.{body}", "T"))
moments = st.datetimes(datetime(2020, 1, 1), datetime(2040, 1, 1), timezones=st.just(UTC))  # noqa: DTZ001 - made aware


def keys(hook: Hook = PLAIN, body: bytes = b"{}", at: datetime = NOON, **headers: str) -> Keys:
    return keys_of(hook, CIMultiDict({name.replace("_", "-"): value for name, value in headers.items()}), body, at)


def same(one: Keys, other: Keys) -> bool:
    """As the store decides it."""
    earlier = one.dedupe in (other.dedupe, other.earlier)
    return earlier or (one.natural is not None and one.natural == other.natural)


@pytest.mark.parametrize("header", ["Idempotency_Key", "X_GitHub_Delivery", "webhook_id", "X_Gitlab_Event_UUID"])
def test_the_usual_ids_are_known(header: str) -> None:
    ident: dict[str, Any] = {header: "72d3162e-cc78-11e3"}
    other: dict[str, Any] = {header: "72d3162e-cc78-11e4"}
    assert keys(**ident) == Keys("id:72d3162e-cc78-11e3")
    assert same(keys(body=b"1", **ident), keys(body=b"2", at=NOON + timedelta(days=9), **ident))
    assert not same(keys(**ident), keys(**other))


def test_a_header_that_is_agreed_upon_goes_before_the_usual_and_is_demanded() -> None:
    hook = replace(PLAIN, dedupe_header="X-Order")
    assert keys(hook, X_Order="7", X_GitHub_Delivery="8").dedupe == "id:7"
    without: list[dict[str, Any]] = [{}, {"X_Order": ""}, {"X_GitHub_Delivery": "8"}]
    for headers in without:
        with pytest.raises(NoId, match="X-Order"):
            keys(hook, **headers)


@pytest.mark.parametrize("ident", ["x" * 10_000, "\udcff", "naïve", "a\tb"])
def test_an_id_that_nobody_wants_in_a_table_is_hashed(ident: str) -> None:
    found = keys(Idempotency_Key=ident).dedupe
    assert len(found) == len("id:") + 64
    assert found == keys(Idempotency_Key=ident).dedupe


@pytest.mark.parametrize("hook", [PLAIN, TIMED], ids=["token", "signed anew"])
@given(at=moments, later=st.timedeltas(timedelta(), timedelta(hours=1)))
def test_without_an_id_the_same_words_are_one_event_for_the_window_and_two_after_twice_that(
    hook: Hook, at: datetime, later: timedelta
) -> None:
    one, other = keys(hook, at=at, T="1"), keys(hook, at=at + later, T="2")
    if later < WINDOW:
        assert same(one, other)
    if later >= 2 * WINDOW:
        assert not same(one, other)
    assert not same(one, keys(hook, body=b"[]", at=at + later, T="3"))


def test_with_no_window_every_request_is_an_event() -> None:
    hook = replace(PLAIN, dedupe_within=timedelta())
    assert not same(keys(hook), keys(hook, at=NOON + timedelta(microseconds=1)))


def test_a_signature_over_a_time_counts_once_whatever_id_comes_with_it() -> None:
    one = keys(TIMED, T="1785585600", Idempotency_Key="1")
    assert same(one, keys(TIMED, T="1785585600", Idempotency_Key="2"))
    assert not same(one, keys(TIMED, T="1785585601", Idempotency_Key="2"))
    assert same(one, keys(TIMED, T="1785585601", Idempotency_Key="1")), "a repeat may be signed anew"


@pytest.mark.parametrize("before", [{}, {"Idempotency_Key": "1"}])
@pytest.mark.parametrize("after", [{}, {"Idempotency_Key": "2"}, {"webhook_id": "3"}])
@pytest.mark.parametrize("window", [timedelta(), WINDOW])
def test_a_signature_over_a_time_counts_once_with_an_id_or_without(
    before: dict[str, Any], after: dict[str, Any], window: timedelta
) -> None:
    hook = replace(TIMED, dedupe_within=window)
    caught = keys(hook, T="1785585600", **before)
    assert same(caught, keys(hook, T="1785585600", at=NOON + timedelta(minutes=9), **after))
