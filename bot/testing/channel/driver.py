"""The test's hand on the fake channel: it speaks as people do, puts faults in the way and looks at the screen."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import aiohttp

from bot.testing.channel.board import Body, Post
from bot.testing.channel.faults import Do


@dataclass(frozen=True, slots=True)
class Screen:
    """Messages on screen in the order shown, private notices, number of sends that arrived, and the last acked event."""

    posts: list[Post]
    notices: list[dict[str, str]]
    sends: int
    acked: int = 0

    def texts(self, room: str | None = None) -> list[str]:
        return [post.body.text for post in self.posts if room in (None, post.room)]


@dataclass(frozen=True, slots=True)
class Driver:
    """Drives the fake channel at `url`."""

    url: str

    async def say(self, text: str, *, room: str = "r1", user: str = "ada", **more: Any) -> dict[str, Any]:
        """`user` writes `text`; pass the `id` of an earlier event to deliver that event again."""
        return await self._call("POST", "/inject", {"text": text, "room": room, "user": user, **more})

    async def click(
        self, approval_id: str, choice: str, *, room: str = "r1", user: str = "ada", **more: Any
    ) -> dict[str, Any]:
        event = {"type": "click", "approval_id": approval_id, "choice": choice, "room": room, "user": user}
        return await self._call("POST", "/inject", {**event, **more})

    async def stop(self, *, room: str = "r1", user: str = "ada", **more: Any) -> dict[str, Any]:
        return await self._call("POST", "/inject", {"type": "stop", "room": room, "user": user, **more})

    async def inject(self, event: dict[str, Any]) -> dict[str, Any]:
        """An event as it is."""
        return await self._call("POST", "/inject", event)

    async def fault(self, do: Do | str, *, count: int = 1, seconds: float = 0, on: str = "send") -> None:
        """The next `count` sends or edits meet this fault; faults strike in the order they were asked for."""
        await self._call("POST", "/faults", {"do": Do(do), "count": count, "seconds": seconds, "on": on})

    async def away(self, away: bool = True) -> None:
        await self._call("POST", "/faults", {"away": away})

    async def lift(self) -> None:
        await self._call("DELETE", "/faults")

    async def screen(self) -> Screen:
        raw = await self._call("GET", "/visible")
        posts = [Post(m["id"], m["room"], Body.of(m), m["key"], m["marker"], m["version"]) for m in raw["messages"]]
        return Screen(posts, raw["notices"], raw["sends"], raw["acked"])

    async def _call(self, method: str, path: str, body: object = None) -> dict[str, Any]:
        async with (
            aiohttp.ClientSession(raise_for_status=True) as http,
            http.request(method, self.url + path, json=body) as response,
        ):
            answer: dict[str, Any] = await response.json()
            return answer
