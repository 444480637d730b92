"""What nodes tell each other, as texts."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from runtime.store.sql.envelopes import EVERYTHING, NOTICE_MAX_BYTES, Outgoing, opened, sealed


def topics_of(texts: list[str]) -> list[str]:
    return [topic for text in texts for topic in opened(text)[1]]


@given(st.lists(st.text(max_size=300), max_size=200))
def test_what_is_sealed_is_opened_and_every_text_fits(topics: list[str]) -> None:
    texts = sealed("n1", topics)
    assert topics_of(texts) == topics
    assert {opened(text)[0] for text in texts} == {"n1"}
    assert all(len(text.encode()) <= NOTICE_MAX_BYTES for text in texts)


def test_it_takes_no_more_texts_than_it_must() -> None:
    assert len(sealed("n1", [f"room:web:main/{number:026}" for number in range(180)])) == 1
    assert len(sealed("n1", ["x" * (NOTICE_MAX_BYTES // 2)] * 4)) == 4


def test_a_topic_that_never_fits_stands_for_everything() -> None:
    assert topics_of(sealed("n1", ["a", "x" * NOTICE_MAX_BYTES, "b"])) == ["a", EVERYTHING, "b"]


def test_without_topics_there_is_one_text_that_rings_nothing() -> None:
    (text,) = sealed("n1")
    assert opened(text) == ("n1", [])


@pytest.mark.parametrize("text", ["", "hello", "[]", "{}", '{"from": 1, "topics": []}', '{"from": "a", "topics": [1]}'])
def test_a_text_of_somebody_else_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"."):
        opened(text)


def test_a_topic_waits_once_and_in_its_order() -> None:
    outgoing = Outgoing()
    for topic in ("b", "a", "b"):
        outgoing.add(topic)
    assert outgoing.take() == ["b", "a"]
    assert not outgoing


def test_too_many_topics_are_one_word_for_everything() -> None:
    outgoing = Outgoing(most=3)
    outgoing.add("a", "b", "c")
    outgoing.add("d")
    outgoing.add("e")
    assert outgoing.take() == [EVERYTHING]
    outgoing.add("f")
    assert outgoing.take() == ["f"]


def test_the_envelope_is_plain_ascii() -> None:
    (text,) = sealed("n1", ["room:fake:böse/😀"])
    assert text.isascii()
    assert json.loads(text)["topics"] == ["room:fake:böse/😀"]
