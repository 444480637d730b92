"""A fake platform and the people on it, in a process of their own.

    python -m bench.platform telegram

prints its URL, where

    GET  /account  {"account": the [[accounts]] table, "identities": [...]}: how to reach it, and everybody who is on it
    POST /load     {"chats": 50, "messages": 20}: each chat in a room of its own that nobody used before -> `load.Told`
    POST /again    {"messages": 20}: so many more of each chat of the last load -> `load.Told`
    POST /clicks   {"clicks": 20}: Approve on so many cards, one after another -> `load.Told`, until the card changes
    GET  /polled   when a bot was first listening since it was last asked, in seconds of time.time(); null for not yet

What a chat says carries a mark that its answer echoes, so an answer is seen as its request passes, on every platform.
"""

from __future__ import annotations

import argparse
import asyncio
import re
import tempfile
import time
from collections.abc import Iterator
from dataclasses import asdict
from itertools import count
from pathlib import Path
from typing import Final

from aiohttp import hdrs, web
from aiohttp.typedefs import Handler

from bench import load as talks
from bench.load import Ask, Told
from bot.testing.serve import serve_until_told
from tests.contract.adapters.catalogue import RIGS
from tests.contract.adapters.rig import WATCHING, OnScreen, Place, Rig

PLACES: Final = 2_000  # rooms that nobody used before: more than all loads of one run
PATIENCE: Final = 60.0  # seconds for one reply
MARK: Final = re.compile(rb"zq(\d+)qz")  # survives every dialect and every way of encoding a request
SHOWS: Final = re.compile(
    r"/(sendMessage|editMessageText|chat\.(postMessage|update|stopStream)|messages(/\d+)?|interactions/.*/callback)$"
)
APPROVE: Final = "Approve"
CALM: Final = 0.05  # seconds: what follows a card is over before it is answered
LISTENS: Final = re.compile(r"/getUpdates$")


class Watch:
    """Sees each request to the fake: which answer it shows, and whether it is a bot's that listens."""

    def __init__(self) -> None:
        self.polled_at: float | None = None
        self._waiting: dict[int, asyncio.Event] = {}
        self._numbers = count()

    def mark(self) -> tuple[str, asyncio.Event]:
        """A mark for something to be said, and when its answer is shown."""
        number, shown = next(self._numbers), asyncio.Event()
        self._waiting[number] = shown
        return f"zq{number}qz", shown

    def again(self, mark: str) -> asyncio.Event:
        """When something with this mark is shown or changed once more."""
        found = MARK.fullmatch(mark.encode())
        assert found
        return self._waiting.setdefault(int(found[1]), asyncio.Event())

    @web.middleware
    async def see(self, request: web.Request, handler: Handler) -> web.StreamResponse:
        if self.polled_at is None and listens(request):
            self.polled_at = time.time()
        body = await request.read() if SHOWS.search(request.path) and not is_form(request) else b""
        answer = await handler(request)
        if (found := MARK.search(body)) and answer.status < 300 and (shown := self._waiting.pop(int(found[1]), None)):
            shown.set()
        return answer


def listens(request: web.Request) -> bool:
    return request.headers.get(hdrs.UPGRADE, "").lower() == "websocket" or bool(LISTENS.search(request.path))


def is_form(request: web.Request) -> bool:
    """A form with files is read by the fake itself, once."""
    return request.content_type == "multipart/form-data" or request.method == hdrs.METH_GET


class Crowd:
    """The people, each in a room that nobody used before."""

    def __init__(self, rig: Rig, watch: Watch) -> None:
        self._rig = rig
        self._watch = watch
        self._places: Iterator[Place] = iter(rig.places(PLACES))
        self._here = talks.Crowd([])

    def app(self) -> web.Application:
        app = web.Application()
        app.add_routes(
            [
                web.get("/account", self._account),
                web.post("/load", self._load),
                web.post("/again", self._again),
                web.post("/clicks", self._clicks),
                web.get("/polled", self._polled),
            ]
        )
        return app

    async def _account(self, request: web.Request) -> web.Response:
        identities = sorted({place.user for place in self._rig.places(PLACES)})
        return web.json_response({"account": dict(self._rig.settings()), "identities": identities})

    async def _load(self, request: web.Request) -> web.Response:
        self._here = talks.Crowd([self._chat(next(self._places)) for _ in range((await request.json())["chats"])])
        return await self._again(request)

    async def _again(self, request: web.Request) -> web.Response:
        return web.json_response(asdict(await self._here.round((await request.json())["messages"])))

    async def _clicks(self, request: web.Request) -> web.Response:
        began, used = time.perf_counter(), time.process_time()
        times = [await self._click(next(self._places)) for _ in range((await request.json())["clicks"])]
        told = Told(len(times), time.perf_counter() - began, time.process_time() - used, times)
        return web.json_response(asdict(told))

    async def _click(self, place: Place) -> float:
        """Have a card put, and press Approve on it: seconds until it changes."""
        mark, shown = self._watch.mark()
        async with asyncio.timeout(PATIENCE):
            await self._rig.say(place, f"write hello to {mark}")
            await shown.wait()
            card = await self._card(place, mark)
            await asyncio.sleep(CALM)
            changed, began = self._watch.again(mark), time.perf_counter()
            await self._rig.click(place, card, APPROVE)
            await changed.wait()

        return time.perf_counter() - began

    async def _card(self, place: Place, mark: str) -> OnScreen:
        while True:
            for message in await self._rig.visible(place):
                if mark in message.text and any(press.label == APPROVE for press in message.buttons):
                    return message
            await asyncio.sleep(CALM)

    async def _polled(self, request: web.Request) -> web.Response:
        at, self._watch.polled_at = self._watch.polled_at, None
        return web.json_response({"at": at})

    def _chat(self, place: Place) -> Ask:
        async def ask(words: str) -> None:
            mark, shown = self._watch.mark()
            await self._rig.say(place, f"{words} {mark}")
            async with asyncio.timeout(PATIENCE):
                await shown.wait()

        return ask


async def serve(name: str) -> None:
    watch = Watch()
    WATCHING.set((watch.see,))
    with tempfile.TemporaryDirectory() as folder:
        async with RIGS[name](Path(folder)) as rig:
            await serve_until_told(Crowd(rig, watch).app(), 0)


def main() -> None:
    parser = argparse.ArgumentParser(description="A fake platform and its people.")
    parser.add_argument("name", choices=list(RIGS))
    asyncio.run(serve(parser.parse_args().name))


if __name__ == "__main__":
    main()
