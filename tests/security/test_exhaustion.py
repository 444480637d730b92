"""Half requests, descriptors, packed bombs: whoever sends them waits for themselves alone.

Bombs of disk, memory and processes are in `bombs`, and a disk that runs full in `test_disk_floor`.
"""

from __future__ import annotations

import asyncio
import errno
import gzip
import logging
import sys
import zlib
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from datetime import timedelta
from pathlib import Path
from typing import Any, Final

import aiohttp
import pytest
from aiohttp import web
from structlog.testing import capture_logs
from yarl import URL

from bot.http.connections import Bounds, Connections, Site
from runtime.contract import Role
from tests.e2e.house import House
from tests.e2e.visitor import until, visiting
from tests.security.running import raw
from tests.security.tally import Tallied, Tally
from tests.unit.web.stage import ADAS_ROOM, Stage, application, build

SHORT: Final = Bounds(
    most=20,
    of_one=15,
    backlog=16,
    header=timedelta(seconds=0.8),
    body=timedelta(seconds=1.5),
    look=timedelta(seconds=0.1),
)
HALF: Final = b"GET /healthz HTTP/1.1\r\nHost: x\r\nX-Half: "
PATIENCE: Final = 30.0


class Half:
    """A connection on which bytes go out as the test likes."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader = reader
        self._writer = writer

    async def send(self, data: bytes) -> None:
        if self.is_over or self._writer.transport.is_closing():
            return
        try:
            self._writer.write(data)
            await self._writer.drain()
        except ConnectionError:
            return

    async def heard(self) -> bytes:
        """All that comes until the other side ends it. Errors: TimeoutError when it never does."""
        try:
            async with asyncio.timeout(PATIENCE):
                return await self._reader.read()
        except ConnectionError:
            return b""

    async def line(self) -> bytes:
        async with asyncio.timeout(PATIENCE):
            return await self._reader.readline()

    @property
    def is_over(self) -> bool:
        return self._reader.at_eof() or self._reader.exception() is not None

    def close(self) -> None:
        self._writer.close()


class Listening:
    """The page behind bounded connections, and ways to misuse it."""

    def __init__(self, stage: Stage, url: str, connections: Connections, stack: AsyncExitStack) -> None:
        self.stage = stage
        self.url = url
        self.connections = connections
        self.token = stage.links.add("Ada", Role.USER)
        self._stack = stack

    async def connect(self, data: bytes = b"", address: str = "127.0.0.1") -> Half:
        place = URL(self.url)
        half = Half(*await asyncio.open_connection(place.host, place.port, local_addr=(address, 0)))
        self._stack.callback(half.close)
        await half.send(data)
        return half

    async def health(self) -> int:
        return await raw(self.url, f"GET /healthz HTTP/1.1\r\nHost: {URL(self.url).authority}\r\n\r\n".encode())

    def head(self, method: str, path: str, *lines: str) -> bytes:
        own = (f"Host: {URL(self.url).authority}", f"Cookie: {self.stage.adapter.authenticator.cookie}={self.token}")
        ours = (*own, f"Origin: {self.url}", "X-Signalbox: 1", *lines)
        return f"{method} {path} HTTP/1.1\r\n{''.join(f'{line}' + chr(13) + chr(10) for line in ours)}\r\n".encode()

    def post(self, *lines: str, path: str = "messages") -> bytes:
        return self.head("POST", f"/api/rooms/{ADAS_ROOM}/{path}", *lines)


@asynccontextmanager
async def listening(folder: Path, bounds: Bounds = SHORT) -> AsyncIterator[Listening]:
    stage = build(folder)
    app = application(stage)
    app.router.add_get("/healthz", _healthy)
    runner = web.AppRunner(app, access_log=None, shutdown_timeout=1)
    await runner.setup()
    connections = Connections(bounds)
    async with AsyncExitStack() as stack, asyncio.TaskGroup() as group:
        duty = group.create_task(stage.adapter.listen(stage.sink))
        try:
            await Site(runner, "127.0.0.1", 0, connections).start()
            stage.base = f"http://127.0.0.1:{runner.addresses[0][1]}"
            yield Listening(stage, stage.base, connections, stack)
        finally:
            await stack.aclose()
            duty.cancel()
            await runner.cleanup()


async def _healthy(_request: web.Request) -> web.Response:
    return web.json_response({"status": "ok"})


JSON: Final = "Content-Type: application/json"
FORM: Final = "Content-Type: multipart/form-data; boundary=x"
FIELD: Final = b'--x\r\nContent-Disposition: form-data; name="file"; filename="a.txt"\r\n\r\n'


async def silent(at: Listening) -> bool:
    return await (await at.connect()).heard() == b""


async def half_a_header(at: Listening) -> bool:
    return await (await at.connect(HALF)).heard() == b""


async def a_header_that_drips(at: Listening) -> bool:
    """Each byte in time does not make the whole in time."""
    half = await at.connect(HALF)
    for _ in range(100):
        await half.send(b"x")
        await asyncio.sleep(0.05)
        if half.is_over:
            return True
    return False


async def half_a_second_request(at: Listening) -> bool:
    half = await at.connect(at.head("GET", "/api/me"))
    first = await half.line()
    await half.send(HALF)
    await half.heard()
    return first.startswith(b"HTTP/1.1 200")


async def an_idle_one_stays(at: Listening) -> bool:
    half = await at.connect(at.head("GET", "/healthz"))
    first = await half.line()
    await asyncio.sleep(1.5)
    await half.send(at.head("GET", "/healthz"))
    return first.startswith(b"HTTP/1.1 200") and not half.is_over


async def half_a_body(at: Listening) -> bool:
    half = await at.connect(at.post(JSON, "Content-Length: 100") + b'{"id": ')
    heard = await half.heard()
    return heard.startswith(b"HTTP/1.1 408") and b"in time" in heard


async def is_refused(half: Half) -> bool:
    """Who still sends when the connection is closed may lose the answer."""
    return (await half.heard()).startswith(b"HTTP/1.1 408") or half.is_over


async def a_body_that_drips(at: Listening) -> bool:
    half = await at.connect(at.post(JSON, "Content-Length: 1000"))
    for _ in range(80):
        await half.send(b" ")
        await asyncio.sleep(0.05)
    return await is_refused(half)


async def a_body_nobody_reads(at: Listening) -> bool:
    """Events take no body, so the connection is cut where an answer has begun already."""
    half = await at.connect(at.head("GET", "/api/nothing", "Content-Length: 100"))
    return (await half.heard()).startswith(b"HTTP/1.1 404")


async def an_upload_that_drips(at: Listening) -> bool:
    half = await at.connect(at.post(FORM, "Content-Length: 100000", path="files") + FIELD)
    for _ in range(60):
        await half.send(b"x")
        await asyncio.sleep(0.05)
    return await is_refused(half)


async def a_slow_upload_goes_on(at: Listening) -> bool:
    """Longer than a body may take, but at more than the least rate."""
    pieces, end = 30, b"\r\n--x--\r\n"
    size = len(FIELD) + pieces * 4096 + len(end)
    half = await at.connect(at.post(FORM, f"Content-Length: {size}", path="files") + FIELD)
    for _ in range(pieces):
        await half.send(b"y" * 4096)
        await asyncio.sleep(0.12)
    await half.send(end)
    return (await half.line()).startswith(b"HTTP/1.1 201")


async def packed(at: Listening, how: str, data: bytes, *statuses: int) -> bool:
    lines = (JSON, f"Content-Encoding: {how}", f"Content-Length: {len(data)}")
    return await raw(at.url, at.post(*lines) + data) in statuses


async def deflate_rubbish(at: Listening) -> bool:
    return await packed(at, "deflate", b"rubbish", 400)


async def gzip_rubbish(at: Listening) -> bool:
    return await packed(at, "gzip", b"rubbish", 400)


async def a_gzip_bomb(at: Listening) -> bool:
    return await packed(at, "gzip", gzip.compress(b" " * 64_000_000, 9), 413)


async def a_deflate_bomb(at: Listening) -> bool:
    return await packed(at, "deflate", zlib.compress(b"[" * 64_000_000, 9), 413)


async def a_bomb_in_two_layers(at: Listening) -> bool:
    return await packed(at, "gzip, deflate", zlib.compress(gzip.compress(b" " * 8_000_000)), 400, 413)


async def chunks_without_end(at: Listening) -> bool:
    half = await at.connect(at.post(JSON, "Transfer-Encoding: chunked"))
    for _ in range(40):
        await half.send(b"10000\r\n" + b" " * 65536 + b"\r\n")
    return (await half.line()).startswith(b"HTTP/1.1 413")


async def a_long_address(at: Listening) -> bool:
    return await raw(at.url, at.head("GET", "/" + "a" * 100_000)) in (400, 414)


async def a_long_header(at: Listening) -> bool:
    return await raw(at.url, at.head("GET", "/", "X-Long: " + "a" * 100_000)) in (400, 431)


async def many_headers(at: Listening) -> bool:
    return await raw(at.url, at.head("GET", "/", *(f"X-{n}: 1" for n in range(5_000)))) in (400, 431)


async def deep_json(at: Listening) -> bool:
    data = b"[" * 500_000
    return await raw(at.url, at.post(JSON, f"Content-Length: {len(data)}") + data) == 400


async def a_form_without_end(at: Listening) -> bool:
    """The file is what came of it, and nothing waits for more."""
    return await raw(at.url, at.post(FORM, f"Content-Length: {len(FIELD)}", path="files") + FIELD) in (201, 400)


async def more_than_may_be(at: Listening) -> bool:
    """Of five times as many half requests the oldest make room, and a health check is answered each time."""
    answered = []
    for _ in range(100):
        await at.connect(HALF)
        if len(at.connections) > SHORT.of_one:
            return False
        answered.append(await at.health() == 200)
    return all(answered)


async def half_bodies_make_room(at: Listening) -> bool:
    """Whoever sends half a body holds no place that others need, from however many addresses they come."""
    answered = []
    for number in range(60):
        await at.connect(at.post(JSON, "Content-Length: 100") + b"{", f"127.0.0.{2 + number % 3}")
        answered.append(await at.health() == 200)
    return all(answered)


async def those_at_work_stay(at: Listening) -> bool:
    """Open pages are no idle connections: who comes when there is no room for more is turned away."""
    events = at.head("GET", f"/api/rooms/{ADAS_ROOM}/events")
    pages = [await at.connect(events) for _ in range(SHORT.of_one)]
    opened = [(await page.line()).startswith(b"HTTP/1.1 200") for page in pages]
    refused = await at.health()
    pages[0].close()
    await until(lambda: _true(len(at.connections) < SHORT.of_one), "room")
    return all(opened) and refused == 0 and await at.health() == 200 and not any(page.is_over for page in pages[1:])


async def _true(what: bool) -> bool | None:
    return what or None


TRIES: Final[tuple[Callable[[Listening], Awaitable[bool]], ...]] = (
    silent,
    half_a_header,
    a_header_that_drips,
    half_a_second_request,
    an_idle_one_stays,
    half_a_body,
    a_body_that_drips,
    a_body_nobody_reads,
    an_upload_that_drips,
    a_slow_upload_goes_on,
    deflate_rubbish,
    gzip_rubbish,
    a_gzip_bomb,
    a_deflate_bomb,
    a_bomb_in_two_layers,
    chunks_without_end,
    a_long_address,
    a_long_header,
    many_headers,
    deep_json,
    a_form_without_end,
)
ALONE: Final = (more_than_may_be, half_bodies_make_room, those_at_work_stay)


async def test_nobody_uses_up_the_server(tmp_path: Path, tallied: Tallied, caplog: pytest.LogCaptureFixture) -> None:
    count = tallied("exhaustion", 25)
    async with listening(tmp_path) as at, asyncio.TaskGroup() as group:
        for one in TRIES[:10]:  # these wait
            group.create_task(tried(count, at, one))
    async with listening(tmp_path) as at:
        for one in TRIES[10:]:
            await tried(count, at, one)
    for one in ALONE:
        async with listening(tmp_path) as at:
            await tried(count, at, one)
    faults = [record.getMessage() for record in caplog.records if record.levelno >= logging.ERROR]
    count.case(not faults, f"nothing is logged as a fault: {faults}")
    count.close()


async def tried(count: Tally, at: Listening, one: Callable[[Listening], Awaitable[bool]]) -> None:
    count.case(await one(at), one.__name__)


@pytest.mark.timeout(120)
async def test_with_200_descriptors_and_1500_half_requests_people_are_served(tmp_path: Path) -> None:
    few = ("sh", "-c", 'ulimit -n 200; exec "$@"', "sh", sys.executable, "-m", "bot")
    house = House(tmp_path, command=few).start()
    place = URL(house.url)
    halves: list[asyncio.StreamWriter] = []
    try:
        for number in range(1500):
            _, writer = await asyncio.open_connection(place.host, place.port)
            writer.write(HALF)
            halves.append(writer)
            if number % 300 == 299:
                timeout = aiohttp.ClientTimeout(total=PATIENCE)
                async with aiohttp.ClientSession(timeout=timeout) as http, http.get(f"{house.url}/healthz") as answer:
                    assert answer.status == 200
        async with visiting(house.link) as owner:
            assert await owner.ask("roomabc1", "help")
        assert house.log().count("connections were cut") <= 3
        assert "Traceback" not in house.log()
        assert len(house.log()) < 20_000
    finally:
        for writer in halves:
            writer.close()
        house.kill()


async def test_each_port_hears_of_its_own_shortage_and_tells_it_once_a_minute() -> None:
    """The metrics may have a port of their own: what one meets is not told by the other, and the loop's other faults are
    told as before."""
    loop, faults = asyncio.get_running_loop(), list[dict[str, Any]]()
    loop.set_exception_handler(lambda _, context: faults.append(context))
    async with two_ports() as ports, asyncio.timeout(PATIENCE):
        with capture_logs() as told:
            for _ in range(2):
                for site in ports:
                    for _ in range(3):
                        loop.call_exception_handler(shortage_at(site))
                await asyncio.sleep(3 * SHORT.look.total_seconds())
        loop.call_exception_handler({"message": "another", "exception": OSError(errno.EMFILE, "many")})
    loop.call_exception_handler({"message": "late"})
    lines = [line["without_descriptor"] for line in told if line["event"] == "connections were cut"]
    assert lines == [3, 3]
    assert [fault["message"] for fault in faults] == ["another", "late"]


def shortage_at(site: web.BaseSite) -> dict[str, Any]:
    """What a loop tells that cannot accept on this port."""
    server = site._server  # the sockets that it listens on
    assert isinstance(server, asyncio.Server)
    error = OSError(errno.EMFILE, "Too many open files")
    return {"message": "socket.accept() out of system resource", "exception": error, "socket": server.sockets[0]}


@asynccontextmanager
async def two_ports() -> AsyncIterator[list[Site]]:
    runners = [web.AppRunner(web.Application(), access_log=None) for _ in range(2)]
    sites = []
    try:
        for runner in runners:
            await runner.setup()
            sites.append(Site(runner, "127.0.0.1", 0, Connections(SHORT)))
            await sites[-1].start()
        yield sites
    finally:
        for runner in runners:
            await runner.cleanup()


def test_descriptors_are_kept_for_the_store() -> None:
    for descriptors in (64, 200, 1024, 65_536):
        bounds = Bounds.of(descriptors, used=40)
        accepted_at_once = bounds.most + bounds.backlog
        assert bounds.of_one < bounds.most
        assert descriptors < 100 or accepted_at_once + 40 + 32 <= descriptors
