"""The test's hand on the fake Telegram: it speaks as people do, puts faults in the way and looks at the screen."""

from __future__ import annotations

import base64
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import aiohttp

from tests.fakes.telegram_faults import Do

ADA, BOB = 11, 12


@dataclass(frozen=True, slots=True)
class Driver:
    """Drives the fake at `url`."""

    url: str

    async def say(self, text: str, *, chat: int = ADA, user: int = ADA, **more: Any) -> dict[str, Any]:
        """`user` writes `text` in `chat`."""
        return await self.inject(type="message", chat=chat, user=user, text=text, **more)

    async def click(
        self, message_id: int, data: str, *, chat: int = ADA, user: int = ADA, **more: Any
    ) -> dict[str, Any]:
        return await self.inject(type="click", chat=chat, user=user, message_id=message_id, data=data, **more)

    async def inject(self, **asked: Any) -> dict[str, Any]:
        return await self._call("POST", "/inject", asked)

    async def fault(self, do: Do | str, *, count: int = 1, seconds: float = 0, on: str = "send", chat: int = 0) -> None:
        await self.switch(do=Do(do), count=count, seconds=seconds, on=on, chat=chat)

    async def switch(self, **asked: Any) -> None:
        """`away`, `token`, `limits`, `privacy`, `drop`, `deaf`."""
        await self._call("POST", "/faults", asked)

    async def lift(self) -> None:
        await self._call("DELETE", "/faults")

    async def screen(self) -> dict[str, Any]:
        return await self._call("GET", "/visible")

    async def shown(self, chat: int = ADA) -> list[dict[str, Any]]:
        """The bot's messages in a chat, in the order of their ids."""
        found = [m for m in (await self.screen())["messages"] if m["chat"]["id"] == chat]
        return sorted(found, key=lambda message: int(message["message_id"]))

    async def texts(self, chat: int = ADA) -> list[str]:
        return [message.get("text") or message.get("caption") or "" for message in await self.shown(chat)]

    async def _call(self, method: str, path: str, body: Mapping[str, Any] | None = None) -> dict[str, Any]:
        async with (
            aiohttp.ClientSession(raise_for_status=True) as http,
            http.request(method, self.url + path, json=body) as response,
        ):
            answer: dict[str, Any] = await response.json()
            return answer


def attached(
    name: str, content: bytes, *, kind: str = "document", mime: str = "text/plain", **more: Any
) -> dict[str, Any]:
    """A file that somebody sends."""
    return {"name": name, "content": base64.b64encode(content).decode(), "as": kind, "mime": mime, **more}
