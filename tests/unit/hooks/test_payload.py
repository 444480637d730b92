"""What a sender's body says, whatever it is."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adapters.webhook.payload import EMPTY_PAYLOAD, FORM, JSON, Payload, Unknown, Unreadable, payload_of

PUSH = {"repository": {"full_name": "a/b"}, "commits": [{"message": "one"}, {"message": "two"}], "size": 0, "by": None}


def told(kind: str, body: str | bytes, *fields: str, charset: str | None = None) -> Payload:
    return payload_of(kind, charset, body.encode() if isinstance(body, str) else body, fields)


@pytest.mark.parametrize("kind", [JSON, "application/vnd.api+json", "application/cloudevents+json"])
def test_json_is_set_in_lines(kind: str) -> None:
    assert told(kind, '{"a":[1,"ü"]}') == Payload('{\n  "a": [\n    1,\n    "ü"\n  ]\n}', "json", "json")


@given(st.recursive(st.none() | st.booleans() | st.integers() | st.text(), lambda deeper: st.lists(deeper, max_size=3)))
def test_nothing_of_json_is_lost(value: Any) -> None:
    assert json.loads(told(JSON, json.dumps(value)).words) == value


def test_a_form_is_told_as_its_fields() -> None:
    assert json.loads(told(FORM, "name=Ada+L.&tag=a&tag=b&empty=").words) == {
        "name": "Ada L.",
        "tag": ["a", "b"],
        "empty": "",
    }


def test_json_in_the_field_payload_of_a_form_is_json() -> None:
    assert json.loads(told(FORM, "payload=%7B%22a%22%3A1%7D").words) == {"a": 1}
    assert json.loads(told(FORM, "payload=plain").words) == {"payload": "plain"}


@pytest.mark.parametrize("kind", ["text/plain", "text/markdown", "application/xml", "application/atom+xml"])
def test_text_is_told_as_it_is(kind: str) -> None:
    assert told(kind, "\r\n  disk full\n") == Payload("  disk full")


def test_other_characters_than_utf8_are_read_as_they_are_declared() -> None:
    assert told("text/plain", "früh".encode("latin-1"), charset="latin-1").words == "früh"
    assert told(JSON, b'\xef\xbb\xbf{"a": 1}').words == '{\n  "a": 1\n}', "with a byte order mark"


@pytest.mark.parametrize("kind", [JSON, FORM, "text/plain", "application/octet-stream"])
def test_no_body_is_no_payload(kind: str) -> None:
    assert told(kind, b"") == EMPTY_PAYLOAD


def test_only_the_fields_that_are_named_are_told() -> None:
    picked = json.loads(told(JSON, json.dumps(PUSH), "repository.full_name", "commits[1].message", "by", "size").words)
    assert picked == {"repository.full_name": "a/b", "commits[1].message": "two", "by": None, "size": 0}


@pytest.mark.parametrize(
    "place", ["nobody", "repository.nobody", "commits[2].message", "commits.x", "size.x", "commits[-1]"]
)
def test_a_field_that_is_not_there_is_left_out(place: str) -> None:
    assert told(JSON, json.dumps(PUSH), place).words == "{}"


# ------------------------------------------------------------------------------------------------------ what is refused


@pytest.mark.parametrize(
    ("body", "where"),
    [
        ("{", "line 1, column 2"),
        ('{\n  "a": 1,\n}', "line 2|line 3"),
        ("nonsense", "line 1, column 1"),
        ("{} {}", "line 1, column 4"),
        ("[" * 100_000, "nested too deep"),
        ("9" * 5_000, "digits"),
        (b'{"a": "\xff"}', "byte 8 can't be read"),
    ],
)
def test_what_is_no_json_is_told_with_its_place(body: str | bytes, where: str) -> None:
    with pytest.raises(Unreadable, match=where):
        told(JSON, body)


@pytest.mark.parametrize("body", ["a=%FF", "&".join(f"f{n}=1" for n in range(1_001))])
def test_a_form_that_cannot_be_read_is_refused(body: str) -> None:
    with pytest.raises(Unreadable, match="form"):
        told(FORM, body)


@pytest.mark.parametrize("kind", ["application/octet-stream", "image/png", "multipart/form-data", "x/" + "y" * 500])
def test_other_types_are_refused_with_those_that_are_taken(kind: str) -> None:
    with pytest.raises(Unknown, match=r"Send application/json, application/x-www-form-urlencoded or text\.$") as caught:
        told(kind, b"x")
    assert len(str(caught.value)) < 200


@pytest.mark.parametrize("charset", ["klingon", "base64", "hex", "\0"])
def test_a_charset_that_makes_no_text_is_refused(charset: str) -> None:
    with pytest.raises(Unknown, match="utf-8"):
        told("text/plain", b"x", charset=charset)
