"""Models of voices with the real LiteLLM, in its lean form, against a server that speaks OpenAI's wire."""

from __future__ import annotations

import os
import wave
from dataclasses import replace
from io import BytesIO
from pathlib import Path
from typing import Any

import pytest

from bot.testing.serve import serving
from runtime.contract import VOICE_NOTE, ApprovalKind, Call, Choice, FileRef
from runtime.errors import ModelFailed, ToolFailed, ToolRetry
from runtime.guard.door import Door
from runtime.guard.findings import Detector, Strictness
from runtime.guard.guard import Guard, GuardRules
from runtime.models.litellm_loading import VARIABLES
from runtime.models.media.asking import Unit
from runtime.models.media.demo import DemoVoice
from runtime.models.media.guarded import GuardedVoice
from runtime.models.media.voices import LiteVoice
from runtime.policy.rules import SHIPPED, SPEAKS
from tests.contract.runtime.stage import LEASE, Stage, crash_at
from tests.contract.runtime.strict import Planned
from tests.contract.runtime.test_media import ROOM, TOKEN, Purse, call, context, settings
from tests.fakes.media import MediaServer, sound
from tools.pictures.money import SPENT
from tools.pictures.speaking import NOTHING_TO_SPEAK, Voice, speak_tool
from tools.pictures.tools import Media, media_tools

pytestmark = [
    pytest.mark.xdist_group("litellm"),
    pytest.mark.timeout(120),  # imports LiteLLM, which takes seconds
]
for name in VARIABLES:
    os.environ.setdefault(name, "True")

SPEAKER = "openai/tts-1"


def voiced(
    url: str, *, form: str = "mp3", price: float | None = None, seconds: float = 20, max_chars: int = 100
) -> Voice:
    model = LiteVoice(settings(SPEAKER, url, seconds), Unit("speech", price), form)
    return Voice(model, "alloy", max_chars)


async def test_words_are_spoken_attached_and_paid_once_however_often_a_cut_call_is_made(tmp_path: Path) -> None:
    attached: list[FileRef] = []
    async with serving((server := MediaServer()).app()) as url:
        media = Media(voice=voiced(url), spending=(purse := Purse()))
        told = await call(media, "speak", context(tmp_path, attached), text="**Hello** there, _Ann_.")
        again = await call(media, "speak", context(tmp_path), text="**Hello** there, _Ann_.")
    assert told == again
    assert server.spoken == [
        {"model": "tts-1", "input": "Hello there, Ann.", "voice": "alloy", "response_format": "mp3"}
    ]
    (file,) = attached
    assert (file.mime, file.remote, file.name.startswith("hello-there-ann-")) == ("audio/mpeg", "", True)
    assert (tmp_path / file.path).read_bytes() == sound("mp3", "Hello there, Ann.")
    ((agent, room, used),) = purse.charged
    assert (agent, room, used.cost_micros, used.unpriced) == (
        "main",
        ROOM,
        17 * 15,
        False,
    )  # 15 dollars a million, by the list


@pytest.mark.parametrize(
    ("form", "ending", "mime"),
    [
        ("opus", "ogg", VOICE_NOTE),
        ("aac", "aac", "audio/aac"),
        ("flac", "flac", "audio/flac"),
        ("wav", "wav", "audio/wav"),
    ],
)
async def test_a_recording_is_named_by_what_it_is(form: str, ending: str, mime: str, tmp_path: Path) -> None:
    attached: list[FileRef] = []
    async with serving(MediaServer().app()) as url:
        media = Media(voice=voiced(url, form=form, price=20.0), spending=(purse := Purse()))
        await call(media, "speak", context(tmp_path, attached), text="Hello", voice="nova")
    assert (Path(attached[0].path).suffix, attached[0].mime) == (f".{ending}", mime)
    assert purse.charged[0][2].cost_micros == 100


async def test_what_is_no_recording_is_told_paid_and_not_kept(tmp_path: Path) -> None:
    async with serving((server := MediaServer(answers="page")).app()) as url:
        media = Media(voice=voiced(url), spending=(purse := Purse()))
        with pytest.raises(ToolFailed, match="no recording: it begins with b'<html>Sign i'"):
            await call(media, "speak", context(tmp_path), text="Hello")
        server.answers = "nothing"
        with pytest.raises(ToolFailed, match="no recording: nothing"):
            await call(media, "speak", context(tmp_path), text="Hello")
    assert len(purse.charged) == 2
    assert not (tmp_path / "speech").exists()


@pytest.mark.parametrize("answers", ["endless", "bomb"])
async def test_an_answer_without_an_end_is_cut_at_its_bound(answers: str, tmp_path: Path) -> None:
    async with serving(MediaServer(answers=answers).app()) as url:  # type: ignore[arg-type]  # one of its words
        with pytest.raises(ToolFailed, match="sent more than 20 MiB"):
            await call(Media(voice=voiced(url)), "speak", context(tmp_path), text="Hello")


async def test_a_vendor_that_is_silent_or_refuses_is_told_in_words_and_asked_once(tmp_path: Path) -> None:
    async with serving((server := MediaServer(answers="silence")).app()) as url:
        with pytest.raises(ToolFailed, match=r"did not answer within 0\.5 seconds"):
            await call(Media(voice=voiced(url, seconds=0.5)), "speak", context(tmp_path), text="Hello")
        server.answers = ""
        with pytest.raises(ToolFailed, match="one of alloy, ash"):
            await call(Media(voice=voiced(url)), "speak", context(tmp_path), text="Hello", voice="gruff")
        for status, words in ((401, "refused the key"), (429, "too many requests"), (500, "internal error")):
            server.status = status
            with pytest.raises(ModelFailed, match=words) as failed:
                await voiced(url).model.speak("Hello", "alloy")
            assert "the-key" not in f"{failed.value}{failed.value.detail}"
    assert len(server.spoken) == 5


async def test_a_voice_whose_price_nobody_knows_is_not_asked_where_one_is_needed(tmp_path: Path) -> None:
    """The list has a price by tokens for it, by which no characters can be counted."""
    voice = LiteVoice(settings("openai/gpt-4o-mini-tts", "http://127.0.0.1:1", 20), Unit("speech", None, True), "mp3")
    with pytest.raises(ModelFailed, match=r"Set speech\.price to US dollars for a million characters"):
        await voice.speak("Hello", "alloy")


async def test_texts_and_voices_that_are_none_reach_no_vendor(tmp_path: Path) -> None:
    media = Media(voice=voiced("http://127.0.0.1:1"), spending=Purse(is_spent=True))
    for text in ("", " \n ", "** **", "---", "``` ```", "<b></b>", "🙂", "\ud800"):
        with pytest.raises(ToolRetry) as wordless:
            await call(media, "speak", context(tmp_path), text=text)
        assert str(wordless.value) == NOTHING_TO_SPEAK
    with pytest.raises(ToolRetry, match="has 1,000,000 characters; at most 100"):
        await call(media, "speak", context(tmp_path), text="a" * 1_000_000)
    with pytest.raises(ToolRetry, match="A voice is a name"):
        await call(media, "speak", context(tmp_path), text="Hello", voice="../../x\n")
    with pytest.raises(ToolFailed) as over:
        await call(media, "speak", context(tmp_path), text="Hello")
    assert str(over.value) == SPENT


async def test_a_folder_that_takes_nothing_is_told_of(tmp_path: Path) -> None:
    (tmp_path / "speech").write_text("in the way")
    with pytest.raises(ToolFailed, match="speech"):
        await call(Media(voice=Voice(DemoVoice(), "alloy", 100)), "speak", context(tmp_path), text="Hello")


async def test_a_known_secret_is_never_spoken() -> None:
    async with serving((server := MediaServer()).app()) as url:
        door = Door(Guard(GuardRules({Detector.SHAPE: Strictness.REDACT})))
        await GuardedVoice(voiced(url).model, door).speak(f"my key is {TOKEN}", "alloy")
    assert TOKEN not in str(server.spoken)


async def test_the_demo_makes_a_recording_that_players_read() -> None:
    first, again, deeper = [(await DemoVoice().speak("tea is ready", voice)).recording for voice in ("a", "a", "b")]
    assert first == again != deeper
    with wave.open(BytesIO(first)) as recording:
        assert recording.getnframes() / recording.getframerate() == pytest.approx(3 * 0.22, abs=0.01)


async def test_a_kill_after_the_vendor_answered_is_asked_about_and_not_paid_again(stage: Stage) -> None:
    async with serving((server := MediaServer()).app()) as url:
        tool: Any = speak_tool(voiced(url), purse := Purse())  # the stage's tools are fakes, and this is the real one
        spoken = Call("c-speak", "speak", '{"text": "Hello"}')
        process = await stage.process(
            Planned(spoken), [tool], rules=(SPEAKS, *SHIPPED), probe=crash_at("tool-finished")
        )
        await process.say("say hello")
        await process.until_crash()
        stage.clock.advance(LEASE)
        after = await stage.process(model := Planned(spoken, end="Said."), [tool], rules=(SPEAKS, *SHIPPED))
        async with after.running():
            await after.rest()
            (doubt,) = await stage.pending()
            assert (doubt.kind, len(server.spoken)) == (ApprovalKind.OUTCOME, 1)
            await after.click(doubt.id, Choice.AGAIN)
            await after.rest()
    assert "Made speech/hello-" in str(model.requests[-1].turns)
    assert (len(server.spoken), len(purse.charged)) == (1, 1)


def test_without_a_model_there_is_no_such_tool() -> None:
    assert "speak" not in {one.spec.name for one in media_tools(Media())}
    told = {one.spec.name: one.spec for one in media_tools(Media(voice=Voice(DemoVoice(), "alloy", 100)))}
    assert told["speak"].seldom
    assert not replace(told["speak"]).repeatable  # a kill leaves the question to people: it may be paid
