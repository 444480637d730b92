"""Answers are bounded in size and time, whatever the other side sends, and so is what they cost."""

from __future__ import annotations

import asyncio
import gzip
import tracemalloc
import zlib
from collections.abc import Sequence
from datetime import timedelta

import pytest

from runtime.egress import Egress, NoAnswer, Opening, Refused, Result, Rule, Why
from tests.wire.egress.listener import OK, SECONDS, Names, Script, everything, get, listening

SOON = timedelta(seconds=0.2)
HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n"


async def test_an_answer_is_what_was_sent() -> None:
    answer = HEAD.replace(b"200 OK", b"404 Gone away") + b"X-Two: a\r\nX-Two: b\r\nContent-Length: 3\r\n\r\nabc"
    async with listening(answer) as site:
        got = await get(Egress(allow=[site.opening]), f"{site.url}/a?b=c#d")
        assert (got.status, got.url, got.body, got.truncated) == (404, f"{site.url}/a?b=c", b"abc", False)
        assert (got.headers["content-type"], got.headers["x-two"]) == ("text/plain", "a")
        assert site.heads[0].startswith("GET /a?b=c HTTP/1.1\r\n")


async def test_a_body_is_sent_as_it_is() -> None:
    bodies: list[bytes] = []

    async def read(reader: asyncio.StreamReader) -> None:
        bodies.append(await reader.readexactly(5))

    async with listening(OK, body=read) as site:
        egress = Egress([everything(site.port)], allow=[site.opening])
        await egress.request("POST", site.url, tool="webhook", body=b"\0once", most=10, timeout=SECONDS)
        assert "Content-Length: 5" in site.heads[0]
        assert "Transfer-Encoding" not in site.heads[0]
        assert bodies == [b"\0once"]


@pytest.mark.parametrize(("size", "truncated"), [(999, False), (1000, False), (1001, True)])
async def test_a_body_is_cut_at_its_bound(size: int, truncated: bool) -> None:
    async with listening(HEAD + b"Content-Length: %d\r\n\r\n" % size + b"x" * size) as site:
        got = await get(Egress(allow=[site.opening]), site.url, most=1000)
        assert (len(got.body), got.truncated) == (min(size, 1000), truncated)


async def test_a_body_without_an_end_is_not_waited_for() -> None:
    async def endless(_: bytes, writer: asyncio.StreamWriter) -> None:
        writer.write(HEAD + b"\r\n")
        while True:
            writer.write(b"x" * 65536)
            await writer.drain()

    async with listening(endless) as site:
        got = await get(Egress(allow=[site.opening]), site.url, most=100_000)
        assert (len(got.body), got.truncated) == (100_000, True)


@pytest.mark.parametrize("form", ["gzip", "deflate"])
async def test_a_small_body_that_stands_for_a_huge_one_costs_no_more_than_its_bound(form: str) -> None:
    packer = zlib.compressobj(9, zlib.DEFLATED, 31 if form == "gzip" else 15)
    bomb = b"".join([packer.compress(bytes(1 << 20)) for _ in range(100)]) + packer.flush()
    assert len(bomb) < 200_000
    head = HEAD + b"Content-Encoding: %b\r\nContent-Length: %d\r\n\r\n" % (form.encode(), len(bomb))
    async with listening(head + bomb) as site:
        egress = Egress(allow=[site.opening])
        await get(egress, site.url, most=1)  # whatever is loaded once is loaded now
        tracemalloc.start()
        try:
            got = await get(egress, site.url, most=1 << 20)
            peak = tracemalloc.get_traced_memory()[1]
        finally:
            tracemalloc.stop()
        assert (len(got.body), got.truncated) == (1 << 20, True)
        assert peak < 8 << 20, "the bound, a copy, and pieces on their way"


async def test_a_compressed_body_is_unpacked() -> None:
    packed = gzip.compress("grüße".encode())
    async with listening(HEAD + b"Content-Encoding: gzip\r\nContent-Length: %d\r\n\r\n" % len(packed) + packed) as site:
        got = await get(Egress(allow=[site.opening]), site.url)
        assert (got.body.decode(), got.truncated) == ("grüße", False)
        assert "Accept-Encoding: gzip, deflate\r\n" in site.heads[0]


# ------------------------------------------------------------------------------------------------------------- time


async def drip(_: bytes, writer: asyncio.StreamWriter) -> None:
    """A head that never ends, a byte at a time: each is an answer to whoever counts silence only."""
    writer.write(b"HTTP/1.1 200 OK\r\n")
    while True:
        writer.write(b"X: y\r\n")
        await writer.drain()
        await asyncio.sleep(0.02)


async def stall(_: bytes, writer: asyncio.StreamWriter) -> None:
    writer.write(HEAD + b"Content-Length: 5\r\n\r\nhel")
    await asyncio.sleep(60)


async def silence(_: bytes, writer: asyncio.StreamWriter) -> None:
    await asyncio.sleep(60)


@pytest.mark.parametrize("script", [drip, stall, silence])
async def test_a_slow_answer_is_given_up_in_time(script: Script) -> None:
    async with listening(script) as site:
        with pytest.raises(NoAnswer, match=r"within 0\.2 s") as caught:
            await get(Egress(allow=[site.opening]), site.url, within=SOON)
        assert caught.value.sent, "it may have been read"


async def test_who_gives_up_leaves_nothing_behind() -> None:
    ended = asyncio.Event()

    async def wait(reader: asyncio.StreamReader) -> None:
        await reader.read()
        ended.set()

    async with listening(body=wait) as site:
        before = asyncio.all_tasks()
        with pytest.raises(NoAnswer):
            await get(Egress(allow=[site.opening]), site.url, within=SOON)
        async with asyncio.timeout(30):
            await ended.wait()
        assert asyncio.all_tasks() <= before


async def test_all_redirects_together_have_one_time() -> None:
    async def again(_: bytes, writer: asyncio.StreamWriter) -> None:
        await asyncio.sleep(0.08)
        writer.write(b"HTTP/1.1 302 Found\r\nLocation: /\r\nContent-Length: 0\r\n\r\n")

    async with listening(again) as site:
        with pytest.raises(NoAnswer):
            await get(Egress(allow=[site.opening]), site.url, within=SOON)
        assert site.connections <= 3


async def test_a_name_that_nobody_answers_for_is_given_up_sooner() -> None:
    async def never(host: str) -> Sequence[str]:
        await asyncio.sleep(60)
        return []

    with pytest.raises(Refused, match=r"slow\.test has no known address") as caught:
        await get(Egress(look_up=never, lookup_time=timedelta(seconds=0.02)), "http://slow.test/")
    assert caught.value.why is Why.LOOKUP


async def test_the_machine_itself_is_asked_for_names() -> None:
    """Of names that need no network there is one, which a rule must allow by its name."""
    async with listening() as site:
        egress = Egress(
            [Rule(Result.ALLOW, host="localhost")], allow=[site.opening, Opening.parse(f"[::1]:{site.port}")]
        )
        assert (await get(egress, f"http://localhost:{site.port}/")).status == 200


async def test_only_so_many_are_under_way_at_once() -> None:
    now, most = 0, 0

    async def count(_: bytes, writer: asyncio.StreamWriter) -> None:
        nonlocal now, most
        now += 1
        most = max(most, now)
        await asyncio.sleep(0.02)
        now -= 1
        writer.write(OK)

    async with listening(count) as site:
        egress = Egress(allow=[site.opening])
        async with asyncio.TaskGroup() as group:
            for _ in range(40):
                group.create_task(get(egress, site.url))
        assert (site.connections, 1 < most <= 16) == (40, True)


# -------------------------------------------------------------------------------------------------------- no answer


@pytest.mark.parametrize(
    "answer",
    [
        b"",
        b"HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhalf",
        b"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: 4\r\n\r\nhalf",
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
        b"SSH-2.0-OpenSSH_9.6\r\n",
        b"HTTP/1.1 200 OK\r\nX: " + b"y" * 100_000 + b"\r\n\r\n",
        b"HTTP/1.1 200 OK\r\n" + b"X: y\r\n" * 10_000 + b"\r\n",
        b"HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\n",
    ],
    ids=["nothing", "cut", "no-gzip", "no-chunk", "ssh", "long-header", "many-headers", "bad-length"],
)
async def test_an_answer_that_is_none_is_told_in_words(answer: bytes) -> None:
    async with listening(answer) as site:
        with pytest.raises(NoAnswer) as caught:
            await get(Egress(allow=[site.opening]), f"{site.url}/secret?token=hidden")
        assert caught.value.sent
        assert site.url in str(caught.value)
        assert "hidden" not in str(caught.value)
        assert "secret" not in str(caught.value)


async def test_a_closed_port_is_told_as_not_sent() -> None:
    async with listening() as site:
        egress = Egress(allow=[site.opening])
    with pytest.raises(NoAnswer, match="could not be reached") as caught:
        await get(egress, site.url)
    assert not caught.value.sent


async def test_of_several_addresses_one_that_works_is_enough() -> None:
    async with listening() as site:
        names = Names(site_test=[["127.0.0.3", "127.0.0.1"]])
        egress = Egress(look_up=names, allow=[site.opening, Opening.parse(f"127.0.0.3:{site.port}")])
        assert (await get(egress, f"http://site.test:{site.port}/")).status == 200
