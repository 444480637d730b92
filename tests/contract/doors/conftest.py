"""One process with doors for programs, on each engine."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from tests.contract.database import EmptyDatabase
from tests.security.running import Running, running

SETTINGS = (
    'database_url = "{url}"\n[web]\nport = 0\n[operators]\nroom = "web:main/alarms"\n'
    '[[agents]]\nname = "ops"\nprompt = "You help."\n[[agents]]\nname = "finance"\nprompt = "You count."\n'
)


@dataclass
class Answered:
    status: int
    body: Any
    headers: Mapping[str, str]


@dataclass
class Doors:
    """The process, and programs with their tokens by name."""

    house: Running
    tokens: dict[str, str] = field(default_factory=dict)

    async def make(self, name: str, role: str = "user", **given: Any) -> str:
        made: str = (await self.house.api.make_token(name, role, **given))["token"]
        self.tokens[name] = made
        return made

    async def ask(self, who: str, method: str, path: str, body: object = None, **headers: str) -> Answered:
        """A request of a program; without one of our headers for browsers."""
        given = {name.replace("_", "-"): value for name, value in headers.items()}
        if who in self.tokens:
            given["Authorization"] = f"Bearer {self.tokens[who]}"
        async with self.house.session.request(method, self.house.url + path, headers=given, json=body) as answer:
            text = await answer.text()
            told = json.loads(text) if "json" in answer.content_type else text
            return Answered(answer.status, told, answer.headers)

    async def say(self, who: str, room: str, text: str, key: str = "", **more: object) -> Answered:
        headers = {"Idempotency_Key": key} if key else {}
        return await self.ask(who, "POST", f"/api/v1/rooms/{room}/messages", {"text": text, **more}, **headers)

    async def answered(self, who: str, message: str) -> Any:
        return (await self.ask(who, "GET", f"/api/v1/messages/{message}?wait=20")).body


@pytest.fixture(params=["file", "postgres"])
def url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    if request.param == "file":
        return f"sqlite:///{tmp_path / 'signalbox.db'}"
    database: EmptyDatabase = request.getfixturevalue("database")
    return database.emptied()


@pytest.fixture
async def doors(url: str, tmp_path: Path) -> AsyncIterator[Doors]:
    async with running(tmp_path, SETTINGS.format(url=url)) as house:
        yield Doors(house)
