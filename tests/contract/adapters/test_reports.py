"""A report on every platform: its text and its picture once, in the room or in the thread that it belongs to."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass, replace
from datetime import timedelta
from pathlib import Path
from typing import Final

import pytest

from runtime.contract import (
    Address,
    ChannelAdapter,
    Content,
    Delivery,
    FileRef,
    Job,
    OccurrenceId,
    Part,
    Receipt,
    RunId,
    ScheduleId,
    SessionKey,
    SettleResult,
    Shown,
    Task,
    TaskKind,
    Terms,
    Thread,
    ToolContext,
)
from runtime.delivery.sender import under_of
from runtime.domain.deliveries import DeliveryState, PartState
from runtime.domain.ids import new_id
from runtime.errors import Uncertain
from runtime.reports.fan_out import Reporting
from runtime.store.protocol import OpenDelivery, OpenPart
from runtime.workspace.workspaces import WorkspaceFolders
from tests.contract.adapters.conftest import Opened
from tests.contract.adapters.rig import OnScreen, Place, Skill, Trouble
from tests.contract.adapters.stage import Stage
from tools.charting.chart import chart_tool
from tools.charting.renderer import ChartRenderer

TEXT: Final = "# Sales of the week\n\nThe north sold **twelve**.\n\n- The south sold thirty-four"
CHART: Final = {
    "kind": "bar",
    "title": "Sales",
    "labels": ["North", "South"],
    "series": [{"name": "2026", "values": [12, 34]}],
}
NAME: Final = "sales.png"
WORDS: Final = ("Sales of the week", "twelve", "thirty-four")
SCHEDULE: Final = ScheduleId("s1")
LONG: Final = 1_000  # characters that make a file of a text

Drawn = tuple[FileRef, bytes]


def short_id() -> str:
    """As long as a delivery's, so that its parts have ids that fit."""
    return new_id()[-20:]


@dataclass
class Desk:
    """Makes reports of one schedule for one room, and shows them as the courier does."""

    stage: Stage
    adapter: ChannelAdapter
    place: Place
    workspaces: WorkspaceFolders
    drawn: Drawn
    root: str = ""

    @property
    def has_threads(self) -> bool:
        return Skill.THREADS not in self.stage.rig.lacks

    async def report(self, text: str, thread: Thread = Thread.ROOM, files: Sequence[FileRef] = ()) -> OpenDelivery:
        """Rendered, and nothing of it is on screen."""
        task, to, terms = Task(TaskKind.PROMPT, "report"), (self.place.address,), Terms(thread=thread)
        job = Job(OccurrenceId("o1"), SCHEDULE, "Sales", task, to, terms, self.stage.clock())
        reporting = Reporting(self.workspaces, short_id, self._content, self._first)
        [new] = await reporting.deliveries(job, RunId("r1"), text, files)
        delivery = Delivery(new.id, new.origin, new.ordinal, new.kind, new.address, new.content)
        wires = self.adapter.render(delivery)
        parts = tuple(OpenPart(n, PartState.PENDING, wire.body, wire.fallback) for n, wire in enumerate(wires, 1))
        return OpenDelivery(delivery, DeliveryState.OPEN, delivery.kind.rank, 1, self.stage.clock(), parts)

    async def _first(self, schedule: ScheduleId, address: Address) -> str:
        return self.root

    async def _content(self, address: Address, run: RunId, text: str) -> Content:
        if len(text) < LONG:
            return Content(text)
        path = self.workspaces.folder(address) / "all.md"
        path.write_text(text, encoding="utf-8")
        return Content(text, text_file=FileRef("all.md", "all.md", path.stat().st_size))

    def chart(self) -> list[FileRef]:
        """What the tool put onto a reply, in the workspace of the room."""
        file, content = self.drawn
        path = self.workspaces.folder(self.place.address) / file.path
        path.parent.mkdir()
        path.write_bytes(content)
        return [file]

    def part(self, open_: OpenDelivery, ordinal: int) -> Part:
        known = open_.parts[ordinal - 1]
        return Part(open_.delivery.id, ordinal, self.place.address, known.body, under=under_of(open_, ordinal))

    def shown(self, open_: OpenDelivery, ordinal: int, receipt: Receipt) -> OpenDelivery:
        parts = [replace(p, state=PartState.SHOWN, receipt=receipt) if p.ordinal == ordinal else p for p in open_.parts]
        return replace(open_, parts=tuple(parts))

    async def show(self, open_: OpenDelivery) -> OpenDelivery:
        """What is left of it."""
        for part in open_.parts:
            if part.state is not PartState.SHOWN:
                receipt = await self.stage.show(self.adapter, self.part(open_, part.ordinal))
                open_ = self.shown(open_, part.ordinal, receipt)
        return open_

    async def screen(self) -> list[OnScreen]:
        return list(await self.stage.visible(self.place))


Desks = Callable[..., AbstractAsyncContextManager[Desk]]


@pytest.fixture(scope="module")
def drawn(tmp_path_factory: pytest.TempPathFactory) -> Drawn:
    """A real one; drawing takes a second, so all tests have the same."""
    folder, made = tmp_path_factory.mktemp("drawn"), list[FileRef]()
    context = ToolContext(folder, SessionKey("s"), RunId("r1"), "c1", attach=made.append)
    asyncio.run(drawing(context, folder))
    [file] = made
    return file, (folder / file.path).read_bytes()


async def drawing(context: ToolContext, folder: Path) -> None:
    await chart_tool(ChartRenderer(folder / "fonts")).call(dict(CHART), context)


@pytest.fixture
def desks(opened: Opened, tmp_path: Path, drawn: Drawn) -> Desks:
    """`async with desks(SKILL, …) as desk`: at work in a room of several where there is one."""

    @asynccontextmanager
    async def desk(*needed: Skill) -> AsyncIterator[Desk]:
        async with opened(*needed) as stage:
            workspaces = WorkspaceFolders(tmp_path / "reports", "main")
            stage.given = replace(stage.given, workspaces=workspaces)
            rooms = stage.rig.rooms()
            async with stage.life() as adapter:
                yield Desk(stage, adapter, rooms.shared or rooms.direct, workspaces, drawn)

    return desk


def message_of(open_: OpenDelivery) -> str:
    """The wire's id of its first message."""
    assert open_.parts[0].receipt
    return open_.parts[0].receipt.message_id


def told(screen: Sequence[OnScreen]) -> str:
    return "\n".join(message.text for message in screen)


def pictures(screen: Sequence[OnScreen]) -> list[str]:
    return [name for message in screen for name in message.files]


# ------------------------------------------------------------------------------------------------------------ charts


@pytest.mark.parametrize("thread", Thread)
async def test_a_report_with_a_chart_is_on_screen_once_with_its_text_and_its_picture(
    desks: Desks, thread: Thread
) -> None:
    async with desks() as desk:
        await desk.show(await desk.report(TEXT, thread, desk.chart()))
        screen = await desk.screen()
        assert pictures(screen) == [NAME]
        for words in WORDS:
            assert told(screen).count(words) == 1


async def test_a_report_of_nothing_but_a_chart_shows_it(desks: Desks) -> None:
    async with desks() as desk:
        await desk.show(await desk.report("", files=desk.chart()))
        assert pictures(await desk.screen()) == [NAME]


async def test_a_report_so_long_that_it_is_a_file_keeps_its_chart(desks: Desks) -> None:
    long = TEXT + "\n\n" + "All of this is to be read at leisure. " * 100
    async with desks() as desk:
        await desk.show(await desk.report(long, files=desk.chart()))
        screen = await desk.screen()
        assert NAME in pictures(screen)
        if desk.stage.rig.channel != "web":  # a page shows a text of any length
            assert sorted(pictures(screen)) == ["all.md", NAME]
        assert WORDS[0] in told(screen)


# ------------------------------------------------------------------------------------------------------------ threads


async def test_a_report_with_a_thread_of_its_own_has_its_first_line_in_the_room_and_the_rest_under_it(
    desks: Desks,
) -> None:
    async with desks(Skill.THREADS) as desk:
        await desk.show(await desk.report(TEXT, Thread.OWN, desk.chart()))
        first, *rest = await desk.screen()
        assert (first.text.strip("# *\n"), first.under, first.files) == (WORDS[0], "", ())
        assert rest
        assert {message.under for message in rest} == {first.id}
        assert pictures(rest) == [NAME]


async def test_a_report_of_one_line_begins_no_thread(desks: Desks) -> None:
    async with desks() as desk:
        await desk.show(await desk.report("All is well.", Thread.OWN))
        [one] = await desk.screen()
        assert (one.text, one.under) == ("All is well.", "")


async def test_a_report_that_begins_with_a_table_is_announced_by_its_schedules_name(desks: Desks) -> None:
    async with desks(Skill.THREADS) as desk:
        await desk.show(await desk.report("| north | south |\n| - | - |\n| 12 | 34 |", Thread.OWN))
        first, *rest = await desk.screen()
        assert first.text.strip("# *\n") == "Sales"
        assert [message.under for message in rest] == [first.id]


async def test_in_a_running_thread_all_reports_stand_under_the_first(desks: Desks) -> None:
    async with desks(Skill.THREADS) as desk:
        desk.root = message_of(await desk.show(await desk.report("The first report", Thread.RUNNING)))
        for text in ("the second report", "the third report"):
            await desk.show(await desk.report(text, Thread.RUNNING))
        root, *others = await desk.screen()
        assert (root.text, root.under) == ("The first report", "")
        assert [(one.text, one.under) for one in others] == [
            ("the second report", root.id),
            ("the third report", root.id),
        ]


async def test_where_the_first_report_was_deleted_the_next_stands_in_the_room(desks: Desks) -> None:
    async with desks(Skill.THREADS) as desk:
        desk.root = message_of(await desk.show(await desk.report("The first report", Thread.RUNNING)))
        [root] = await desk.screen()
        await desk.stage.rig.remove(desk.place, root)
        await desk.show(await desk.report("the second report", Thread.RUNNING))
        assert [(one.text, one.under) for one in await desk.screen()] == [("the second report", "")]


@pytest.mark.parametrize("trouble", [Trouble.CUT_AFTER, Trouble.CUT_BEFORE])
@pytest.mark.parametrize("seconds", [0, 300])
async def test_what_was_cut_under_a_report_is_looked_for_there(desks: Desks, trouble: Trouble, seconds: int) -> None:
    """`seconds` later, when no platform knows a repeat by its key any more: Discord then reads its history."""
    async with desks(Skill.THREADS, Skill.CUTS, Skill.SETTLES) as desk:
        stage = desk.stage
        for text in ("The first report", "the second report"):
            first = await desk.show(await desk.report(text, Thread.RUNNING))
            desk.root = desk.root or message_of(first)
        open_ = await desk.report("the third report", Thread.RUNNING)
        part, attempt = desk.part(open_, 1), stage.attempt(desk.adapter, desk.part(open_, 1))
        await stage.rig.fault(trouble, count=1)
        with pytest.raises(Uncertain):
            await desk.adapter.show(part)
        await stage.rig.lift()
        stage.clock.ahead += timedelta(seconds=seconds)
        match await stage.settle(desk.adapter, part, attempt):
            case Shown(receipt):
                await stage.checkpoint(desk.adapter, receipt, part)
            case found:
                assert found is SettleResult.ABSENT
                assert trouble is Trouble.CUT_BEFORE
                await desk.show(open_)
        root, *others = await desk.screen()
        assert [one.text for one in others] == ["the second report", "the third report"]
        assert {one.under for one in others} == {root.id}
