"""A chat platform for one test: people write there, the agent answers, and the test looks at the screen."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import timedelta
from typing import Any, Final

from bot.testing.channel.adapter import FakeAdapter
from bot.testing.channel.board import Post
from bot.testing.channel.driver import Driver
from bot.testing.channel.server import Channel, ChannelKind
from bot.testing.serve import serving
from runtime.contract import AdapterContext, ChannelAdapter

SCREEN_LOOK: Final = timedelta(seconds=0.02)
PLATFORM_PAUSE: Final = timedelta(seconds=0.05)
NOT_SHOWN: Final = "{text!r} was not shown within {seconds:g} s. On the screen: {screen}"
NO_BUTTON: Final = "No message has a button {label!r}. There are: {labels}"


@dataclass(frozen=True, slots=True)
class Platform(Driver):
    """People and the screen of a fake platform. `adapters` joins an agent to it: `scripted_agent(…, adapters=platform.adapters)`."""

    kind: ChannelKind = ChannelKind.KEY

    def adapters(self, given: AdapterContext) -> Sequence[ChannelAdapter]:
        return [FakeAdapter(base_url=self.url, kind=self.kind, pause=PLATFORM_PAUSE, now=given.now)]

    async def shown(self, text: str, *, room: str = "r1", within: float = 20) -> Post:
        """The first message with `text` in it, once it is on the screen. Errors: AssertionError."""
        return await self._post(lambda post: text in post.body.text and post.room == room, text, within)

    async def press(self, label: str, *, room: str = "r1", user: str = "ada", within: float = 20) -> None:
        """Somebody presses the newest button of that label, once there is one. Errors: AssertionError."""
        post = await self._post(lambda post: post.room == room and label in labels_on(post), label, within)
        approval, choice, _ = next(one for one in post.body.buttons if one[2] == label)
        await self.click(approval, choice, room=room, user=user)

    async def _post(self, fits: Any, wanted: str, within: float) -> Post:
        try:
            async with asyncio.timeout(within):
                while True:
                    posts = (await self.screen()).posts
                    if found := next((post for post in reversed(posts) if fits(post)), None):
                        return found
                    await asyncio.sleep(SCREEN_LOOK.total_seconds())
        except TimeoutError:
            screen = [(post.room, post.body.text, labels_on(post)) for post in posts]
            raise AssertionError(NOT_SHOWN.format(text=wanted, seconds=within, screen=screen)) from None


def labels_on(post: Post) -> list[str]:
    """Labels of the buttons of a message."""
    return [label for _, _, label in post.body.buttons]


@asynccontextmanager
async def chat_platform(kind: ChannelKind | str = ChannelKind.KEY) -> AsyncIterator[Platform]:
    """A platform inside the test's own loop. `kind` says how it lets an uncertain message be settled."""
    chosen = ChannelKind(kind)
    async with serving(Channel(kind=chosen).app()) as url:
        yield Platform(url, chosen)
