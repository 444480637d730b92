"""Places that an MCP server may name for a login."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import httpx2
import pytest

from tools.mcp.http import Homebound

ADDRESSES: Final = {
    "mcp.example.org": ["93.184.216.34"],
    "login.example.net": ["93.184.216.35", "2606:2800:220:1::1"],
    "inner.example.net": ["10.0.0.5"],
    "both.example.net": ["93.184.216.35", "169.254.169.254"],
    "wrapped.example.net": ["64:ff9b::a00:5"],
    "mcp.corp": ["10.0.0.7"],
}


async def addresses(host: str) -> Sequence[str]:
    if host not in ADDRESSES:
        raise OSError(host)
    return ADDRESSES[host]


async def reaches(home: str, url: str) -> bool:
    answering = httpx2.MockTransport(lambda _: httpx2.Response(200))
    try:
        await Homebound(home, answering, addresses).handle_async_request(httpx2.Request("GET", url))
    except httpx2.UnsupportedProtocol:
        return False
    return True


@pytest.mark.parametrize("name", ["inner", "both", "wrapped"])
async def test_a_server_outside_names_no_place_inside_for_its_login(name: str) -> None:
    assert not await reaches("https://mcp.example.org/mcp", f"https://{name}.example.net/token")


@pytest.mark.parametrize(
    ("home", "url"),
    [
        ("https://mcp.example.org/mcp", "https://login.example.net/token"),
        ("https://mcp.example.org/mcp", "https://nowhere.example.net/token"),
        ("https://mcp.corp/mcp", "https://inner.example.net/token"),
        ("https://mcp.corp/mcp", "https://mcp.corp:8443/token"),
    ],
    ids=["outside", "unknown", "inside, as the server", "the server itself"],
)
async def test_a_login_is_reached_where_it_may_be(home: str, url: str) -> None:
    assert await reaches(home, url)
