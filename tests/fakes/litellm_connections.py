"""LiteLLM keeps a client for each server that it asked, and closes none. In a test process they would outlive their loops."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import Any


def end_connections() -> None:
    """Close connections of event loops that are closed: whoever collects garbage next would be told of them."""
    if (litellm := sys.modules.get("litellm")) is None:
        return
    cached = getattr(litellm, "in_memory_llm_clients_cache", None)  # not there while it is being loaded
    for session in _sessions([] if cached is None else [*cached.cache_dict.values()]):
        if session.closed or not session._loop.is_closed():
            continue
        for kept in [one for every in session._connector._conns.values() for one in every]:
            _end(kept[0].transport)
        session._connector._conns.clear()
        session._connector = None  # it counts as closed


def _sessions(clients: list[Any]) -> Iterator[Any]:
    import aiohttp  # loaded long since, where there is a client

    for client in clients:
        http = getattr(client, "client", None) or getattr(client, "_client", None)
        session = getattr(getattr(http, "_transport", None), "client", None)
        if isinstance(session, aiohttp.ClientSession):
            yield session


def _end(transport: Any) -> None:
    """A transport of a closed loop cannot close itself."""
    if transport is not None and (socket := transport._sock) is not None:
        socket.close()
        transport._sock = None
