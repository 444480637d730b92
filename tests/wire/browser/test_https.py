"""Encrypted pages: the gateway sees what is asked for, and believes only whom the authorities do."""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from datetime import timedelta

import pytest
from aiohttp import web

from runtime.egress import Egress, Opening, Result, Rule
from runtime.errors import ToolFailed
from tests.wire.browser.house import NEEDS_CHROMIUM, ROOM, browsers
from tools.browser.browsers import Browsers
from tools.browser.certificates import Certificates
from tools.browser.terms import BrowserTerms

pytestmark = NEEDS_CHROMIUM
HOST = "right.example.org"
PAGE = """<h1>Encrypted</h1><p id=said></p><p id=secret></p><script>
const socket = new WebSocket(`wss://${location.host}/echo`);
socket.onopen = () => socket.send('hi');
socket.onmessage = event => { said.textContent = event.data };
fetch('/secret').then(answer => answer.text()).then(text => { secret.textContent = text });
</script>"""


async def page(_: web.Request) -> web.Response:
    return web.Response(text=PAGE, content_type="text/html")


async def echo(request: web.Request) -> web.WebSocketResponse:
    socket = web.WebSocketResponse()
    await socket.prepare(request)
    async for message in socket:
        await socket.send_str(f"you said {message.data}")
    return socket


async def secret(_: web.Request) -> web.Response:
    return web.Response(text="the secret page")


@asynccontextmanager
async def encrypted() -> AsyncIterator[tuple[Browsers, str]]:
    """Browsers, and a port at which a site speaks TLS for HOST."""
    app = web.Application()
    app.router.add_get("/", page)
    app.router.add_get("/echo", echo)
    app.router.add_get("/secret", secret)
    runner = web.AppRunner(app, access_log=None, shutdown_timeout=0.1)
    await runner.setup()
    try:
        await web.TCPSite(runner, "127.0.0.1", 0, ssl_context=Certificates().context(HOST)).start()
        port = runner.addresses[0][1]
        pem = await asyncio.to_thread(ssl.get_server_certificate, ("127.0.0.1", port))
        async with browsers(egress_to(port, ssl.create_default_context(cadata=pem)), TERMS) as made:
            yield made, f"{port}"
    finally:
        await runner.cleanup()


TERMS = BrowserTerms(load=timedelta(seconds=10))


def egress_to(port: int, tls: ssl.SSLContext) -> Egress:
    async def look_up(_: str) -> Sequence[str]:
        return ["127.0.0.1"]

    ports = frozenset({port})
    rules = [
        Rule(Result.DENY, "browser_*", path="/secret"),
        Rule(Result.ALLOW, "browser_*", method="GET", ports=ports),
    ]
    return Egress(rules, allow=[Opening.parse(f"127.0.0.1:{port}")], look_up=look_up, tls=tls)


async def test_paths_and_web_sockets_of_an_encrypted_page_go_by_the_rules_too() -> None:
    async with encrypted() as (made, port):
        session = await made.opened(ROOM)
        told = await session.open(f"https://{HOST}:{port}/")
        assert "# Encrypted" in told
        assert "you said hi" in told
        assert "the secret page" not in told
        assert "egress rule 1 denies GET" in told
        with pytest.raises(ToolFailed, match="could not prove its identity"):
            await session.open(f"https://wrong.example.org:{port}/")
