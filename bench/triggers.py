"""What a hundred triggers cost a message that none of them is for: beside a program without any, message by message in turns."""

from __future__ import annotations

import tempfile
import time
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Final

from bench.figures import Figure, middle, ratio_at_most
from bench.page import Chat, Page, page
from bench.program import Program, helper, signalbox
from bench.reply import settings

MANY: Final = 100  # triggers
MORE: Final = 1.05  # x a message without; source: issue 21
ROOMS: Final = 30  # open at a time
ROUNDS_OF_MESSAGES: Final = 11
SAID: Final = "Could you look at the numbers of last week, and tell me what the two offices sold on Monday?"


async def triggers(short: bool) -> list[Figure]:
    with tempfile.TemporaryDirectory() as name, helper("bench.model", folder=Path(name)) as model:
        told = settings(f"{model.url}/v1", stream=False)
        folder = Path(name)
        for one in ("none", "many"):
            (folder / one).mkdir()
        with (
            signalbox(folder / "none", told) as plain,
            signalbox(folder / "many", told + "".join(map(_trigger, range(MANY)))) as many,
        ):
            return await _measured(plain, many, 1 if short else ROUNDS_OF_MESSAGES)


def _trigger(number: int) -> str:
    """One of three rooms' and with words of its own; each third looks into all rooms."""
    room = ("*", "web:main/*", f"web:main/office{number}")[number % 3]
    words = f'["deploy{number}*", "roll back {number}", "incident {number}"]'
    return f'\n[[triggers]]\nname = "watch {number}"\non = "words"\nroom = "{room}"\nwords = {words}\nprompt = "Tell who."\n'


async def _measured(plain: Program, many: Program, rounds: int) -> list[Figure]:
    times, used = list[list[float]](), [0.0, 0.0]
    async with page(plain.link) as one, page(many.link) as other:
        for number in range(rounds):
            found, spent = await _round((plain, many), (one, other))
            if number or rounds == 1:  # the first warms both up
                times += found
                used = [known + more for known, more in zip(used, spent, strict=True)]
    bare, ours = (middle([pair[side] for pair in times]) * 1000 for side in (0, 1))
    theirs, own = (1000 * seconds / len(times) for seconds in used)
    bound, note = ratio_at_most(MORE), "beside: without any, in turns"
    return [
        Figure(f"message to reply, {MANY} triggers, p50", ours, "ms", bare, bound, note),
        Figure(f"processor time of a message, {MANY} triggers", own, "ms", theirs, bound, note),
    ]


async def _round(programs: tuple[Program, Program], pages: tuple[Page, Page]) -> tuple[list[list[float]], list[float]]:
    """Seconds of each message in both, each in a room of its own that is open before; and processor seconds of both."""
    async with AsyncExitStack() as opened:
        rooms = [[await opened.enter_async_context(one.chat()) for one in pages] for _ in range(ROOMS)]
        before = [one.processor_seconds for one in programs]
        times = [await _turn(pair, turned=bool(number % 2)) for number, pair in enumerate(rooms)]
        return times, [one.processor_seconds - then for one, then in zip(programs, before, strict=True)]


async def _turn(pair: list[Chat], *, turned: bool) -> list[float]:
    """Seconds of the same message in both programs, one after the other: the second one first where that is `turned`."""
    times = [0.0, 0.0]
    for side in (1, 0) if turned else (0, 1):
        began = time.perf_counter()
        await pair[side].ask(SAID)
        times[side] = time.perf_counter() - began
    return times
