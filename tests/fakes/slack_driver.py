"""The test's hand on the fake Slack: it speaks as people do, puts faults in the way and looks at the screen."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import aiohttp

from tests.fakes.slack_faults import Do
from tests.fakes.slack_teams import BOT_USER

Told = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Screen:
    """The answer of `/visible`; see tests.fakes.slack."""

    raw: Told

    def ours(self, channel: str | None = None, *, thread: str | None = None) -> list[Told]:
        """Our messages, oldest first: all, those of a channel, or those of a thread of it."""
        return [
            m
            for m in self.raw["messages"]
            if m["bot_id"] == "B0BOT"
            and channel in (None, m["channel"])
            and thread in (None, m["thread_ts"] or m["ts"])
        ]

    def texts(self, channel: str | None = None) -> list[str]:
        return [text_of(message) for message in self.ours(channel)]

    def calls(self, *methods: str) -> list[Told]:
        """The arguments of the calls that came through, of these methods or of all."""
        return [args for method, args in self.raw["calls"] if not methods or method in methods]

    @property
    def notices(self) -> list[Told]:
        return list(self.raw["notices"])


def text_of(message: Told) -> str:
    """The text a person reads in a message: that of its blocks, if it has any."""
    blocks = message["blocks"]
    return "\n".join(filter(None, map(_block_text, blocks))) if blocks else str(message["text"])


def _block_text(block: Told) -> str:
    match block["type"]:
        case "markdown":
            return str(block["text"])
        case "section":
            return str(block["text"]["text"])
        case "plan":
            return "\n".join([block["title"], *(f"{task['status']}: {task['title']}" for task in block["tasks"])])
        case "context":
            return " ".join(str(element["text"]) for element in block["elements"])
        case _:
            return ""


@dataclass(frozen=True, slots=True)
class Driver:
    """Drives the fake Slack at `url`."""

    url: str

    async def say(self, text: str, *, channel: str = "DU1", user: str = "U1", **more: Any) -> Told:
        """`user` writes; the first event of it, with `channel`, `ts` and `id`."""
        return await self.do("message", text=text, channel=channel, user=user, **more)

    async def mention(self, text: str, *, channel: str = "C1", **more: Any) -> Told:
        return await self.say(f"<@{BOT_USER}> {text}", channel=channel, **more)

    async def do(self, kind: str, **more: Any) -> Told:
        told = await self._call("POST", "/inject", {"type": kind, **more})
        first: Told = told["events"][0]
        return first

    async def fault(
        self, do: Do | str, *, count: int = 1, seconds: float = 0, on: str = "send", error: str = ""
    ) -> None:
        """The next `count` calls meet this fault; faults strike in the order they were asked for."""
        await self._call(
            "POST", "/faults", {"do": Do(do), "count": count, "seconds": seconds, "on": on, "error": error}
        )

    async def switch(self, **switches: Any) -> None:
        """`away`, `token`, `without`, `lag`, `share`, `twice`, `expire_streams`: see tests.fakes.slack_faults."""
        await self._call("POST", "/faults", switches)

    async def lift(self) -> None:
        await self._call("DELETE", "/faults")

    async def sockets(self, do: str | None = None, **pace: Any) -> Told:
        """Do something to the sockets or change their pace; the numbers of sockets open and ever opened."""
        return await self._call("POST", "/sockets", {**({"do": do} if do else {}), **pace})

    async def hook(self, url: str, *, team: str = "T1") -> None:
        await self._call("POST", "/hooks", {"team": team, "url": url})

    async def screen(self) -> Screen:
        return Screen(await self._call("GET", "/visible"))

    async def _call(self, method: str, path: str, body: object = None) -> Told:
        async with (
            aiohttp.ClientSession(raise_for_status=True) as http,
            http.request(method, self.url + path, json=body) as response,
        ):
            answer: Told = await response.json()
            return answer
