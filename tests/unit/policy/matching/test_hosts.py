"""Hosts of URLs: what programs may read differently is never allowed, and always asked about or denied."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from runtime.policy.matching.hosts import EXPECTED, Host, host_of

EXAMPLE = Host(("example.org", "*.example.org"))


@pytest.mark.parametrize(
    ("url", "host"),
    [
        ("https://example.org", "example.org"),
        ("HTTPS://EXAMPLE.ORG:8443/x?y#z", "example.org"),
        ("https://example.org./", "example.org"),
        ("http://api.example.org/a@b", "*.example.org"),
        ("wss://a.b.example.org:/", "*.example.org"),
        ("https://bücher.example/", "bücher.example"),
        ("https://xn--bcher-kva.example/", "BÜCHER.example"),
        ("https://127.0.0.1:80/", "127.0.0.1"),
        ("https://[::1]:80/", "[0:0::1]"),
        ("https://[::ffff:127.0.0.1]/", "127.0.0.1"),
    ],
)
def test_a_plain_url_is_surely_of_its_host(url: str, host: str) -> None:
    matcher = Host((host_of(host),))
    assert matcher.surely(url)
    assert matcher.perhaps(url)


@pytest.mark.parametrize(
    "url",
    [
        "https://evil.test/example.org",
        "https://example.org.evil.test/",
        "https://evilexample.org/",
        "https://evil.test/?x=https://example.org",
        "https://evil.test#example.org",
        "ftp.evil.test",
        "https://127.0.0.1/",
    ],
)
def test_a_url_of_another_host_is_not_of_this_one(url: str) -> None:
    assert not EXAMPLE.surely(url)
    assert not EXAMPLE.perhaps(url)


HOSTILE = [
    "https://example.org@evil.test/",
    "https://example.org:80@evil.test/",
    "https://user:pw@example.org/",
    "https://evil.test\\@example.org/",
    "https://evil.test\\.example.org/",
    "https://example.org\\@evil.test/",
    "https:/\\example.org/",
    "https:example.org/",
    "//example.org/",
    "\\\\example.org\\share",
    " https://example.org/",
    "https://exam\tple.org/",
    "https://example.org\n/",
    "https://exa%6dple.org/",
    "https://exa%256dple.org/",
    "https://\uff45xample.org/",
    "https://example\u3002org/",
    "https://example\u200b.org/",
    "https://example.org%2f@evil.test/",
    "https://evil.test%2f@example.org/",
    "example.org",
    "example.org:443/x",
    "ftp://example.org/",
    "javascript://example.org/%0aalert(1)",
]


@pytest.mark.parametrize("url", HOSTILE)
def test_a_url_that_is_read_in_several_ways_is_not_allowed_but_may_be_denied(url: str) -> None:
    assert not EXAMPLE.surely(url)
    assert EXAMPLE.perhaps(url)


@pytest.mark.parametrize(
    "url",
    [
        "http://2130706433/",
        "http://0x7f.1/",
        "http://0177.0.0.1/",
        "http://127.1:80/",
        "http://[::ffff:7f00:1]/",
        "http://127.0.0.1./",
    ],
)
def test_an_address_is_denied_however_it_is_written(url: str) -> None:
    assert Host((host_of("127.0.0.1"),)).perhaps(url)


def test_the_older_form_of_a_name_is_denied_too() -> None:
    assert Host((host_of("strasse.example"),)).perhaps("https://straße.example/")
    assert Host((host_of("straße.example"),)).perhaps("https://straße.example/")


def test_hosts_below_are_meant_without_the_one_above() -> None:
    below = Host(("*.example.org",))
    assert below.surely("https://a.example.org")
    assert not below.perhaps("https://example.org")


@pytest.mark.parametrize(
    ("value", "surely", "perhaps"),
    [
        (None, False, False),
        (3, False, True),
        ("", False, True),
        ("https://", False, True),
        ({"url": "https://example.org"}, False, True),
        (["https://example.org", "https://a.example.org"], True, True),
        (["https://example.org", "https://evil.test"], False, True),
        ([], False, False),
    ],
)
def test_what_it_cannot_tell_is_no_reason_to_allow_and_one_to_ask(value: object, surely: bool, perhaps: bool) -> None:
    assert (EXAMPLE.surely(value), EXAMPLE.perhaps(value)) == (surely, perhaps)


@given(st.text(alphabet="htps:/\\@.%2fexamplorg[]1x#? \t:é\u3002", max_size=40))
def test_whatever_is_surely_so_is_perhaps_so_too(url: str) -> None:
    for text in (url, f"https://{url}", f"https://example.org{url}"):
        assert not EXAMPLE.surely(text) or EXAMPLE.perhaps(text)


@pytest.mark.parametrize(
    "host",
    [
        "",
        "https://example.org",
        "example.org/x",
        "example.org:443",
        "a b",
        "*",
        "*.",
        "a.*.org",
        "*.127.0.0.1",
        "user@example.org",
        "-a.org",
        "..",
        "1.2",
        "a" * 300,
    ],
)
def test_what_is_no_host_is_told_with_what_is_expected(host: str) -> None:
    with pytest.raises(ValueError, match=re.escape(EXPECTED)):
        host_of(host)
