"""What a workflow costs: a step of it beside a tool step of a model's, in turns; and what a thousand that wait leave behind."""

from __future__ import annotations

import asyncio
import tempfile
import time
from collections.abc import Iterator
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Final

from bench.children import added
from bench.figures import Figure, middle, ratio_at_most
from bench.memory import FLAT, settled
from bench.model import LOOK, path_of
from bench.page import Page, page
from bench.program import Program, helper, signalbox
from bench.reply import settings

STEP: Final = 1.2  # x a tool step of a model's; source: agents-work.md, issue 21
FEW, MANY = 1, 11  # steps of the two workflows whose difference is told
ROUNDS: Final = 40
WARM: Final = 5
WAITING: Final = 1000
TOGETHER: Final = 20  # conversations that start those that wait
IDLE: Final = 10.0  # seconds
SETTLING: Final = 10.0  # seconds until all that were begun wait
AT_REST: Final = 0.01  # processor seconds a second
GLANCE_SECONDS: Final = 3.0
GLANCES_MAX: Final = 30


async def workflows(short: bool) -> list[Figure]:
    with tempfile.TemporaryDirectory() as name, helper("bench.model", folder=Path(name)) as model:
        folder = Path(name) / "ours"
        made_in(folder)
        told = settings(f"{model.url}/v1", stream=False)
        with signalbox(folder, told) as ours:
            async with page(ours.link) as opened:
                return [await _step(opened, 1 if short else ROUNDS), *await _waiting(ours, opened, short)]


def made_in(folder: Path) -> None:
    """The workflows: of few steps, of many, and one that waits."""
    (folder / "workflows").mkdir(parents=True)
    for number in (FEW, MANY):
        steps = "".join(_looks(number))
        (folder / "workflows" / f"steps{number}.toml").write_text(steps, encoding="utf-8")
    (folder / "workflows" / "waits.toml").write_text('[[steps]]\nname = "pause"\nwait = "3 days"\n', encoding="utf-8")


def _looks(number: int) -> Iterator[str]:
    for step in range(1, number + 1):
        yield f'[[steps]]\nname = "s{step}"\ntool = "list_files"\narguments = {{ path = "{path_of(step)}" }}\n'


async def _step(at: Page, rounds: int) -> Figure:
    """Seconds of ten more steps, in turns with ten more calls of a model."""
    flows, calls = [], []
    for number in range(rounds + (WARM if rounds > WARM else 0)):
        times = [await _flow(at, FEW), await _flow(at, MANY), await _calls(at, FEW), await _calls(at, MANY)]
        if number >= WARM or rounds <= WARM:
            flows.append(added(times[1], times[0]) / (MANY - FEW))
            calls.append(added(times[3], times[2]) / (MANY - FEW))
    note = "beside: a tool step of a model's, whose mock answers at once"
    return Figure(
        "a step of a workflow, p50", middle(flows) * 1000, "ms", middle(calls) * 1000, ratio_at_most(STEP), note
    )


async def _flow(at: Page, steps: int) -> float:
    async with at.chat() as chat:
        began = time.perf_counter()
        await chat.say(f"/workflow steps{steps}")
        await chat.report()
        return time.perf_counter() - began


async def _calls(at: Page, calls: int) -> float:
    async with at.chat() as chat:
        began = time.perf_counter()
        await chat.say(f"{LOOK}{calls}")
        await chat.answer()
        return time.perf_counter() - began


async def _waiting(ours: Program, at: Page, short: bool) -> list[Figure]:
    """Memory with twice so many that wait beside that with so many; and processor time while nobody speaks, with and without."""
    count = TOGETHER if short else WAITING
    idle, grown = await _idle(ours, short), []
    async with AsyncExitStack() as opened:
        chats = [await opened.enter_async_context(at.chat()) for _ in range(TOGETHER)]
        for _ in range(2):
            for _ in range(count // TOGETHER):
                await asyncio.gather(*(chat.say("/workflow waits") for chat in chats))
            await asyncio.sleep(0 if short else SETTLING)
            grown.append(settled(ours, 0.0 if short else 2.0))
    for _ in range(0 if short else GLANCES_MAX):  # what was begun is still sealed in the audit for a while
        if await _idle(ours, short, GLANCE_SECONDS) <= AT_REST:
            break
    busy = await _idle(ours, short)
    note = f"processor time; with none {idle * 1000:.1f}"
    return [
        Figure(
            f"memory, {2 * count} workflows wait",
            grown[1],
            "MB",
            grown[0],
            ratio_at_most(FLAT),
            f"beside: with {count}",
        ),
        Figure(f"idle, {2 * count} workflows wait", busy * 1000, "ms/s", note=note),
    ]


async def _idle(ours: Program, short: bool, span: float = IDLE) -> float:
    """Processor seconds a second while nobody speaks."""
    seconds, used = 0.2 if short else span, ours.processor_seconds
    await asyncio.sleep(seconds)
    return (ours.processor_seconds - used) / seconds
