"""Nothing is sent to where nothing may be sent: told by a listener there, which counts who comes."""

from __future__ import annotations

import asyncio
from ipaddress import ip_address

import aiohttp
import pytest

from runtime.egress import Egress, Refused, Result, Rule, Why
from runtime.egress.dialling import connector
from tests.wire.egress.listener import OK, SECONDS, Names, everything, get, listening, redirect

# Each reaches the listener if nobody minds: `P` is its port. Many more are in tests/security/unreachable.py.
SPELLINGS = [
    *("http://127.0.0.1:P/", "http://2130706433:P/", "http://localhost:P/", "http://[::1]:P/", "https://127.0.0.1:P/"),
    *("http://[::ffff:127.0.0.1]:P/", "http://10.0.0.1:P/", "http://169.254.169.254:P/", "ftp://127.0.0.1:P/"),
    *("http://inside.test:P/", "http://unknown.test:P/", "http://six.test:P/", "http://mapped.test:P/"),
    *("http://nat.test:P/", "http://zone.test:P/", "http://nonsense.test:P/"),
]
NAMES = {
    "inside_test": [["127.0.0.1"]],
    "six_test": [["::1"]],
    "mapped_test": [["::ffff:127.0.0.1"]],
    "nat_test": [["64:ff9b::7f00:1"]],
    "zone_test": [["fe80::1%lo"]],
    "nonsense_test": [["127.1"]],
}


@pytest.mark.parametrize("url", SPELLINGS)
async def test_however_a_private_address_is_written_no_packet_leaves(url: str) -> None:
    async with listening() as inside:
        egress = Egress([everything(inside.port)], look_up=Names(**NAMES))
        with pytest.raises(Refused):
            await get(egress, url.replace("P", str(inside.port)))
        assert inside.connections == 0


@pytest.mark.parametrize("url", ["http://127.0.0.1:P/", "http://inside.test:P/", "http://mapped.test:P/"])
async def test_what_an_operator_opened_is_reached(url: str) -> None:
    async with listening() as inside:
        egress = Egress(look_up=Names(**NAMES), allow=[inside.opening])
        answer = await get(egress, url.replace("P", str(inside.port)))
        assert (answer.status, answer.body, inside.connections) == (200, b"hello", 1)


async def test_an_opened_name_of_a_local_network_needs_a_rule_with_that_name() -> None:
    async with listening() as inside:
        names = Names(printer_local=[["127.0.0.1"]])
        rule = Rule(Result.ALLOW, host="printer.local")
        url = f"http://printer.local:{inside.port}/"
        with pytest.raises(Refused, match=r"printer\.local is a name for local networks"):
            await get(Egress(look_up=names, allow=[inside.opening]), url)
        assert names.asked == []
        assert (await get(Egress([rule], look_up=names, allow=[inside.opening]), url)).status == 200


async def test_one_bad_address_spoils_the_others() -> None:
    async with listening() as inside:
        for answer in (["127.0.0.1", "10.0.0.1"], ["::1", "127.0.0.1"], ["127.0.0.1", "x"]):
            egress = Egress(look_up=Names(mixed_test=[answer]), allow=[inside.opening])
            with pytest.raises(Refused):
                await get(egress, f"http://mixed.test:{inside.port}/")
        assert inside.connections == 0


@pytest.mark.parametrize("port", [22, 25, 6379, 8080])
async def test_another_port_is_refused_before_the_name_is_looked_up(port: int) -> None:
    names = Names(site_test=[["8.8.8.8"]])
    with pytest.raises(Refused, match=rf"port {port} of site\.test is not open") as caught:
        await get(Egress(look_up=names), f"http://site.test:{port}/")
    assert caught.value.why is Why.PORT
    assert names.asked == []


async def test_a_rule_refuses_before_the_name_is_looked_up() -> None:
    names = Names(site_test=[["8.8.8.8"]])
    with pytest.raises(Refused, match="egress rule 1 denies"):
        await get(Egress([Rule(Result.DENY, host="*.test")], look_up=names), "http://site.test/")
    with pytest.raises(Refused, match="no egress rule allows POST"):
        await Egress(look_up=names).request("POST", "http://site.test/", tool="t", most=1, timeout=SECONDS)
    assert names.asked == []


# ---------------------------------------------------------------------------------------------------------- rebinding


async def test_the_address_that_was_judged_is_the_one_that_is_dialled() -> None:
    """The name means another address each time it is asked for; it is asked for once."""
    async with listening() as judged, listening(host="127.0.0.2", port=judged.port) as other:
        names = Names(rebinds_test=[["127.0.0.1"], ["127.0.0.2"]])
        answer = await get(Egress(look_up=names, allow=[judged.opening]), f"http://rebinds.test:{judged.port}/")
        assert (answer.status, names.asked) == (200, ["rebinds.test"])
        assert (judged.connections, other.connections) == (1, 0)
        assert f"Host: rebinds.test:{judged.port}" in judged.heads[0]


async def test_a_name_that_means_another_address_after_a_redirect_is_judged_anew() -> None:
    async with listening(redirect("/again")) as first, listening(host="127.0.0.2", port=first.port) as second:
        names = Names(rebinds_test=[["127.0.0.1"], ["127.0.0.2"]])
        with pytest.raises(Refused, match=r"rebinds\.test is at 127\.0\.0\.2, which is for this machine"):
            await get(Egress(look_up=names, allow=[first.opening]), f"http://rebinds.test:{first.port}/")
        assert (first.connections, second.connections) == (1, 0)


async def test_even_if_something_went_wrong_above_nothing_else_is_dialled() -> None:
    """The last check is where sockets are made, below everything that could be told another address."""
    async with listening() as judged, listening(host="127.0.0.2", port=judged.port) as other:
        async with aiohttp.ClientSession(connector=connector([ip_address("127.0.0.1")], None)) as session:
            assert (await session.get(judged.url)).status == 200
            with pytest.raises(aiohttp.ClientConnectorError, match="was not judged"):
                await session.get(other.url)
        assert other.connections == 0


# ---------------------------------------------------------------------------------------------------------- redirects


@pytest.mark.parametrize(
    "location",
    [
        *("http://127.0.0.1:P/", "//127.0.0.1:P/", "http://localhost:P/", "http://[::1]:P/", "http://2130706433:P/"),
        *("http://127.1:P/", "http://inside.test:P/", "http://[::ffff:127.0.0.1]:P/", "http://169.254.169.254/latest"),
        *(
            "file:///etc/passwd",
            "ftp://127.0.0.1:P/",
            "http://u:p@127.0.0.1:P/",
            "javascript:alert(1)",
            "http://127.0.0.1:0/",
        ),
        *("http://[::1", "http://unknown.test/"),
    ],
)
async def test_a_redirect_is_judged_as_the_first_address_was(location: str) -> None:
    async with listening() as inside, listening(redirect(location.replace("P", str(inside.port)))) as outside:
        egress = Egress([everything(inside.port, outside.port)], look_up=Names(**NAMES), allow=[outside.opening])
        with pytest.raises(Refused):
            await get(egress, outside.url)
        assert (outside.connections, inside.connections) == (1, 0)


async def test_a_redirect_is_judged_by_the_rules_too() -> None:
    async with listening(redirect("/private/x")) as site:
        egress = Egress([Rule(Result.DENY, path="/private/*")], allow=[site.opening])
        with pytest.raises(Refused, match="egress rule 1 denies GET"):
            await get(egress, f"{site.url}/public")
        assert site.connections == 1


@pytest.mark.parametrize(("hops", "fits"), [(5, True), (6, False)])
async def test_five_redirects_are_followed(hops: int, fits: bool) -> None:
    async def hop(head: bytes, writer: asyncio.StreamWriter) -> None:
        at = int(head.split()[1][1:])
        writer.write(redirect(f"/{at + 1}") if at < hops else OK)

    async with listening(hop) as site:
        egress = Egress(allow=[site.opening])
        if fits:
            assert (await get(egress, f"{site.url}/0")).url == f"{site.url}/5"
        else:
            with pytest.raises(Refused, match="more than 5 redirects") as caught:
                await get(egress, f"{site.url}/0")
            assert caught.value.why is Why.REDIRECT
        assert site.connections == 6


@pytest.mark.parametrize(("further", "goes_on"), [("b.test", False), ("a.test", True)])
async def test_what_was_meant_for_one_host_does_not_go_to_another(further: str, goes_on: bool) -> None:
    async def hop(head: bytes, writer: asyncio.StreamWriter) -> None:
        port = writer.get_extra_info("sockname")[1]
        writer.write(redirect(f"http://{further}:{port}/last") if head.split()[1] == b"/" else OK)

    async with listening(hop) as site:
        egress = Egress(look_up=Names(a_test=[["127.0.0.1"]], b_test=[["127.0.0.1"]]), allow=[site.opening])
        headers = {"Authorization": "Bearer hidden", "X-Api-Key": "hidden", "Accept-Language": "de"}
        await egress.request("GET", f"http://a.test:{site.port}/", tool="t", headers=headers, most=100, timeout=SECONDS)
        first, last = site.heads
        assert first.count("hidden") == 2
        assert last.count("hidden") == (2 if goes_on else 0)
        assert "Accept-Language: de" in last


async def test_only_reading_follows_redirects() -> None:
    """Another request is sent once: whoever sent it decides what becomes of it."""
    async with listening(redirect("/elsewhere", 307)) as site:
        egress = Egress([everything(site.port)], allow=[site.opening])
        answer = await egress.request(
            "POST", site.url, tool="webhook", body=b"once", headers={"X-Id": "1"}, most=100, timeout=SECONDS
        )
        assert (answer.status, answer.headers["location"], site.connections) == (307, "/elsewhere", 1)


# ------------------------------------------------------------------------------------------------- what goes out with it


async def test_no_proxy_of_the_environment_is_used(monkeypatch: pytest.MonkeyPatch) -> None:
    async with listening() as proxy, listening() as site:
        for name in ("http_proxy", "HTTP_PROXY", "https_proxy", "all_proxy", "ALL_PROXY"):
            monkeypatch.setenv(name, proxy.url)
        assert (await get(Egress(allow=[site.opening]), site.url)).status == 200
        assert (site.connections, proxy.connections) == (1, 0)


async def test_requests_share_neither_cookies_nor_connections() -> None:
    baked = OK.replace(b"\r\n\r\n", b"\r\nSet-Cookie: who=you; Path=/\r\nConnection: keep-alive\r\n\r\n", 1)
    async with listening(baked) as site:
        egress = Egress(allow=[site.opening])
        for _ in range(2):
            await get(egress, site.url)
        assert site.connections == 2
        assert not [head for head in site.heads if "cookie" in head.lower()]


@pytest.mark.parametrize(
    ("name", "value"),
    [("Host", "x"), ("content-length", "0"), ("Transfer-Encoding", "chunked"), ("Connection", "upgrade"), ("Cookie", "a=b"),
     ("Proxy-Authorization", "x"), ("X", "a\r\nHost: x"), ("X", "a\0"), ("X Y", "z"), ("X:", "z"), ("", "z"),
     ("X-HTTP-Method-Override", "DELETE"), ("x-http-method", "PUT"), ("X-Method-Override", "DELETE")],
)  # fmt: skip
async def test_a_caller_does_not_say_where_a_request_goes_or_ends(name: str, value: str) -> None:
    async with listening() as site:
        with pytest.raises(Refused) as caught:
            await Egress(allow=[site.opening]).request(
                "GET", site.url, tool="t", headers={name: value}, most=1, timeout=SECONDS
            )
        assert (caught.value.why, site.connections) == (Why.HEADER, 0)


@pytest.mark.parametrize("method", ["CONNECT", "TRACE", "GET / HTTP/1.1\r\nX:", ""])
async def test_a_method_is_a_known_one(method: str) -> None:
    async with listening() as site:
        with pytest.raises(Refused) as caught:
            await Egress([everything(site.port)], allow=[site.opening]).request(
                method, site.url, tool="t", most=1, timeout=SECONDS
            )
        assert (caught.value.why, site.connections) == (Why.METHOD, 0)
