"""Dispatches of many shapes: the real adapter makes of each what is written beside it, and answers each interaction."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Mapping
from itertools import count
from pathlib import Path
from typing import Any, Final

import pytest

from runtime.contract import Said, Signal
from tests.contract.adapters.stage import until
from tests.fakes.discord_interactions import Interaction
from tests.fakes.discord_world import GENERAL, Record
from tests.wire.discord.stage import On, stand
from tests.wire.shapes import Line, Outcome, check, heard, lines, made

LINES: Final = lines(Path(__file__).parent / "shapes" / "dispatches.jsonl")
LAST: Final = "that is all"
"""A message behind each dispatch: when it is taken in, all that came before it in its channel was."""
NUMBERS: Final = count(1 << 62)


@pytest.fixture(scope="module")
def outcomes(tmp_path_factory: pytest.TempPathFactory) -> Mapping[str, Outcome]:
    """All of them, told one after the other to one account, and to one that begins a thread for each conversation."""
    return asyncio.run(_told(tmp_path_factory.mktemp("shapes")))


@pytest.mark.parametrize("line", LINES, ids=[line["name"] for line in LINES])
def test_a_dispatch_makes_what_is_written_beside_it(line: Line, outcomes: Mapping[str, Outcome]) -> None:
    check(line, outcomes[line["name"]])


async def _told(folder: Path) -> dict[str, Outcome]:
    found: dict[str, Outcome] = {}
    async with stand(folder) as on:
        for threads in (False, True):
            async with on.life(thread_per_conversation=threads):
                for line in LINES:
                    if line.get("threads", False) == threads:
                        found[line["name"]] = await _tell(on, line)
    return found


async def _tell(on: On, line: Line) -> Outcome:
    before, data = len(on.sink.calls), line["data"]
    with heard() as warnings:
        if line["event"] == "INTERACTION_CREATE" and "token" in data:
            answers = await _answered(on, line)
        else:
            answers = None
            on.fake.gateway.tell(line["event"], data, None)
            await _passed(on, data)
    told = [signal for signal in on.sink.calls[before:] if not _is_last(signal)]
    return Outcome(list(map(made, told)), list(warnings), answers)


async def _answered(on: On, line: Line) -> list[Any]:
    """Tell an interaction until it is answered: the kind of the answer, and its words, which a form has none of."""
    data, world = line["data"], on.fake.world
    who = Interaction(data["id"], data["token"], GENERAL, "42", time.monotonic())
    on.fake.interactions.open[data["id"]] = who
    on.fake.gateway.tell(line["event"], data, None)
    await until(lambda: any(one["interaction"] == data["id"] for one in world.answers), f"answer to {line['name']}")
    [answer] = [one for one in world.answers if one["interaction"] == data["id"]]
    assert answer["private"] or answer["type"] == 8
    return [answer["type"], answer["text"]]


async def _passed(on: On, data: Record) -> None:
    """Until a message that came after it was taken in."""
    channel = str(data.get("channel_id") or GENERAL)
    for room in {channel, GENERAL}:
        number = str(next(NUMBERS))
        on.fake.gateway.tell("MESSAGE_CREATE", _last(number, room), None)
        await until(lambda n=number: any(one.message_id == n for one in on.sink.calls), "message behind it")  # type: ignore[misc]


def _last(number: str, channel: str) -> Record:
    guild = {} if channel.startswith("9") else {"guild_id": "500"}
    author = {"id": "43", "username": "bob"}
    return {"id": number, "channel_id": channel, "type": 0, "content": LAST, "author": author, **guild}


def _is_last(signal: Signal) -> bool:
    return isinstance(signal.body, Said) and signal.body.text == LAST
