"""The three walks through the house: our functions between an event and the answer that people see.

`python -m tests.walks` measures them on a notebook channel and writes them into docs/architecture.md. Counted is each
function and method of the product's folders that a walk calls, once, on whichever thread. A lambda, a comprehension and a
generator expression count as the function that they stand in, a property as a function, what `@dataclass` makes not at
all. A walk ends as the channel is asked to show the answer. Channel, model and tool do nothing themselves and are the
test's own, and nothing watches: metrics are off, which wrap the parts they count, and so are previews, which an answer at once has none of. The process is warm: it took the same
walk before, so nothing is imported or compiled any more. Counted is what each of several rounds calls, so that a
heartbeat beside one of them does not.
"""

from __future__ import annotations

import asyncio
import sys
import tempfile
import threading
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from itertools import groupby
from pathlib import Path
from types import CodeType, FrameType, FunctionType
from typing import Final

from bot.testing.scripted import Answer
from runtime.audit.sealer import Sealer
from runtime.calendar import At, Planned
from runtime.calendar import written as written_plan
from runtime.contract import (
    Call,
    Effect,
    Flow,
    Json,
    Reads,
    Schedule,
    ScheduleId,
    ScheduleState,
    Task,
    TaskKind,
    Terms,
    ToolContext,
    ToolSpec,
)
from runtime.domain.ids import new_id
from runtime.schedules.firing import Scheduler
from runtime.store.sql.files import DatabaseFiles
from tests.unit.bot.notebook import ADA, DESK, Notebook, Running, running

ROOT: Final = Path(__file__).parents[1]
PAGE: Final = ROOT / "docs" / "architecture.md"
PRODUCT: Final = ("adapters", "bot", "runtime", "signalbox", "tools")
STAND_INS: Final = ("bot", "testing")
"""Of tests, and on nobody's way."""
ROUNDS: Final = 4
"""The first one warms the process up and is not counted."""
CHANGE: Final = 0.05
"""Seconds for a change of a card, as on platforms: so the answer behind it waits its turn in each round."""
BEGIN: Final = "<!-- written by `python -m tests.walks` -->\n"
END: Final = "<!-- end of what is written -->\n"

Walk = Sequence[tuple[str, str]]
"""Module and function, in the order of their first call."""


class Ring:
    """A tool that waits for a yes."""

    spec = ToolSpec("ring", "Ring once.", {"type": "object"}, Effect.WRITE, flow=Flow(Reads.OURS))

    async def call(self, arguments: Mapping[str, Json], context: ToolContext) -> str:
        return "rung"

    def caution(self) -> str:
        return ""


EACH_SECOND: Final = frozenset(
    part.__code__ for part in (DatabaseFiles._missing, DatabaseFiles._there, DatabaseFiles._tell)
)
"""A second's look at the files, which is due in every round where the machine is slow."""
SEALS: Final = frozenset(part.__code__ for part in vars(Sealer).values() if isinstance(part, FunctionType))
"""Links rows of the audit beside a walk: where the machine is slow, in every round before the answer is shown."""


class Steps:
    """Code as it is called: a profile hook, for any number of threads."""

    def __init__(self) -> None:
        self._seen: dict[CodeType, None] = {}
        self._until = ""
        self._look: FrameType | None = None

    def __call__(self, frame: FrameType, event: str, argument: object) -> None:
        code = frame.f_code
        if event != "call" or not self._until or code in EACH_SECOND or code in SEALS:
            return
        if frame.f_back is not None and frame.f_back.f_code in SEALS:
            return
        if code is Notebook.show.__code__ and self._until in frame.f_locals["part"].body:
            self._until = ""
        elif code is Scheduler.look.__code__ and frame is not self._look and Scheduler._fire.__code__ not in self._seen:
            self._seen, self._look = {code: None}, frame  # a look before this one found nothing to fire
        else:
            self._seen.setdefault(code)

    def begin(self, until: str) -> None:
        """Note what is called from here on until a part with these words is shown."""
        self._seen, self._until = {}, until

    def walk(self) -> Walk:
        return list(dict.fromkeys(step for code in list(self._seen) if (step := step_of(code))))

    @contextmanager
    def watching(self) -> Iterator[None]:
        """This thread, and every one that is started inside the block."""
        threading.setprofile(self)
        sys.setprofile(self)
        try:
            yield
        finally:
            sys.setprofile(None)
            threading.setprofile(None)


def step_of(code: CodeType) -> tuple[str, str] | None:
    """Where a reader finds it; None for what is not ours."""
    path = Path(code.co_filename)
    if not path.is_relative_to(ROOT):
        return None
    module = path.relative_to(ROOT).with_suffix("").parts
    name, _, inner = code.co_qualname.partition(".<locals>.")
    if module[0] not in PRODUCT or module[:2] == STAND_INS or name.startswith("<module"):
        return None
    own = [part for part in inner.split(".<locals>.") if part and not part.startswith("<")]
    return ".".join(module).removesuffix(".__init__"), ".".join([name, *own])


async def walks(folder: Path) -> Mapping[str, Walk]:
    """What a text, a click and a schedule pass."""
    steps = Steps()
    answers: list[Answer] = [f"text {n}." for n in range(ROUNDS)]
    for n in range(ROUNDS):
        answers += [Call(f"c{n}", "ring", "{}"), f"click {n}."]
    answers += [f"schedule {n}." for n in range(ROUNDS)]
    with steps.watching():
        off = {"metrics__enabled": False, "outbox__previews": False}
        async with running(folder, answers, edits=True, change=CHANGE, tools={"ring": Ring()}, **off) as at_work:
            return {
                "A text": await _walked(steps, at_work, "text", _text),
                "A click": await _walked(steps, at_work, "click", _click),
                "A schedule": await _walked(steps, at_work, "schedule", _schedule),
            }


Round = Callable[[Running, Callable[[], None]], Awaitable[object]]


async def _walked(steps: Steps, at_work: Running, name: str, go: Round) -> Walk:
    rounds: list[Walk] = []
    for number in range(ROUNDS):
        words = f"{name} {number}."
        await go(at_work, lambda words=words: steps.begin(words))  # type: ignore[misc]
        await at_work.notebook.until(words)
        rounds.append(steps.walk())
        await _over(at_work)
    each = set.intersection(*map(set, rounds[1:]))
    return [step for step in rounds[-1] if step in each]


async def _over(at_work: Running) -> None:
    """What follows an answer: it is recorded as shown, and its room is free again."""
    while await at_work.app.store.outbox.open_rooms(DESK.channel, DESK.account):  # noqa: ASYNC110 - nobody rings for it
        await asyncio.sleep(0.05)
    await asyncio.sleep(0.2)


async def _text(at_work: Running, begin: Callable[[], None]) -> None:
    begin()
    await at_work.say("hello, whatever the time")


async def _click(at_work: Running, begin: Callable[[], None]) -> None:
    at_work.notebook.shown.clear()
    await at_work.say("write it")
    await at_work.notebook.until("ring")
    await _over(at_work)
    await at_work.approve(begin)


async def _schedule(at_work: Running, begin: Callable[[], None]) -> None:
    now = datetime.now(UTC)
    one = Schedule(
        id=ScheduleId(new_id()),
        name=new_id(),
        when=written_plan(Planned(At(now), "UTC", "now")),
        when_text="now",
        task=Task(TaskKind.PROMPT, "tell the news"),
        to=(DESK,),
        terms=Terms(),
        state=ScheduleState.ACTIVE,
        created_at=now,
        anchor_at=now,
        actor=ADA,
        agent="main",
        next_at=now,
    )
    begin()
    await at_work.app.store.schedules.add_schedule(one, now, "Ada")


def document(walked: Mapping[str, Walk]) -> str:
    """The section of the page: a line a module, as the walk comes to it."""
    return "\n".join(part for name, walk in walked.items() for part in [*_section(name, walk), ""])


def _section(name: str, walk: Walk) -> Iterator[str]:
    functions, modules = size(walk)
    yield f"**{name}** passes {functions} functions in {modules} modules:\n"
    yield "```text"
    for module, steps in groupby(walk, lambda step: step[0]):
        yield f"{module}: {', '.join(function for _, function in steps)}"
    yield "```"


def size(walk: Walk) -> tuple[int, int]:
    return len(walk), len({module for module, _ in walk})


def written(page: str) -> str:
    """The section as the page has it."""
    return page.partition(BEGIN)[2].partition(END)[0]


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        walked = asyncio.run(walks(Path(folder)))
    page = PAGE.read_text(encoding="utf-8")
    before, _, rest = page.partition(BEGIN)
    after = rest.partition(END)[2]
    PAGE.write_text(f"{before}{BEGIN}{document(walked)}{END}{after}", encoding="utf-8")
    for name, walk in walked.items():
        sys.stdout.write(f"{name}: {size(walk)}\n")
        sys.stdout.writelines(f"  {module}.{function}\n" for module, function in walk)


if __name__ == "__main__":
    main()
