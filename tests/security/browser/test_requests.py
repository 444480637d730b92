"""Requests of a page in the browser: each that its site allows arrives, and none at an address that must not be reached."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from pathlib import Path

from aiohttp import web

from bot.testing.serve import serving
from runtime.egress import Egress, Opening, Result, Rule
from tests.security.browser.page import UNASKED, WAYS, html
from tests.security.browser.trap import own_address, trap
from tests.wire.browser.house import NEEDS_CHROMIUM, ROOM, browsers

pytestmark = NEEDS_CHROMIUM


class Site:
    """A site that serves the page, and keeps which ways asked it."""

    def __init__(self) -> None:
        self.asked: list[str] = []
        self.places: Sequence[str] = ()

    def app(self) -> web.Application:
        app = web.Application()
        app.router.add_route("*", "/{path:.*}", self._answer)
        return app

    async def _answer(self, request: web.Request) -> web.Response:
        path = request.path.strip("/")
        if path in ("to", "to307"):
            raise (
                web.HTTPFound(request.query_string) if path == "to" else web.HTTPTemporaryRedirect(request.query_string)
            )
        if path == "page":
            return web.Response(text=html(str(request.url.origin()), self.places), content_type="text/html")
        if path == "service.js":
            fetching = f"fetch('http://{self.places[0]}/service')"
            return web.Response(text=fetching, content_type="text/javascript")
        self.asked.append(path)
        kind = "text/css" if path in ("css", "import") else "text/javascript" if "script" in path else "text/plain"
        return web.Response(text="", content_type=kind)


async def test_no_request_of_a_page_reaches_an_address_that_must_not_be_reached() -> None:
    async def look_up(host: str) -> Sequence[str]:
        """A name that is this machine's, one that also is, and no other."""
        own = {"inside.example.org": ["127.0.0.1"], "mixed.example.org": ["93.184.215.14", "127.0.0.1"]}
        return own.get(host, [])

    site = Site()
    async with trap() as caught, serving(site.app()) as own:
        hosts = (
            "127.0.0.1",
            own_address(),
            "2130706433",
            "[::1]",
            "localhost",
            "inside.example.org",
            "mixed.example.org",
        )
        places = [f"{host}:{caught.port}" for host in hosts] + ["169.254.169.254", "10.0.0.1", "[fd00:ec2::254]"]
        site.places = places
        port = int(own.rpartition(":")[2])
        rules = [Rule(Result.ALLOW, method="GET", ports=frozenset({80, 443, port, caught.port}))]
        egress = Egress(rules, allow=[Opening.parse(f"127.0.0.1:{port}")], look_up=look_up)
        async with browsers(egress) as made:
            session = await made.opened(ROOM)
            told = await session.open(f"{own}/page")
    assert "Ways out" in told
    assert "[Refused: " in told
    assert caught.caught == []
    tried = {way for way in WAYS if way in site.asked}
    assert set(WAYS) - UNASKED - {"beacon"} <= tried  # a beacon is a POST, which no rule here allows


async def test_what_the_browser_sees_is_no_file_process_or_network_of_ours(tmp_path: Path) -> None:
    (tmp_path / "secret").write_text("ours")
    async with browsers(Egress()) as made:
        session = await made.opened(ROOM)
        pid = made.pid(ROOM)
        below = await asyncio.to_thread(_inside, pid)
        seen = await asyncio.to_thread(_seen, below, tmp_path)
        assert seen == ([], ["lo"], False)
        assert session.name


def _seen(process: int, ours: Path) -> tuple[list[str], list[str], bool]:
    """Places of ours that a process sees, its network devices, and whether a variable of it speaks of us."""
    folder = Path("/proc", str(process))
    places = [place for place in ("root", "home", str(ours).lstrip("/")) if (folder / "root" / place).exists()]
    assert (folder / "ns/net").readlink() != Path("/proc/self/ns/net").readlink()
    devices = [line.split(":")[0].strip() for line in (folder / "net/dev").read_text().splitlines()[2:]]
    return places, devices, b"signalbox" in (folder / "environ").read_bytes().lower()


def _inside(pid: int) -> int:
    """The innermost first child of a process."""
    while children := Path("/proc", str(pid), "task", str(pid), "children").read_text().split():
        pid = int(children[0])
    return pid
