"""Files that people send: there before the model is asked, once, also after a kill; and replies that go as files."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path
from typing import BinaryIO, Final

import pytest

from runtime.agent.outcome import LongForm
from runtime.contract import Content, Effect, FileRef, Json, Kind, ModelReply, ModelRequest, OnText, UserTurn
from runtime.domain.runs import RunState
from runtime.errors import Rejected, Retryable, ToolFailed
from runtime.workspace.disk_space import DiskBounds, DiskSpace
from tests.contract.runtime.stage import ADA, LEASE, OTTO, READ, UMA, Crash, Stage, address, crash_at, fake_tool
from tests.contract.runtime.strict import Planned, Strict

REPORT = FileRef("report.txt", "", 5, "id-report", "text/plain")
VOICE = FileRef("voice.ogg", "", 5, "id-voice", "audio/ogg")


@dataclass
class Carrier:
    """A platform with files. `trouble` is raised by the next fetches, one each; `asked` are the handles."""

    files: Mapping[str, bytes] = field(default_factory=lambda: {"id-report": b"12345", "id-voice": b"sound"})
    trouble: list[BaseException] = field(default_factory=list)
    asked: list[str] = field(default_factory=list)
    most: list[int] = field(default_factory=list)
    before: Callable[[], Awaitable[object]] | None = None

    async def __call__(self, file: FileRef, into: Path, *, most: int) -> None:
        self.asked.append(file.remote)
        self.most.append(most)
        if self.before:
            await self.before()
        if self.trouble:
            raise self.trouble.pop(0)
        into.write_bytes(self.files[file.remote])  # noqa: ASYNC240 - a few bytes


ASKED: Final = "asked"
"""Killed between the last file and the first word of the model."""


class Deadly(Strict):
    """The process is killed when this model is asked."""

    def __init__(self) -> None:
        super().__init__([])

    async def reply(self, request: ModelRequest, on_text: OnText) -> ModelReply:
        raise Crash


class Listener:
    """Hears a recording by its bytes."""

    def __init__(self, trouble: str = "") -> None:
        self.heard: list[str] = []
        self._trouble = trouble

    async def transcribe(self, recording: BinaryIO, name: str) -> str:
        self.heard.append(recording.read().decode())
        if self._trouble:
            raise ToolFailed(self._trouble)
        return f"words of {name}\n"


def said(request: ModelRequest) -> str:
    return "\n".join(turn.text for turn in request.turns if isinstance(turn, UserTurn))


def inbox(stage: Stage, room: str = "r1") -> dict[str, bytes]:
    """What came into a room's workspace, by name."""
    found = (stage.workspaces.folder(address(room)) / "inbox").rglob("*")
    return {path.name: path.read_bytes() for path in found if path.is_file()}


def arriving(stage: Stage) -> list[Path]:
    return list((stage.workspaces.root / ".arriving").iterdir())


# -------------------------------------------------------------------------------------------------------- files in


async def test_a_file_is_there_before_the_model_is_asked(any_stage: Stage) -> None:
    seen: list[dict[str, bytes]] = []

    class Looking(Strict):
        async def reply(self, request: ModelRequest, on_text: OnText) -> ModelReply:
            seen.append(inbox(any_stage))
            return await super().reply(request, on_text)

    model, carrier = Looking(["I read it"]), Carrier()
    process = await any_stage.process(model, carrier=carrier)
    await process.say("see this", files=(REPORT,))
    await process.answer_all()
    assert seen == [{"report.txt": b"12345"}]
    (turn,) = model.requests[0].turns
    assert isinstance(turn, UserTurn)
    assert turn.text == f"see this\n[attached file: {turn.files[0].path} (5 bytes)]"
    assert model.requests[0].files is not None
    with model.requests[0].files(turn.files[0].path) as file:
        assert file.read() == b"12345"
    assert arriving(any_stage) == []


async def test_a_file_is_fetched_once_for_all_model_calls_and_later_messages(stage: Stage) -> None:
    carrier = Carrier()
    process = await stage.process(Planned(READ, end="seen"), [fake_tool("look", Effect.READ)], carrier=carrier)
    await process.say("see this", files=(REPORT,))
    await process.answer_all()
    await process.say("and now?")
    await process.answer_all()
    assert carrier.asked == ["id-report"]


async def test_a_message_that_joins_the_work_brings_its_file(stage: Stage) -> None:
    """In `steer` it is there before the next model call."""
    carrier = Carrier()

    async def more(arguments: Mapping[str, Json]) -> str:
        await process.say("and this", files=(REPORT,))
        return "looked"

    model = Planned(READ, end="seen")
    process = await stage.process(model, [fake_tool("look", Effect.READ, more)], carrier=carrier)
    await process.say("look")
    await process.answer_all()
    assert inbox(stage) == {"report.txt": b"12345"}
    assert "attached file: inbox/" in said(model.requests[1])


@pytest.mark.parametrize("point", ["claimed", ASKED, "model-answered", "delivery-stored"])
async def test_a_kill_leaves_each_file_once_and_the_message_answered_once(point: str, any_stage: Stage) -> None:
    carrier = Carrier()
    model = Deadly() if point == ASKED else Strict(["I read it"])
    before = await any_stage.process(model, carrier=carrier, probe=crash_at(point))
    await before.say("see this", files=(REPORT, VOICE))
    await before.until_crash()
    any_stage.clock.advance(LEASE)
    after = await any_stage.process(Strict(["I read it"]), carrier=carrier)
    await after.answer_all()
    assert await any_stage.answers() == ["I read it"]
    assert inbox(any_stage) == {"report.txt": b"12345", "voice.ogg": b"sound"}
    assert sorted(carrier.asked) == ["id-report", "id-voice"]


async def test_a_kill_within_a_fetch_fetches_again(any_stage: Stage) -> None:
    carrier = Carrier()
    before = await any_stage.process(Strict([]), carrier=carrier)
    carrier.before = asyncio.Event().wait
    async with before.running():
        await before.say("see this", files=(REPORT,))
        async with asyncio.timeout(30):
            while not carrier.asked:  # noqa: ASYNC110 - a plain list reads better here
                await asyncio.sleep(0)
    carrier.before = None
    any_stage.clock.advance(LEASE)
    after = await any_stage.process(Strict(["I read it"]), carrier=carrier)
    await after.answer_all()
    assert (await any_stage.answers(), inbox(any_stage)) == (["I read it"], {"report.txt": b"12345"})
    assert carrier.asked == ["id-report"] * 2


async def test_trouble_on_the_way_is_tried_again(stage: Stage) -> None:
    carrier = Carrier(trouble=[Retryable("busy")])
    process = await stage.process(Strict(["seen"]), carrier=carrier)
    await process.say("see this", files=(REPORT,))
    await process.answer_all()
    assert inbox(stage) == {"report.txt": b"12345"}


@pytest.mark.parametrize(
    ("trouble", "told"),
    [
        ([Rejected("Telegram has no such file")], "Telegram has no such file"),
        ([Retryable("no connection")] * 2, "no connection"),
        ([Rejected("404 at https://files.example/T0KEN/f?token=S3CRET")], "404 at [link]"),
        ([RuntimeError("a bug, with https://x.io/T0KEN")], "it failed unexpectedly (RuntimeError)"),
        ([OSError(28, "No space left on device")], "it could not be written (No space left on device)"),
    ],
)
async def test_a_file_that_cannot_be_fetched_is_told_to_the_model_once(
    trouble: list[BaseException], told: str, any_stage: Stage
) -> None:
    model, carrier = Strict(["a pity"]), Carrier(trouble=list(trouble))
    process = await any_stage.process(model, carrier=carrier)
    await process.say("see this", files=(REPORT,))
    await process.answer_all()
    text = said(model.requests[0])
    assert text.count("could not be fetched") == 1
    assert text.endswith(f"report.txt could not be fetched: {told}")
    assert await any_stage.answers() == ["a pity"]
    assert "T0KEN" not in str(await any_stage.rows("SELECT text FROM turns"))


async def test_what_could_not_be_fetched_is_told_once_also_after_a_kill(any_stage: Stage) -> None:
    carrier = Carrier(trouble=[Rejected("gone")] * 2)
    before = await any_stage.process(Strict(["a pity"]), carrier=carrier, probe=crash_at("model-answered"))
    await before.say("see this", files=(REPORT,))
    await before.until_crash()
    any_stage.clock.advance(LEASE)
    model = Strict(["a pity"])
    after = await any_stage.process(model, carrier=carrier)
    await after.answer_all()
    assert said(model.requests[0]).count("could not be fetched: gone") == 1
    assert carrier.asked == ["id-report"]


async def test_files_are_bounded_one_by_one_and_together(stage: Stage) -> None:
    """1,000 bytes a file and 1,500 a message on this stage."""
    sizes = {"a": 1_001, "b": 900, "c": 700, "d": 600, "e": 1}
    files = tuple(FileRef(f"{name}.bin", "", size, name) for name, size in sizes.items())
    carrier = Carrier({name: b"x" * size for name, size in sizes.items()})
    model = Strict(["seen"])
    process = await stage.process(model, carrier=carrier)
    await process.say("see these", files=files)
    await process.answer_all()
    assert set(inbox(stage)) == {"b.bin", "d.bin"}
    text = said(model.requests[0])
    assert "a.bin could not be fetched: it has 1,001 bytes; at most 1,000 are allowed" in text
    for name in ("c.bin", "e.bin"):
        assert f"{name} could not be fetched: together, the files in this message are too large" in text


async def test_a_full_room_takes_no_file_and_the_message_is_answered(stage: Stage, tmp_path: Path) -> None:
    stage.space = DiskSpace(DiskBounds(room=1, person=1 << 40, free=0), tmp_path / "ledger")
    model, carrier = Strict(["seen", "seen again"]), Carrier({"one": b"x", "two": b"y"})
    process = await stage.process(model, carrier=carrier)
    await process.say("see this", files=(FileRef("a.bin", "", 1, "one"),))
    await process.answer_all()
    await process.say("and this", files=(FileRef("b.bin", "", 1, "two"),))
    await process.answer_all()
    assert set(inbox(stage)) == {"a.bin"}
    assert "b.bin could not be fetched: This room's files have reached" in said(model.requests[1])


async def test_what_one_person_sends_is_bounded_in_all_rooms_and_over_a_restart(
    any_stage: Stage, tmp_path: Path
) -> None:
    """A kept file counts at least 4,096 bytes, so two of them are all there may be, until one is removed."""
    model = Strict(["seen"] * 5)

    async def send(room: str) -> dict[str, bytes]:
        process = await any_stage.process(model, carrier=Carrier({"id": b"x" * 900}))
        await process.say("see this", room=room, files=(FileRef(f"{room}.bin", "", 900, "id"),))
        await process.answer_all()
        return inbox(any_stage, room)

    for rooms in (("r1", "r2", "r3"), ("r4",)):
        any_stage.space = DiskSpace(DiskBounds(room=1 << 40, person=8_500, free=0), tmp_path / "ledger")
        stored = [bool(await send(room)) for room in rooms]
        assert stored == [room in ("r1", "r2") for room in rooms]
        refused = said(model.requests[-1])
        assert f"{rooms[-1]}.bin could not be fetched: This person's files have reached the limit" in refused
    next(any_stage.workspaces.folder(address("r1")).rglob("r1.bin")).unlink()
    assert await send("r5")
    assert (await any_stage.answers("r3"), arriving(any_stage)) == (["seen"], [])


async def test_each_file_counts_to_who_sent_it_also_where_messages_are_answered_together(
    any_stage: Stage, tmp_path: Path
) -> None:
    any_stage.space = DiskSpace(DiskBounds(room=1 << 40, person=4_000, free=0), tmp_path / "ledger")
    model = Strict(["seen"] * 3)
    process = await any_stage.process(model, carrier=Carrier({"id": b"x"}))
    for who in (UMA, OTTO):
        await process.say("see this", who=who, files=(FileRef("one.bin", "", 1, "id"),))
    await process.answer_all()
    assert (len(model.requests), "could not be fetched" in said(model.requests[0])) == (1, False)
    for who in (UMA, OTTO, ADA):
        await process.say("and this", who=who, files=(FileRef(f"{who[5:]}.bin", "", 1, "id"),))
    await process.answer_all()
    assert set(inbox(any_stage)) == {"one.bin", "ada.bin"}
    assert said(model.requests[-1]).count("could not be fetched: This person's files") == 2


async def test_a_size_that_the_platform_did_not_tell_is_bounded_too(stage: Stage) -> None:
    model, carrier = Strict(["seen"]), Carrier({"id": b"x" * 1_001})
    process = await stage.process(model, carrier=carrier)
    await process.say("see this", files=(FileRef("a.bin", "", 0, "id"),))
    await process.answer_all()
    assert carrier.most == [1_000]
    assert (inbox(stage), arriving(stage)) == ({}, [])
    assert "it has 1,001 bytes" in said(model.requests[0])


async def test_a_stop_ends_a_fetch(stage: Stage) -> None:
    carrier = Carrier(before=asyncio.Event().wait)
    process = await stage.process(Strict([]), carrier=carrier)
    async with process.running():
        await process.say("see this", files=(REPORT,))
        async with asyncio.timeout(30):
            while not carrier.asked:  # noqa: ASYNC110 - a plain list reads better here
                await asyncio.sleep(0)
        await process.stop()
        await process.rest()
    assert await stage.states() == [RunState.STOPPED]


async def test_a_platform_that_never_answers_is_not_waited_for(stage: Stage) -> None:
    stage.bounds = type(stage.bounds)(time=timedelta(milliseconds=20))
    model = Strict(["a pity"])
    process = await stage.process(model, carrier=Carrier(before=asyncio.Event().wait))
    await process.say("see this", files=(REPORT,))
    await process.answer_all()
    assert said(model.requests[0]).endswith("it took longer than 0.02 seconds")


async def test_a_channel_without_files_says_so(stage: Stage) -> None:
    model = Strict(["a pity"])
    process = await stage.process(model)
    await process.say("see this", files=(REPORT,))
    await process.answer_all()
    assert "no account here can fetch it now" in said(model.requests[0])


async def test_a_folder_that_a_tool_made_a_link_is_not_written_through(stage: Stage, tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (stage.workspaces.folder(address()) / "inbox").symlink_to(outside)
    model = Strict(["a pity"])
    process = await stage.process(model, carrier=Carrier())
    await process.say("see this", files=(REPORT,))
    await process.answer_all()
    assert "could not be fetched: it could not be written" in said(model.requests[0])
    assert list(outside.iterdir()) == []


# ----------------------------------------------------------------------------------------------------- voice notes


async def test_a_voice_note_is_kept_and_its_words_are_told(any_stage: Stage) -> None:
    model, listener = Strict(["I hear"]), Listener()
    process = await any_stage.process(model, carrier=Carrier(), transcriber=listener)
    await process.say("", files=(VOICE, REPORT))
    await process.answer_all()
    (turn,) = model.requests[0].turns
    assert isinstance(turn, UserTurn)
    assert turn.text.endswith(f"\n\n[voice note {turn.files[0].path}: words of voice.ogg]")
    assert (listener.heard, turn.author, len(turn.files)) == (["sound"], "Ada", 2)
    assert set(inbox(any_stage)) == {"voice.ogg", "report.txt"}


async def test_a_voice_note_without_words_or_with_trouble_is_told(stage: Stage) -> None:
    model = Strict(["a pity"])
    process = await stage.process(model, carrier=Carrier(), transcriber=Listener("no such model"))
    await process.say("", files=(VOICE,))
    await process.answer_all()
    assert said(model.requests[0]).endswith("voice.ogg could not be transcribed: no such model")


async def test_a_voice_note_is_heard_once_and_told_once_also_after_a_kill(any_stage: Stage) -> None:
    listener = Listener()
    killed = await any_stage.process(Deadly(), carrier=Carrier(), transcriber=listener)
    await killed.say("", files=(VOICE,))
    await killed.until_crash()
    any_stage.clock.advance(LEASE)
    model = Strict(["I hear"])
    after = await any_stage.process(model, carrier=Carrier(), transcriber=listener)
    await after.answer_all()
    assert said(model.requests[0]).count("words of voice.ogg") == 1
    assert len(listener.heard) == 1


# ---------------------------------------------------------------------------------------------------- long replies

LONG = "A long answer. " * 20


async def contents(stage: Stage) -> list[Content]:
    rows = await stage.rows("SELECT content FROM deliveries WHERE kind = :kind ORDER BY number", kind=Kind.FINAL.value)
    return [Content.from_json(row[0]) for row in rows]


async def test_a_long_reply_is_a_file_before_it_is_committed(any_stage: Stage) -> None:
    """Scenario 32. What is shown is one thing, what the model remembers another: all of it."""
    model = Strict([LONG, "short"])
    process = await any_stage.process(model, carrier=Carrier(), long_replies=LongForm.FILE)
    for words in ("tell me", "and now?"):
        await process.say(words)
        await process.answer_all()
    long, short = await contents(any_stage)
    assert (long.text, short.text_file) == (LONG, None)
    assert long.text_file is not None
    assert (long.text_file.name, long.text_file.size) == ("reply.md", len(LONG))
    with any_stage.workspaces.open(address(), long.text_file.path) as file:
        assert file.read().decode() == LONG
    assert LONG in [turn.text for turn in model.requests[1].turns]


async def test_a_kill_before_the_commit_leaves_one_file(any_stage: Stage) -> None:
    before = await any_stage.process(
        Strict([LONG]), carrier=Carrier(), long_replies=LongForm.FILE, probe=crash_at("model-answered")
    )
    await before.say("tell me")
    await before.until_crash()
    any_stage.clock.advance(LEASE)
    other = LONG.upper()
    after = await any_stage.process(Strict([other]), carrier=Carrier(), long_replies=LongForm.FILE)
    await after.answer_all()
    replies = any_stage.workspaces.folder(address()) / "replies"
    assert [path.read_text() for path in replies.iterdir()] == [other]


async def test_where_files_cannot_go_the_text_goes(stage: Stage) -> None:
    process = await stage.process(Strict([LONG]), long_replies=LongForm.FILE)
    await process.say("tell me")
    await process.answer_all()
    assert await contents(stage) == [Content(LONG)]


async def test_where_the_file_cannot_be_written_the_text_goes(stage: Stage, tmp_path: Path) -> None:
    (stage.workspaces.folder(address()) / "replies").symlink_to(tmp_path)
    process = await stage.process(Strict([LONG]), carrier=Carrier(), long_replies=LongForm.FILE)
    await process.say("tell me")
    await process.answer_all()
    assert await contents(stage) == [Content(LONG)]


async def test_without_the_setting_a_long_reply_is_text(stage: Stage) -> None:
    process = await stage.process(Strict([LONG]), carrier=Carrier())
    await process.say("tell me")
    await process.answer_all()
    assert await contents(stage) == [Content(LONG)]
