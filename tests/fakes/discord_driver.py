"""The test's hand on the fake Discord: it speaks as people do, puts faults in the way and looks at the screen."""

from __future__ import annotations

import base64
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import aiohttp

from tests.fakes.discord_faults import Do
from tests.fakes.discord_world import BOT, Record


@dataclass(frozen=True, slots=True)
class Screen:
    """All there is, as the fake tells it."""

    raw: Record

    def posts(self, channel: str | None = None) -> list[Record]:
        """The bot's messages, oldest first."""
        own = [m for m in self.raw["messages"] if m["author"]["id"] == BOT]
        return [message for message in own if channel in (None, message["channel_id"])]

    def texts(self, channel: str | None = None) -> list[str]:
        return [message["content"] for message in self.posts(channel)]

    def answers(self, interaction: str) -> list[Record]:
        return [answer for answer in self.raw["answers"] if answer["interaction"] == interaction]


@dataclass(frozen=True, slots=True)
class Driver:
    """Drives the fake at `url`. What is done gives its `event`, under which it can be done again, and its `id`."""

    url: str

    async def say(
        self,
        text: str,
        *,
        channel: str = "dm",
        user: str = "42",
        files: Mapping[str, bytes] | None = None,
        **more: Any,
    ) -> Record:
        encoded = {name: base64.b64encode(content).decode() for name, content in (files or {}).items()}
        return await self.do("message", text=text, channel=channel, user=user, files=encoded, **more)

    async def click(self, message: str, custom_id: str, *, user: str = "42") -> Record:
        return await self.do("click", message=message, custom_id=custom_id, user=user)

    async def command(self, name: str, *, channel: str = "dm", user: str = "42", **options: str) -> Record:
        return await self.do("command", name=name, channel=channel, user=user, options=options)

    async def do(self, kind: str, **more: Any) -> Record:
        return await self._call("POST", "/inject", {"type": kind, **more})

    async def fault(self, do: Do | str, *, count: int = 1, seconds: float = 0, on: str = "send") -> None:
        """The next `count` calls of that kind meet this fault; faults strike in the order they were asked for."""
        await self._call("POST", "/faults", {"do": Do(do), "count": count, "seconds": seconds, "on": on})

    async def set(self, **what: Any) -> None:
        """Set faults that last until lifted, or cause one at once: see `tests.fakes.discord`."""
        await self._call("POST", "/faults", what)

    async def lift(self) -> None:
        await self._call("DELETE", "/faults")

    async def screen(self) -> Screen:
        return Screen(await self._call("GET", "/visible"))

    async def _call(self, method: str, path: str, body: object = None) -> Record:
        async with (
            aiohttp.ClientSession() as http,
            http.request(method, self.url + path, json=body) as response,
        ):
            if response.status != 200:
                raise RuntimeError(f"{response.status} {await response.text()}")
            answer: Record = await response.json()
            return answer
