"""What a hundred triggers cost a message that none of them is for: beside a program without any, message by message in turns."""

from __future__ import annotations

import tempfile
import time
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Final

from bench.figures import Figure, middle, ratio_at_most
from bench.page import Chat, page
from bench.program import Program, helper, signalbox
from bench.reply import settings

MANY: Final = 100  # triggers
MORE: Final = 1.05  # x a message without; source: issue 21
MESSAGES: Final = 300
WARM: Final = 20
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
            return await _measured(plain, many, 3 if short else MESSAGES, 0 if short else WARM)


def _trigger(number: int) -> str:
    """One of three rooms' and with words of its own; each third looks into all rooms."""
    room = ("*", "web:main/*", f"web:main/office{number}")[number % 3]
    words = f'["deploy{number}*", "roll back {number}", "incident {number}"]'
    return f'\n[[triggers]]\nname = "watch {number}"\non = "words"\nroom = "{room}"\nwords = {words}\nprompt = "Tell who."\n'


async def _measured(plain: Program, many: Program, count: int, warm: int) -> list[Figure]:
    async with AsyncExitStack() as opened:
        pages = [await opened.enter_async_context(page(one.link)) for one in (plain, many)]
        rooms = [[await opened.enter_async_context(one.chat()) for one in pages] for _ in range(count + warm)]
        for pair in rooms[:warm]:
            await _turn(pair)
        before = [one.processor_seconds for one in (plain, many)]
        times = [await _turn(pair) for pair in rooms[warm:]]
        used = [one.processor_seconds - then for one, then in zip((plain, many), before, strict=True)]
    bare, ours = (middle([pair[side] for pair in times]) * 1000 for side in (0, 1))
    own, theirs = (1000 * seconds / count for seconds in (used[1], used[0]))
    bound, note = ratio_at_most(MORE), "beside: without any, in turns"
    return [
        Figure(f"message to reply, {MANY} triggers, p50", ours, "ms", bare, bound, note),
        Figure(f"processor time of a message, {MANY} triggers", own, "ms", theirs, bound, note),
    ]


async def _turn(pair: list[Chat]) -> list[float]:
    """Seconds of the same message in both programs, one after the other."""
    times = []
    for chat in pair:
        began = time.perf_counter()
        await chat.ask(SAID)
        times.append(time.perf_counter() - began)
    return times
