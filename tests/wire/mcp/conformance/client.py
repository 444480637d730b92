"""Our client as the conformance suite runs it: `python -m tests.wire.mcp.conformance.client URL`.

The suite names its scenario and hands over what an operator would set; questions of the server are answered as a person
would who takes what is offered. All that speaks to the server is `tools.mcp`.
"""

from __future__ import annotations

import asyncio
import json
import os
import sys
from collections.abc import Mapping
from datetime import timedelta
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final
from urllib.parse import parse_qs, urlsplit

import httpx2

from runtime.contract import Json
from tools.mcp.asked.fields import offered
from tools.mcp.asked.needs import GoesOn, Needs
from tools.mcp.connection import Connection
from tools.mcp.oauth.grants import Grant, Login, Return
from tools.mcp.offers import Offer, taken
from tools.mcp.results import Answer
from tools.mcp.server import opened
from tools.mcp.terms import Endpoint, ServerTerms

DOCUMENT: Final = "https://conformance-test.local/client-metadata.json"
WITHIN: Final = timedelta(minutes=3)
MOST_ROUNDS: Final = 10
ECHO: Final = "json_schema_echo"
VALUES: Final[Mapping[str, Json]] = {"string": "test", "number": 1, "integer": 1, "boolean": True}


class Held:
    """Implements Grants for one process."""

    def __init__(self) -> None:
        self._grant: Grant | None = None

    async def read(self, url: str) -> Grant | None:
        return self._grant

    async def write(self, grant: Grant) -> None:
        self._grant = grant

    async def claim(self, known: Grant) -> bool:
        return self._grant == known

    async def free(self, *, refused: bool) -> None:
        pass


async def browse(address: str) -> Return:
    """Go to the login page as a browser would, where everybody is let in."""
    async with httpx2.AsyncClient(trust_env=False) as browser:
        response = await browser.get(address)
    asked = parse_qs(urlsplit(response.headers["location"]).query)
    return Return(asked["code"][0], asked.get("state", [None])[0], asked.get("iss", [None])[0])


def terms_of(url: str, given: Mapping[str, Any], folder: Path) -> ServerTerms:
    login = Login(
        "suite",
        Held(),
        client_id=given.get("client_id") or DOCUMENT,
        client_secret=given.get("client_secret", ""),
        back="http://127.0.0.1:3000/callback",
        ask=browse,
    )
    return ServerTerms("suite", Endpoint(url, login=login), folder / "suite.json")


async def call(connection: Connection, name: str, arguments: Mapping[str, Json]) -> Answer:
    """One call to its end, with each question answered."""
    outcome = await connection.call(name, arguments)
    for _ in range(MOST_ROUNDS):
        if not isinstance(outcome, Needs):
            return outcome
        answers = {key: offered(params) for key, params in outcome.questions.items()}
        match outcome.goes_on:
            case GoesOn.HELD:
                (answer,) = answers.values()
                outcome = await connection.go_on(outcome.held, answer)
            case GoesOn.AGAIN_WITH:
                outcome = await connection.call(name, arguments, outcome.with_ours(answers), outcome.state)
            case GoesOn.AGAIN:
                outcome = await connection.call(name, arguments)
    raise RuntimeError("it asks without an end")


def arguments_for(offer: Offer, offers: list[Offer]) -> dict[str, Json]:
    """Something for each argument that must be there; one that wants a schema gets that of the other tool, as models do."""
    if offer.name == ECHO:
        terms = ServerTerms("suite", Endpoint(""), Path())
        return {"schema": dict(next(one for one in taken(offers, terms)[0] if one.name != ECHO).schema)}
    properties: Any = offer.schema.get("properties") or {}
    required: Any = offer.schema.get("required") or ()
    return {name: VALUES.get(properties.get(name, {}).get("type"), "test") for name in required}


async def run(url: str, given: Mapping[str, Any]) -> None:
    with TemporaryDirectory() as folder:
        async with opened(terms_of(url, given, Path(folder)), WITHIN) as (connection, offers):
            chosen = given.get("toolCalls") or [
                {"name": offer.name, "arguments": arguments_for(offer, offers)} for offer in offers
            ]
            for one in chosen:
                await call(connection, one["name"], one.get("arguments") or {})
            if not chosen:
                await connection.offers()


if __name__ == "__main__":
    asyncio.run(run(sys.argv[-1], json.loads(os.environ.get("MCP_CONFORMANCE_CONTEXT") or "{}")))
