"""Models of pictures and speech with the real LiteLLM, in its lean form, against a server that speaks OpenAI's wire."""

from __future__ import annotations

import os
from datetime import timedelta
from pathlib import Path

import pytest

from bot.testing.serve import serving
from runtime.contract import (
    Address,
    FileRef,
    ModelReply,
    ModelRequest,
    OnText,
    PersonId,
    RunId,
    SessionKey,
    ToolContext,
    Usage,
)
from runtime.errors import ModelFailed, ToolFailed
from runtime.guard.door import Door
from runtime.guard.findings import Detector, Strictness
from runtime.guard.guard import Guard, GuardRules
from runtime.models.demo import Demo
from runtime.models.litellm_loading import VARIABLES
from runtime.models.media.asking import Unit
from runtime.models.media.demo import DemoImages
from runtime.models.media.guarded import GuardedImages
from runtime.models.media.images import LiteImages
from runtime.models.media.speech import LiteSpeech
from runtime.models.settings import ModelSettings
from tests.fakes.media import MediaServer, dot
from tools.pictures.money import SPENT
from tools.pictures.tools import NO_IMAGES_SET, NO_SPEECH_SET, Media, media_tools

pytestmark = [
    pytest.mark.xdist_group("litellm"),
    pytest.mark.timeout(180),  # imports LiteLLM and a vendor's SDK, which takes seconds
]
for name in VARIABLES:
    os.environ.setdefault(name, "True")

PAINTER = "openai/gpt-image-1"
WRITER = "openai/whisper-1"
TOKEN = "ghp_0123456789abcdefghijABCDEFGHIJ012345"
ROOM = Address("web", "main", "r1")


def settings(model: str, url: str, seconds: float = 20) -> ModelSettings:
    return ModelSettings(model, f"{url}/v1", "the-key", timeout=timedelta(seconds=seconds))


class Purse:
    """Implements `contract.media.Spending`: a sum in memory."""

    def __init__(self, *, is_spent: bool = False) -> None:
        self.is_spent = is_spent
        self.charged: list[tuple[str, Address, Usage]] = []

    async def affords(self, agent: str, room: Address, person: PersonId | None) -> bool:
        return not self.is_spent

    async def charge(self, agent: str, room: Address, person: PersonId | None, used: Usage) -> None:
        self.charged.append((agent, room, used))


class Eyes:
    """A model that says what it was shown."""

    name = "eyes"

    async def reply(self, request: ModelRequest, on_text: OnText) -> ModelReply:
        assert request.files is not None
        turn = request.turns[0]
        with request.files("any") as shown:
            return ModelReply(f"{turn.text} {shown.read()[:4]!r}", (), Usage("eyes", 7, 3, 12))


def context(workspace: Path, attached: list[FileRef] | None = None) -> ToolContext:
    kept = attached if attached is not None else []
    return ToolContext(workspace, SessionKey("s"), RunId("r"), "c", ROOM, attach=kept.append, agent="main")


async def call(media: Media, tool: str, where: ToolContext, **arguments: str | int) -> str:
    tools = {one.spec.name: one for one in media_tools(media)}
    return await tools[tool].call(arguments, where)


async def test_pictures_are_made_attached_and_paid_once_however_often_a_cut_call_is_made(tmp_path: Path) -> None:
    attached: list[FileRef] = []
    async with serving((server := MediaServer()).app()) as url:
        images = LiteImages(settings(PAINTER, url), Unit("images", 0.04))
        media = Media(images=images, spending=(purse := Purse()))
        told = await call(media, "image_make", context(tmp_path, attached), prompt="A red dot", count=2, size="wide")
        again = await call(media, "image_make", context(tmp_path), prompt="A red dot", count=2, size="wide")
    assert told == again
    assert len(server.requests) == 1
    assert {"prompt": "A red dot", "n": 2, "size": "1536x1024"}.items() <= server.requests[0].items()
    assert [(tmp_path / file.path).read_bytes() for file in attached] == [dot(0), dot(1)]
    assert [(file.name.startswith("a-red-dot-"), file.mime, file.remote) for file in attached] == [
        (True, "image/png", "")
    ] * 2
    ((agent, room, used),) = purse.charged
    assert (agent, room, used.cost_micros, used.unpriced) == ("main", ROOM, 80_000, False)


async def test_a_recording_is_written_down_and_paid_by_the_minute(tmp_path: Path) -> None:
    (tmp_path / "note.oga").write_bytes(b"OggS" * 10)
    async with serving((server := MediaServer()).app()) as url:
        media = Media(
            speech=LiteSpeech(settings(WRITER, url), Unit("transcription", 0.006)), spending=(purse := Purse())
        )
        assert await call(media, "transcribe", context(tmp_path), path="note.oga") == "I hear 40 bytes."
    assert server.recordings == [("recording.ogg", b"OggS" * 10)]
    assert purse.charged[0][2].cost_micros == 9_000


async def test_a_picture_is_looked_at_by_the_model_that_answers_and_its_call_is_paid(tmp_path: Path) -> None:
    (tmp_path / "dot.png").write_bytes(dot(3))
    media = Media(eyes=Eyes(), spending=(purse := Purse()))
    told = await call(media, "see", context(tmp_path), path="dot.png", question="What is it?")
    assert told == "[attached file: dot.png]\nWhat is it? b'\\x89PNG'"
    assert "I was shown `dot.png` (image/png)" in await call(
        Media(eyes=Demo()), "see", context(tmp_path), path="dot.png"
    )
    assert purse.charged[0][2].cost_micros == 12


async def test_what_is_not_set_too_large_or_no_picture_is_said(tmp_path: Path) -> None:
    (tmp_path / "page.png").write_text("<html>")
    (tmp_path / "words.txt").write_text("hello")
    spent = Media(images=DemoImages(), eyes=Eyes(), spending=Purse(is_spent=True))
    with pytest.raises(ToolFailed) as unset:
        await call(Media(), "image_make", context(tmp_path), prompt="x")
    assert str(unset.value) == NO_IMAGES_SET
    with pytest.raises(ToolFailed) as unset:
        await call(Media(), "transcribe", context(tmp_path), path="words.txt")
    assert str(unset.value) == NO_SPEECH_SET
    with pytest.raises(ToolFailed, match="no picture that can be looked at"):
        await call(spent, "see", context(tmp_path), path="page.png")
    with pytest.raises(ToolFailed) as over:
        await call(spent, "image_make", context(tmp_path), prompt="x")
    assert str(over.value) == SPENT


async def test_a_model_that_fails_says_so_without_its_key(tmp_path: Path) -> None:
    for server, words in ((MediaServer(status=401), "key"), (MediaServer(spoilt=True), "no picture in it")):
        async with serving(server.app()) as url:
            with pytest.raises(ModelFailed, match=words) as failed:
                await LiteImages(settings(PAINTER, url), Unit("images")).paint("x", "square", 1)
        assert "the-key" not in f"{failed.value}{failed.value.detail}"


async def test_a_known_secret_never_leaves_for_a_picture() -> None:
    async with serving((server := MediaServer()).app()) as url:
        door = Door(Guard(GuardRules({Detector.SHAPE: Strictness.REDACT})))
        model = GuardedImages(LiteImages(settings(PAINTER, url), Unit("images")), door)
        await model.paint(f"a sign that says {TOKEN}", "square", 1)
    assert TOKEN not in str(server.requests)


async def test_the_demo_draws_the_same_words_alike_and_others_otherwise() -> None:
    demo = DemoImages()
    first, again, other = [(await demo.paint(words, "tall", 1)).pictures[0] for words in ("cat", "cat", "dog")]
    assert first == again != other
    assert first.startswith(b"\x89PNG")
