"""Files of a chat platform in the whole program: settings, composition root, demo model, courier."""

from __future__ import annotations

import asyncio
import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

from bot.server.app import App, build
from bot.server.process import serving
from bot.settings.settings import Settings, load
from runtime.contract import (
    CONNECTED,
    AdapterContext,
    Address,
    Attempt,
    ConnectionStatus,
    Delivery,
    Features,
    FileRef,
    Identity,
    Part,
    Progress,
    Receipt,
    Said,
    Settled,
    SettleResult,
    Signal,
    Sink,
    Wire,
)
from runtime.errors import Rejected

PNG: Final = b"\x89PNG\r\n\x1a\n" + bytes(9)
WORDS: Final = "words " * 400


class Post:
    """A platform of one letter, and of what is sent back."""

    channel, account, identity = "post", "main", "post-1"

    def __init__(self, given: AdapterContext, letter: Said) -> None:
        self.shown: list[str] = []
        self._given = given
        self._letter = letter

    def features(self) -> Features:
        return Features(fetch=self.fetch)

    async def listen(self, sink: Sink) -> None:
        address = Address(self.channel, self.identity, "desk")
        ada = Identity("post:ada")
        await sink(Signal(self.identity, "1", ada, "Ada", address, self._letter, datetime.now(UTC)))
        await asyncio.Event().wait()

    def render(self, delivery: Delivery) -> list[Wire]:
        content = delivery.content
        if content.text_file is None:
            return [Wire(json.dumps([content.text, ""]))]
        return [Wire(json.dumps(["see the file", content.text_file.path]), json.dumps([content.text, ""]))]

    async def show(self, part: Part) -> Receipt:
        text, path = json.loads(part.body)
        if path:
            with self._given.workspaces.open(part.address, path) as file:
                text += ": " + file.read().decode()
        self.shown.append(text)
        return Receipt(str(len(self.shown)))

    async def edit(self, receipt: Receipt, part: Part) -> Receipt:
        raise AssertionError("nothing is edited here")

    async def settle(self, part: Part, attempt: Attempt) -> Settled:
        return SettleResult.UNKNOWN

    def progress(self, address: Address, event: Progress) -> None:
        pass

    def standing(self) -> ConnectionStatus:
        return CONNECTED

    async def fetch(self, file: FileRef, into: Path, *, most: int) -> None:
        if file.remote == "gone":
            raise Rejected("the sender took it back")
        into.write_bytes(PNG)  # noqa: ASYNC240 - a few bytes


async def shown(folder: Path, letter: Said, **more: object) -> str:
    """What comes back for a letter."""
    posts: list[Post] = []

    def adapters(given: AdapterContext) -> list[Post]:
        posts.append(Post(given, letter))
        return posts

    async def with_post(settings: Settings) -> App:
        return await build(settings, adapters=adapters)

    changes = {name.replace("__", "."): value for name, value in more.items()}
    overrides = {"web.port": 0, "access.default": "allow", "data_dir": str(folder), **changes}
    async with serving(load(overrides=overrides, environ={}), make=with_post, with_link=False), asyncio.timeout(20):
        while not posts[0].shown:  # noqa: ASYNC110 - a plain list reads better here
            await asyncio.sleep(0.02)
    return posts[0].shown[0]


async def test_an_image_comes_all_the_way_to_the_model(tmp_path: Path) -> None:
    text = await shown(tmp_path, Said("", (FileRef("photo", "", len(PNG), "id", "image/jpeg"),)))
    assert text.startswith("I was shown `inbox/")
    assert "/photo` (image/png)" in text


async def test_settings_bound_what_is_taken_and_the_model_is_told(tmp_path: Path) -> None:
    file = FileRef("film.mp4", "", 1_100_000, "id")
    assert "at most 1,048,576 are allowed" in await shown(tmp_path, Said("hello", (file,)), sessions__file_mib=1)


async def test_what_is_gone_is_told(tmp_path: Path) -> None:
    text = await shown(tmp_path, Said("hello", (FileRef("a", "", 1, "gone"),)))
    assert "/a` didn't arrive: the sender took it back." in text
    assert "now. Say" not in text


async def test_a_voice_note_is_heard_by_the_command_of_the_settings(tmp_path: Path) -> None:
    voice = Said("", (FileRef("voice.ogg", "", 5, "id", "audio/ogg"),))
    command = ["sh", "-c", 'test -s "$1" && echo these are the words', "sh"]
    assert "> these are the words" in await shown(tmp_path, voice, tools__transcribe__command=command)


async def test_a_long_reply_goes_as_a_file_where_a_setting_says_so(tmp_path: Path) -> None:
    more = {"outbox__long_replies": "file", "outbox__long_reply_characters": 1_000}
    text = await shown(tmp_path, Said(WORDS), **more)
    assert text.startswith("see the file: I'm the demo model")
    assert WORDS.strip() in text
