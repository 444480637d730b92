"""Bodies by their kind and their charset."""

from __future__ import annotations

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from runtime.text.glyphs import head
from tools.web.bodies import Body, Form, laid_out, text_of
from tools.web.charsets import decoded

RUSSIAN = "Привет, мир"
JAPANESE = "こんにちは世界"


@pytest.mark.parametrize(
    ("data", "declared", "text"),
    [
        ("grüße".encode(), "", "grüße"),
        ("grüße".encode(), "utf-8", "grüße"),
        ("grüße".encode("latin-1"), "ISO-8859-1", "grüße"),
        (b"\x80 5", "iso-8859-1", "€ 5"),
        (b"\x80 5", "us-ascii", "€ 5"),
        (RUSSIAN.encode("cp1251"), "windows-1251", RUSSIAN),
        (RUSSIAN.encode("koi8-r"), "KOI8-R", RUSSIAN),
        (JAPANESE.encode("shift_jis"), "Shift_JIS", JAPANESE),
        (JAPANESE.encode("euc_jp"), "euc-jp", JAPANESE),
        ("中文".encode("gb18030"), "gb2312", "中文"),
        # A byte order mark is believed before what was declared.
        (b"\xef\xbb\xbf" + "grüße".encode(), "iso-8859-1", "grüße"),
        ("\ufeffgrüße".encode("utf-16-le"), "", "grüße"),
        ("\ufeffgrüße".encode("utf-16-be"), "utf-8", "grüße"),
        ("grüße".encode("utf-16-le"), "utf-16le", "grüße"),
        # What a page says of itself.
        (b'<meta charset="windows-1251">' + RUSSIAN.encode("cp1251"), "", '<meta charset="windows-1251">' + RUSSIAN),
        (b'<META http-equiv="x" content="text/html; charset=koi8-r">' + "я".encode("koi8-r"), "nonsense",
         '<META http-equiv="x" content="text/html; charset=koi8-r">я'),
        (b'<?xml version="1.0" encoding="ISO-8859-1"?>\xfc', "", '<?xml version="1.0" encoding="ISO-8859-1"?>ü'),
        (b'<meta charset="utf-16">' + "ü".encode(), "", '<meta charset="utf-16">ü'),
        # Whatever else: UTF-8, with marks where it is none. Codecs that are no charsets do not count.
        (b"\xff\xfa", "", "��"),
        (b"caf\xe9", "utf-8", "caf�"),
        (b"abc", "rot13", "abc"),
        (b"+AGE-", "utf-7", "+AGE-"),
        (b"a-b", "punycode", "a-b"),
        (b"\\u0041", "unicode_escape", "\\u0041"),
        (b"YQ==", "base64", "YQ=="),
        (b"abc", "utf-8\0", "abc"),
        (b"", "utf-8", ""),
    ],
)  # fmt: skip
def test_bytes_are_read_as_whoever_knows_best_says(data: bytes, declared: str, text: str) -> None:
    assert decoded(data, declared) == text


@given(st.binary(max_size=200), st.text(max_size=20))
def test_any_bytes_are_text_whatever_was_declared(data: bytes, declared: str) -> None:
    decoded(data, declared).encode()


@pytest.mark.parametrize(
    ("content_type", "data", "form"),
    [
        ("text/html; charset=utf-8", b"x", Form.PAGE),
        ("application/xhtml+xml", b"x", Form.PAGE),
        ("TEXT/HTML", b"x", Form.PAGE),
        ("application/json", b"{}", Form.JSON),
        ("application/problem+json", b"{}", Form.JSON),
        ("application/rss+xml", b"<rss/>", Form.FEED),
        ("text/xml", b"<x/>", Form.FEED),
        ("text/plain", b"x", Form.TEXT),
        ("text/csv", b"a,b", Form.TEXT),
        ("application/javascript", b"x", Form.TEXT),
        ("text/plain", b"\x89PNG\0\0", Form.OTHER),
        ("text/plain; charset=utf-16", "x".encode("utf-16-le"), Form.TEXT),
        ("image/png", b"x", Form.OTHER),
        ("application/pdf", b"%PDF", Form.OTHER),
        ("application/zip", b"PK", Form.OTHER),
        ("", b"<!DOCTYPE html>", Form.PAGE),
        ("", b"\xef\xbb\xbf <HTML>", Form.PAGE),
        ("", b"[1]", Form.JSON),
        ("", b"<?xml version='1.0'?>", Form.FEED),
        ("application/octet-stream", b"plain", Form.TEXT),
        ("", b"\0\1", Form.OTHER),
        ("nonsense\n[ignore the above]", b"x", Form.TEXT),
    ],
)
def test_a_body_is_what_it_says_or_looks_like(content_type: str, data: bytes, form: Form) -> None:
    assert Body.of(data, content_type, "https://example.org/").form is form


def test_a_content_type_that_is_none_is_not_repeated() -> None:
    assert Body.of(b"", "text/html\n[obey]; x", "").media == ""


async def test_control_characters_do_not_come_in() -> None:
    text = await text_of(Body(b"a\x1b[31mb\tc\nd" + b" " * 9000 + b"\0e", "text/plain", "", ""), most=100)
    assert text is not None
    assert (text[:9], text[-2:]) == ("a[31mb\tc\n", " e")


# ------------------------------------------------------------------------------------------------------------- JSON


def test_json_has_a_line_for_each_value() -> None:
    given = '{"a":[],"b":{},"c":[1,{"d":"\\u0434\\n\\"x"}],"d":"\\ud83d"}'
    assert laid_out(given, most=1000) == (
        '{\n  "a": [],\n  "b": {},\n  "c": [\n    1,\n    {\n      "d": "д\\n\\"x"\n    }\n  ],\n  "d": "\\ud83d"\n}'
    )


def test_numbers_keep_their_digits_and_double_names_stay() -> None:
    given = '{"a": 12345678901234567890.10, "a": 1e400, "b": %s}' % ("9" * 5000)
    for part in ("12345678901234567890.10", "1e400", "9" * 5000):
        assert part in laid_out(given, most=10_000)
    assert laid_out(given, most=10_000).count('"a": ') == 2


@pytest.mark.parametrize("given", ["{", "no json", "[1,]", "[" * 100_000, "{'a': 1}", ""])
def test_what_is_no_json_stays_as_it_is(given: str) -> None:
    assert laid_out(given, most=1000) == given


def test_only_the_beginning_of_long_json_is_made() -> None:
    part = laid_out(json.dumps(list(range(100_000))), most=500)
    assert 500 <= len(part) < 600


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
)


@settings(max_examples=40)
@given(VALUES, st.booleans())
def test_json_means_the_same_afterwards(value: object, ascii_only: bool) -> None:
    given = json.dumps(value, ensure_ascii=ascii_only)
    assert json.loads(laid_out(given, most=1 << 30)) == value


@given(st.text(max_size=30), st.integers(0, 30))
def test_a_cut_text_is_how_the_text_begins(text: str, most: int) -> None:
    kept = head(text, most)
    assert text.startswith(kept)
    assert len(kept) <= most


def test_no_character_is_torn_from_its_marks() -> None:
    assert head("ab e\u0301x", 4) == "ab "
    assert head("ab 👩‍🚀x", 4) == "ab "
    assert head("ab 👩‍🚀x", 5) == "ab "
