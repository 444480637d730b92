"""Addresses of requests: what is refused before anybody is asked anything, and what rules are shown of the rest."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from runtime.egress import Egress, Refused, Why
from runtime.egress.addresses import Ip
from runtime.egress.places import Place

REFUSED = {
    Why.SCHEME: [
        *("file:///etc/passwd", "ftp://example.org/", "gopher://example.org:70/1", "javascript:alert(1)", "data:,x"),
        *(
            "example.org",
            "//example.org/",
            "/etc/passwd",
            "ws://example.org/",
            "httpx://example.org/",
            "",
            "http+unix://x/",
        ),
    ],
    Why.USERINFO: [
        *(
            "http://user@example.org/",
            "http://user:secret@example.org/",
            "http://@example.org/",
            "http://:@example.org",
        ),
        *("http://8.8.8.8@127.0.0.1/", "http://example.org:80@127.0.0.1/", "http://a@b@example.org/", "HTTP://u@h?x"),
    ],
    Why.HOST: [
        *(
            "http:///x",
            "http://",
            "http:x",
            "http://?x",
            "http://example.org./",
            "http://localhost./",
            "http://127.0.0.1./",
        ),
        *(
            "http://a..b/",
            "http://.a/",
            "http://-a.org/",
            "http://a-.org/",
            f"http://{'a' * 64}.org/",
            "http://%31%32/",
        ),
        *(
            "http://127.0.0.1%00.example.org/",
            f"http://{'a.' * 130}org/",
            "http://*.org/",
            "http://a,b/",
            "http://a(b)/",
        ),
        # An IPv4 address in any spelling but the usual one.
        *("http://2130706433/", "http://0x7f000001/", "http://0X7F.1/", "http://017700000001/", "http://0177.0.0.1/"),
        *("http://127.1/", "http://127.0.1/", "http://127.0.0.01/", "http://127.0.0.0x1/", "http://1.2.3.4.5/"),
        *("http://256.0.0.1/", "http://0/", "http://example.0x7f/", "http://00000177.0.0.1/", "http://8.8.2056/"),
        "http://１２７。１/",  # noqa: RUF001 - on purpose
        *("http://[fe80::1%25eth0]/", "http://[fe80::1%eth0]/", "http://[::1%1]/"),
    ],
    Why.PORT: ["http://example.org:0/", "https://example.org:00/"],
    Why.FORM: [
        *("http://exam ple.org/", "http://example.org/a b", "http://example.org\\@127.0.0.1/", "http://example.org/\n"),
        *(
            "http://example.org\r\nHost: x/",
            "http://\u00adlocalhost/",
            "http://local\u200bhost/",
            "http://example.org/\0",
        ),
        *(
            "http://[::1/",
            "http://[::1]x/",
            "http://example.org:x/",
            "http://example.org:65536/",
            "http://example.org:-1/",
        ),
        *("http://example.org/public/..%2f..%2fadmin", "http://example.org/a/%2e%2e%5cb", "http://example.org/%2E%2F"),
        "http://example.org/" + "a" * 8000,
    ],
}


@pytest.mark.parametrize(("why", "text"), [(why, text) for why, texts in REFUSED.items() for text in texts])
def test_what_is_no_plain_address_is_refused_and_the_check_named(why: Why, text: str) -> None:
    with pytest.raises(Refused) as caught:
        Place.parse(text)
    assert caught.value.why is why, caught.value


def test_a_dot_at_the_end_is_named() -> None:
    with pytest.raises(Refused, match=r"the host example\.org\. ends with a dot; write it without"):
        Place.parse("https://example.org./")


@pytest.mark.parametrize(
    ("text", "host", "port", "path"),
    [
        ("https://Example.ORG", "example.org", 443, "/"),
        ("HTTP://example.org:8080/a/b?c=d#e", "example.org", 8080, "/a/b"),
        ("  https://example.org/x  ", "example.org", 443, "/x"),
        ("https://bücher.example/ü?q=ü", "xn--bcher-kva.example", 443, "/ü"),
        ("https://faß.example/", "xn--fa-hia.example", 443, "/"),
        ("https://例え。テスト/", "xn--r8jz45g.xn--zckzah", 443, "/"),
        ("https://EXAMPLE。org/", "example.org", 443, "/"),
        ("https://example.org/a/../%61dmin/./x", "example.org", 443, "/admin/x"),
        ("https://example.org/a%2Fb", "example.org", 443, "/a/b"),
        ("http://93.184.215.14/", "93.184.215.14", 80, "/"),
        ("http://[2606:4700:0:0::1111]:80/", "2606:4700::1111", 80, "/"),
        ("http://[::FFFF:10.0.0.1]/", "::ffff:10.0.0.1", 80, "/"),
        ("http://a_b.example/", "a_b.example", 80, "/"),
    ],
)
def test_rules_see_one_spelling(text: str, host: str, port: int, path: str) -> None:
    place = Place.parse(text)
    seen = str(place.address) if place.address and ":" not in host else place.host
    assert (seen.replace("::ffff:a00:1", "::ffff:10.0.0.1"), place.port, place.path) == (host, port, path)
    assert place.url.fragment == ""


def test_an_error_shows_neither_path_nor_query() -> None:
    place = Place.parse("https://example.org:8443/secret/path?token=hidden")
    assert place.shown == "https://example.org:8443"
    with pytest.raises(Refused) as caught:
        Place.parse("http://ada:hunter2@example.org/?token=hidden")
    assert not {"ada", "hunter2", "hidden"} & set(str(caught.value).replace("@", " ").split())


@pytest.mark.parametrize("host", ["localhost", "a.localhost", "LOCALHOST", "\uff4cocalhost", "\u24dbocalhost", "printer.local",
                                  "metadata.google.internal", "nas.home.arpa", "x.onion", "localhost.localdomain"])  # fmt: skip
def test_names_of_local_networks_are_known_in_any_spelling(host: str) -> None:
    assert Place.parse(f"http://{host}/").is_local


def test_names_that_only_look_local_are_not() -> None:
    assert not any(Place.parse(f"http://{host}/").is_local for host in ("notlocalhost", "local.example", "mylocal"))


# ------------------------------------------------------------------------------------------------ however it is written


def digits(number: int, base: str) -> str:
    return {"decimal": str(number), "hex": f"0x{number:x}", "HEX": f"0X{number:X}", "octal": f"0{number:o}"}[base]


BASES = st.sampled_from(["decimal", "hex", "HEX", "octal"])


@st.composite
def spelling(draw: st.DrawFn, address: Ip) -> str:
    """The address as programs that know `inet_aton`, IPv6, IDNA or percent signs would read it."""
    number, parts = int(address), draw(st.integers(1, 4))
    pieces = [(number >> (24 - 8 * at)) & 0xFF for at in range(parts - 1)]
    pieces.append(number & ((1 << (32 - 8 * (parts - 1))) - 1))
    plain = ".".join(digits(piece, draw(BASES)) for piece in pieces)
    wide = "".join(chr(ord(letter) + 0xFEE0) if letter.isascii() and letter.isalnum() else letter for letter in plain)
    dot = draw(st.sampled_from(["\u3002", "\uff0e", "\uff61"]))
    return draw(
        st.sampled_from(
            [
                plain,
                f"{plain}.",
                wide,
                wide.replace(".", dot),
                plain.replace(".", "%2e"),
                f"[::ffff:{address}]",
                f"[::{address}]",
                f"[64:ff9b::{address}]",
                f"[2002:{number >> 16:x}:{number & 0xFFFF:x}::1]",
                f"[::ffff:0:{address}]",
                f"[2001:db8::5efe:{address}]",
                f"user@{plain}",
                f"8.8.8.8@{plain}",
                f"8.8.8.8\\@{plain}",
                f"{plain}#@8.8.8.8",
                f"{plain}\t",
            ]
        )
    )


PRIVATE = st.sampled_from(
    ["127.0.0.0/8", "10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "169.254.0.0/16", "100.64.0.0/10", "0.0.0.0/8"]
).flatmap(lambda network: st.ip_addresses(network=network))


@given(PRIVATE.flatmap(spelling), st.sampled_from(["http://{}/", "https://{}:443/x", "HTTP://{}", "http://{}?q"]))
def test_however_a_private_address_is_written_it_is_refused_and_no_name_is_looked_up(host: str, form: str) -> None:
    asked: list[str] = []

    async def public(name: str) -> Sequence[str]:
        asked.append(name)
        return ["8.8.8.8"]

    request = Egress(look_up=public).request("GET", form.format(host), tool="t", most=1, timeout=timedelta(seconds=5))
    with pytest.raises(Refused):
        asyncio.run(request)
    assert asked == [], "taken for a name"


@given(st.text(max_size=40))
def test_any_text_is_a_place_or_refused(text: str) -> None:
    for url in (text, f"http://{text}", f"https://example.org/{text}"):
        try:
            place = Place.parse(url)
        except Refused:
            continue
        assert place.host.isascii()
        assert place.url.scheme in ("http", "https")
