"""Models that a server of one's own has: its `/v1/models` is asked, as Ollama, llama.cpp, vLLM and LM Studio have it."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta
from ipaddress import ip_address
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import urlsplit

if TYPE_CHECKING:
    from runtime.models.settings import ModelSettings

PATIENCE: Final = timedelta(seconds=5)
NAMED_MOST: Final = 12
LATEST: Final = ":latest"
"""What Ollama writes behind a name that has no version."""


def is_local(api_base: str) -> bool:
    """Check whether an address is on this machine or its network."""
    host = urlsplit(api_base).hostname or ""
    try:
        address = ip_address(host)
    except ValueError:
        return bool(host) and ("." not in host or host.endswith((".localhost", ".local", ".internal", ".lan")))
    return address.is_loopback or address.is_private


async def missing_there(given: ModelSettings, *, patience: timedelta = PATIENCE) -> str:
    """A sentence where the local server of a model doesn't have it; empty where it has, or doesn't tell."""
    if not is_local(given.api_base):
        return ""
    names = await served(given.api_base, next(iter(given.keys), ""), patience=patience)
    wanted = given.name.partition("/")[2] or given.name
    if names is None or {wanted, wanted + LATEST} & set(names):
        return ""
    shown = ", ".join(names[:NAMED_MOST]) + (", …" if len(names) > NAMED_MOST else "")
    return f"The server at {given.api_base} has no model {wanted}. It has: {shown or 'none'}."


async def served(api_base: str, key: str, *, patience: timedelta = PATIENCE) -> Sequence[str] | None:
    """Names of the models of a server; None where it can't be reached or doesn't list them."""
    import aiohttp

    base = api_base.rstrip("/")
    url = f"{base}/models" if base.endswith("/v1") else f"{base}/v1/models"
    headers = {"Authorization": f"Bearer {key}"} if key else {}
    try:
        async with (
            aiohttp.ClientSession(timeout=aiohttp.ClientTimeout(patience.total_seconds())) as session,
            session.get(url, headers=headers) as answer,
        ):
            return names_in(await answer.json(content_type=None)) if answer.status == 200 else None
    except (aiohttp.ClientError, TimeoutError, ValueError):
        return None


def names_in(listed: Any) -> Sequence[str] | None:
    """Names in an answer of `/v1/models`; None where it is no such answer.

    >>> names_in({"data": [{"id": "llama3:latest"}]})
    ['llama3:latest']
    """
    rows = listed.get("data") if isinstance(listed, dict) else None
    if not isinstance(rows, list):
        return None
    return [str(row["id"]) for row in rows if isinstance(row, dict) and "id" in row]
