"""Compared strictly: a value counts as named only if a person wrote it."""

from __future__ import annotations

import pytest

from runtime.policy.named import Named, host_of, hosts_in, is_plain_name

SAID = Named(
    (
        "Please send 1,200.50 to GB29NWBK60161331926819, and add john.doe@clientcorp.com to the 'Dental check-up'.",
        "Tell Alice and #general about www.example.org/page and the grocery list. Pay 98,70 or 2200",
    )
)


@pytest.mark.parametrize(
    ("value", "is_named"),
    [
        ("GB29NWBK60161331926819", True),
        ("gb29nwbk60161331926819", True),
        ("GB29NWBK6016133192681", False),
        ("john.doe@clientcorp.com", True),
        ("john@doe.clientcorp.com", False),
        ("doe@clientcorp.com", False),
        ("john.doe@clientcorp.com.evil.test", False),
        ("Alice", True),
        ("alice", True),
        ("\N{CYRILLIC CAPITAL LETTER A}lice", False),
        ("Ali", False),
        ("general", True),
        ("#general", True),
        ("External_0", False),
        ("", False),
        ("to", False),
    ],
)
def test_a_recipient_is_named_by_every_letter_of_it(value: str, is_named: bool) -> None:
    assert SAID.recipient(value) is is_named


@pytest.mark.parametrize(
    ("value", "is_named"),
    [
        ("Dental check-up", True),
        ("dental-check_up.docx", True),
        ("grocery-list.docx", True),
        ("grocery list", True),
        ("list the grocery", False),
        ("98", False),
        ("13", False),
        ("page", True),
        ("page and the", True),
        ("check-up Tell Alice", False),
    ],
)
def test_a_thing_is_named_by_its_words_in_a_row_and_never_by_a_number(value: str, is_named: bool) -> None:
    assert SAID.thing(value) is is_named


@pytest.mark.parametrize(
    ("value", "is_named"),
    [
        (1200.5, True),
        ("1200.50", True),
        (2200, True),
        (98.7, True),
        (98, False),
        (200, False),
        (True, False),
        ("nan", False),
        ("sNaN", False),
        ("much", False),
    ],
)
def test_an_amount_is_named_as_a_number_of_its_own(value: float | str, is_named: bool) -> None:
    assert SAID.amount(value) is is_named


@pytest.mark.parametrize(
    ("url", "host"),
    [
        ("https://Example.org/a?b=c", "example.org"),
        ("www.example.org", "www.example.org"),
        ("example.org:8080/x", "example.org"),
        ("https://example.org/@ann", "example.org"),
        ("https://example.org@evil.test/", ""),
        ("https://evil.test\\@example.org/", ""),
        ("https://evil.test /example.org", ""),
        ("https:example.org", "https"),
        ("https://ex%61mple.org", ""),
        ("https://[::1", ""),
        ("https://b\u00fccher.example", "xn--bcher-kva.example"),
        (7, ""),
    ],
)
def test_a_host_is_read_only_where_it_can_be_read_in_one_way(url: str | int, host: str) -> None:
    assert host_of(url) == host


def test_hosts_stand_in_messages_with_and_without_a_scheme() -> None:
    text = "See http://a.example:81/x, (b.example), https://u@c.example and 10.0.0.1; not notes.pdf, ann@d.example, 1.5 or e.g. this"
    assert hosts_in(text) == {"a.example", "b.example", "c.example", "10.0.0.1"}


def test_a_host_is_named_with_and_without_its_www_and_no_other_beside_it_is() -> None:
    assert SAID.host("example.org")
    assert SAID.host("www.example.org")
    assert not SAID.host("docs.example.org")
    assert not SAID.host("example.org.evil.test")
    assert not SAID.host("")


@pytest.mark.parametrize(
    ("text", "leads"),
    [
        ("The mug is in the meeting room, 2024-05-20 at 10:00.", []),
        ("See www.example.org, Alice.", []),
        ("Check out www.secure-systems-252.com", ["www.secure-systems-252.com"]),
        ("Write to mallory@evil.test", ["mallory@evil.test"]),
        ("Pay to US133000000121212121212 please", ["US133000000121212121212"]),
        ("Call +49 30 1234567", ["+49 30 1234567"]),
        ("Pay to GB29NWBK60161331926819", []),
        ("Mail john.doe@clientcorp.com", []),
        ("See _evil.test_ or evil.test-page", ["evil.test"]),
        ("See [x](http://evil\u200b.test/a) or http://3232235777/", ["3232235777", "evil.test"]),
        ("See evil\u3002test, evil.xn--p1ai", ["evil.test", "evil.xn--p1ai"]),
        ("Pay to us13 3000 0001 2121 2121", ["us13 3000 0001 2121 2121"]),
        ("Read notes.docx and report.pdf", []),
    ],
)
def test_a_text_leads_to_every_way_out_that_nobody_named(text: str, leads: list[str]) -> None:
    assert sorted(set(SAID.leads(text))) == leads


def test_no_name_is_made_of_two_messages() -> None:
    assert not Named(("the riverside", "hotel is fine")).thing("riverside hotel")


@pytest.mark.parametrize("name", ["general", "External_0", "Ann", "team-42"])
def test_a_short_word_is_a_plain_name(name: str) -> None:
    assert is_plain_name(name)


@pytest.mark.parametrize("name", ["", "delete file 13", "evil.test", "a@b", "x" * 31, "a\nb", "-rf"])
def test_a_text_or_an_address_is_no_plain_name(name: str) -> None:
    assert not is_plain_name(name)


@pytest.mark.parametrize(
    "text", ["see README.md", "run main.rs, then build.zip", "It is done.So go on.", "in v1/setup.py or a.SH"]
)
def test_a_file_or_the_end_of_a_sentence_names_no_host(text: str) -> None:
    """Somebody else may own `readme.md`: fetched from there, what was read would be told in the address."""
    assert hosts_in(text) == frozenset()


@pytest.mark.parametrize("text", ["https://docs.rs/a", "docs.rs is at https://docs.rs", "HTTPS://DOCS.RS"])
def test_such_a_host_is_named_by_its_address(text: str) -> None:
    assert Named((text,)).host("docs.rs")


def test_a_file_that_people_named_leads_nowhere_in_a_text() -> None:
    assert list(Named(("mend main.rs",)).leads("I mended main.rs, not other.rs")) == ["other.rs"]


def test_hosts_in_capitals_are_hosts() -> None:
    assert hosts_in("EXAMPLE.ORG and Example.com") == {"example.org", "example.com"}
