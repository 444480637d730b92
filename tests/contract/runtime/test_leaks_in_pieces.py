"""A secret that comes or goes in pieces: in chunks of a stream, over several messages, in previews, and by way of files."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Mapping
from pathlib import Path
from typing import Final

import pytest

from bot.testing.channel.adapter import LIMIT
from runtime.agent.outcome import LongForm
from runtime.contract import Effect, FileRef, Json
from tests.contract.runtime import test_leaks, test_leaks_of_others
from tests.contract.runtime.growing import House, Speaker, house
from tests.contract.runtime.leaks import Leaks, Watched
from tests.contract.runtime.stage import READ, Process, Stage, address, fake_tool
from tests.contract.runtime.windowed import life
from tests.unit.guard.secrets import SECRETS

STEPS: Final = (1, 2, 3, 16, 64, 127, 128, 129)
"""Characters that come at a time; 128 are held back."""

LONGER_THAN_WINDOW: Final = 40_000
LONGER_THAN_RESULT: Final = 60_000
WORDS: Final = "It is {} as far as I know."
GLIMPSE: Final = 0.03
"""Seconds for people to see what a model has said so far."""


@pytest.fixture
async def home(stage: Stage, tmp_path: Path) -> AsyncIterator[House]:
    """A platform that keeps each version of each message."""
    async with house(stage) as made:
        made.channel.board.journal = tmp_path / "said.jsonl"
        yield made


def said_at_any_time(home: House) -> list[str]:
    journal = home.channel.board.journal
    assert journal
    lines = map(json.loads, journal.read_text(encoding="utf-8").splitlines())
    return [str(line["text"]) for line in lines if "text" in line]


async def play(home: House, process: Process, *said: str) -> None:
    for words in said:
        await process.say(words)
        await home.settle(process)


def test_shapes_and_ways_are_enough_cases() -> None:
    held = {**vars(test_leaks), **vars(test_leaks_of_others), **globals()}
    ways = [
        name
        for name, one in held.items()
        if name.startswith("test_") and "secret" in getattr(one, "__annotations__", ())
    ]
    assert len(SECRETS) * len(ways) >= 168


async def test_what_a_model_says_in_chunks_of_any_size(stage: Stage, secret: str, leaks: Leaks) -> None:
    model = Watched([WORDS.format(secret)] * len(STEPS), STEPS)
    process = await stage.process(model)
    for number in range(len(STEPS)):
        await process.say(f"tell me, {number}")
        await process.answer_all()
    assert len(model.requests) == len(STEPS)
    await leaks.nowhere(stage, model, secret, process=process)


async def test_an_answer_of_several_messages_which_would_cut_it(home: House, secret: str, leaks: Leaks) -> None:
    """At its begin, in its middle and at its end."""
    cuts = (1, len(secret) // 2, len(secret) - 1)
    before = [LIMIT - cut for cut in cuts if cut < LIMIT]
    model = Watched([f"{'x' * (length - 1)} {secret} and {'more ' * 60}" for length in before])
    process = await home.process(model, previews=False)
    await play(home, process, *(f"tell me, {length}" for length in before))
    shown = said_at_any_time(home)
    assert len(shown) > 2 * len(before)
    await leaks.nowhere(home.stage, model, secret, process=process, shown=shown)


async def test_an_answer_that_is_seen_growing_and_stops_inside_of_it(home: House, secret: str, leaks: Leaks) -> None:
    whole = f"I looked it up: {secret} is the one."
    begin = whole.index(secret)
    bits = tuple(whole[: begin + len(secret) * part // 4] for part in range(5))
    model = Speaker(home, bits=(*bits, whole), answer=whole, patience=GLIMPSE)
    process = await home.process(model)
    await play(home, process, "look it up")
    assert home.seen()[-1].startswith("I looked it up: [redacted: ")
    await leaks.nowhere(home.stage, Watched([]), secret, process=process, shown=said_at_any_time(home))


async def test_a_long_answer_that_becomes_a_file(stage: Stage, secret: str, leaks: Leaks) -> None:
    async def carrier(file: FileRef, into: Path, *, most: int) -> None:
        raise AssertionError("nothing is fetched")

    long = "A long answer. " * 20 + WORDS.format(secret)
    await leaks.play(stage, secret, [long], [], "tell me", carrier=carrier, long_replies=LongForm.FILE)
    [file] = (stage.workspaces.folder(address()) / "replies").iterdir()
    assert "[redacted: " in file.read_text()


async def test_a_message_larger_than_the_window_which_becomes_a_file(stage: Stage, secret: str, leaks: Leaks) -> None:
    model = Watched(["Yes."])
    process = await life(stage, model)
    await process.say(f"BEGIN {'x ' * (LONGER_THAN_WINDOW // 2)} {secret} {'y ' * (LONGER_THAN_WINDOW // 2)} END")
    await process.answer_all()
    await leaks.nowhere(stage, model, secret, process=process)


async def test_a_result_beyond_its_bound_which_becomes_a_file(stage: Stage, secret: str, leaks: Leaks) -> None:
    async def look(_: Mapping[str, Json]) -> str:
        return f"{'y ' * (LONGER_THAN_RESULT // 2)} {secret} {'z ' * (LONGER_THAN_RESULT // 2)}"

    await leaks.play(stage, secret, [READ, "Seen."], [fake_tool("look", Effect.READ, look)], "look")


async def test_the_name_of_a_file(stage: Stage, secret: str, leaks: Leaks) -> None:
    model = Watched(["Thanks."])
    process = await stage.process(model)
    await process.say("see there", files=(FileRef(f"{secret}.txt", "inbox/a.txt", 3),))
    await process.answer_all()
    await leaks.nowhere(stage, model, secret, process=process)
