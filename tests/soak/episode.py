"""One episode: a database, its nodes, five places full of people; played to its end, and judged."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Coroutine, Iterator, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, NoReturn

from bot.operator.audit import verify
from runtime.audit.anchor import HeadFile
from runtime.store.store import open_store
from tests.faults.program import GLANCE, first
from tests.faults.sides import web_side
from tests.soak.deeds import ALLOWED, deeds_in
from tests.soak.diary import Complaint, Diary
from tests.soak.evidence import Evidence, place_of
from tests.soak.node import Node, Nodes
from tests.soak.people import People
from tests.soak.plan import WEB, Gust, Plan
from tests.soak.platforms import Platform, Shown, flags, platforms
from tests.soak.promises import check
from tests.soak.rows import (
    ALWAYS,
    AT_END,
    AT_REST,
    UNANSWERED,
    Database,
    Postgresql,
    Row,
    Sqlite,
    broken,
    keep_tables,
    read,
)
from tests.soak.story import story
from tests.soak.streets import FakeStreet, Street, WebStreet

PATIENCE: Final = 40.0  # seconds without any progress; one or two where nothing else runs
CALM: Final = 0.6  # seconds after which what a platform applies late is applied
LOOKS_EVERY: Final = 0.4  # seconds between two looks at the database
EXPIRES: Final = 6.0  # seconds for each node after which a question that nobody answers expires


class BrokenPromise(AssertionError):
    """The first promise that was not kept, told as what happened."""


@dataclass(slots=True)
class Scene:
    """What an episode plays in. `url` is the PostgreSQL database; without it there is an SQLite file.

    `patience` is in seconds: so long there may be no progress at all before everything has come to its end.
    """

    plan: Plan
    folder: Path
    url: str = ""
    plants: Sequence[str] = ()
    settings: Mapping[str, object] = field(default_factory=dict)
    patience: float = PATIENCE

    @property
    def deeds(self) -> Path:
        return self.folder / "deeds"

    @property
    def database(self) -> Database:
        return Postgresql(self.url) if self.url else Sqlite(self.data(0) / "signalbox.db")

    def data(self, node: int) -> Path:
        return self.folder / f"node{node}"

    def command(self, node: int, made: dict[str, Platform]) -> Iterator[str]:
        yield from ("--data", str(self.data(node)), "--deeds", str(self.deeds), "--think", str(self.plan.think))
        yield from flags(made) if node == 0 or not self.plan.one_hears else ()
        for name, value in self._settings().items():
            yield from ("--set", f"{name}={json.dumps(value)}")
        for plant in self.plants:
            yield from ("--plant", plant)

    def _settings(self) -> Mapping[str, object]:
        return {
            "access.default": "allow",
            "budgets.day": 1_000_000,  # never spent: here it is counted
            "budgets.room_day": 1_000_000,
            "policy": ALLOWED,
            "approvals.expires_hours": EXPIRES * len(self.plan.ends) / 3600,
            "run.max_crashes": 1000,  # here it is never the message that kills
            "sessions.busy": self.plan.busy,
            "outbox.unknown": self.plan.unknown,
            "outbox.settle_first_seconds": 1.2,  # from one look to the next where the first is made at once
            "outbox.settle_second_seconds": 2.4,
            "workspace_dir": str(self.folder / "workspaces"),
            **({"database_url": self.url} if self.url else {}),
            **self.settings,
        }


class Episode:
    """`play` is all of it; the evidence is kept for the counts of the campaign."""

    def __init__(self, scene: Scene) -> None:
        self._scene = scene
        self._database = scene.database
        self._diary = Diary()
        self._people = People(scene.plan.name, scene.deeds)
        self._streets: dict[str, Street] = {}
        self._platforms: dict[str, Platform] = {}
        self._page: list[Shown] = []
        self._nodes = Nodes([], "")
        self.evidence: Evidence | None = None

    async def play(self) -> Evidence:
        """Errors: BrokenPromise, with its story."""
        try:
            async with self._built():
                await self._played()
            await self._judged()
        except BaseExceptionGroup as errors:
            await self._explained(first(errors))
        except Complaint as complaint:
            await self._explained(complaint)
        finally:
            await self._database.close()
        assert self.evidence is not None
        return self.evidence

    # ------------------------------------------------------------------------------------------------- the setting

    @asynccontextmanager
    async def _built(self) -> AsyncIterator[None]:
        scene = self._scene
        scene.folder.mkdir(parents=True, exist_ok=True)
        async with AsyncExitStack() as stack:
            kinds = [place for place in scene.plan.places if place != WEB]
            self._platforms = await stack.enter_async_context(platforms(kinds))
            self._nodes = Nodes([self._node(number) for number in range(len(scene.plan.ends))], scene.plan.name)
            self._streets = {kind: FakeStreet(one, self._diary) for kind, one in self._platforms.items()}
            if WEB in scene.plan.places:
                side = await stack.enter_async_context(web_side(self._nodes, stutter=False))
                self._streets[WEB] = WebStreet(side, self._diary)
            yield

    def _node(self, number: int) -> Node:
        command = [*self._scene.command(number, self._platforms)]
        return Node(f"node{number}", command, self._scene.folder, self._diary)

    # -------------------------------------------------------------------------------------------------- the playing

    async def _played(self) -> None:
        spent, over = asyncio.Event(), asyncio.Event()
        async with asyncio.TaskGroup() as group:
            group.create_task(self._nodes.run(self._scene.plan.ends, spent, over, self._look_into_store))
            standing = [group.create_task(work) for work in self._standing(group)]
            weather = [group.create_task(self._blow(place, gusts)) for place, gusts in self._scene.plan.weather.items()]
            if self._scene.plan.one_hears:
                await self._nodes.all_up()
            for (place, room), acts in self._scene.plan.rooms.items():
                group.create_task(self._people.write(self._streets[place], room, acts, group))
            await spent.wait()
            self._diary.write("no more kills")
            self._people.close()
            for task in weather:
                task.cancel()
            for platform in self._platforms.values():
                await platform.driver.lift()
            await self._until_quiet()
            self._diary.write("quiet")
            self._page = await self._whole_page()
            for task in standing:
                task.cancel()
            over.set()

    def _standing(self, group: asyncio.TaskGroup) -> Iterator[Coroutine[Any, Any, None]]:
        """What goes on from the beginning to the end."""
        yield self._inspect()
        for place, room in self._scene.plan.rooms:
            yield self._people.watch(self._streets[place], room, group)

    async def _inspect(self) -> None:
        """Look at the database while the program works. Errors: Complaint."""
        while True:
            await self._look_into_store()
            waiting = await self._database.select(UNANSWERED)
            self._people.unanswered = {place_of(row["address"]): row["messages"] for row in waiting}
            await asyncio.sleep(LOOKS_EVERY)

    async def _look_into_store(self) -> None:
        for words, row in await broken(self._database, ALWAYS):
            raise found(words, row)

    async def _blow(self, place: str, gusts: Iterator[Gust]) -> None:
        driver = self._platforms[place].driver
        for gust in gusts:
            await asyncio.sleep(gust.pause)
            self._diary.write("weather", place=place, do=gust.do or "away", count=gust.count)
            if gust.do:
                await driver.fault(gust.do, count=gust.count, seconds=gust.seconds, on=gust.on)
            else:
                await driver.away()
                await asyncio.sleep(gust.seconds)
                await driver.away(False)

    async def _until_quiet(self) -> None:
        """Until the program has nothing left to do, nobody has anything to say, and it stays so for a moment."""
        clock, calm = asyncio.get_running_loop().time, False
        progress, since = await self._progress(), clock()
        while True:
            left = self._unacknowledged() or [found(*one) for one in await broken(self._database, AT_REST)]
            if not left and self._people.is_calm and calm:
                return
            calm = not left and self._people.is_calm
            await asyncio.sleep(CALM if calm else GLANCE)
            if (now := await self._progress()) != progress or not self._nodes.is_any_up:
                progress, since = now, clock()  # a start has a time of its own
            if left and clock() - since > self._scene.patience:
                raise left[0]

    async def _progress(self) -> object:
        """Something that changes with whatever is done: hardly a transaction has no line in the audit."""
        return await self._database.select("SELECT count(*) AS rows FROM audit"), len(self._diary.notes)

    def _unacknowledged(self) -> list[Complaint]:
        acked = self._acked()
        events = (note.about["event"] for note in self._diary.of("said", "clicked", "stopped"))
        return [
            Complaint("inbound event", f"The event {event} is never acknowledged.", event=event)
            for event in events
            if event not in acked
        ]

    async def _whole_page(self) -> list[Shown]:
        shown = [one for place, room in self._scene.plan.rooms if place == WEB for one in await self._look(place, room)]
        return sorted(shown, key=lambda one: (one.at, one.id))

    async def _look(self, place: str, room: str) -> list[Shown]:
        return await self._streets[place].look(room)

    # -------------------------------------------------------------------------------------------------- the judging

    async def _judged(self) -> None:
        """Errors: Complaint."""
        self.evidence = await self._gathered()
        self._diary.keep(self._scene.folder / "diary")
        check(self.evidence)
        for words, row in await broken(self._database, {**ALWAYS, **AT_END}):
            raise found(words, row)
        await self._check_audit()
        self._check_log()

    async def _gathered(self) -> Evidence:
        fakes = (
            one
            for platform in self._platforms.values()
            for room in platform.board.rooms.values()
            for one in room.values()
        )
        return Evidence(
            plan=self._scene.plan,
            lines=self._people.lines,
            notes=self._diary.notes,
            tables=await read(self._database),
            shown=[*sorted(fakes, key=lambda one: one.at), *self._page],
            acked=self._acked(),
            deeds=deeds_in(self._scene.deeds),
        )

    def _acked(self) -> Mapping[str, float]:
        page = {note.about["event"]: note.at for note in self._diary.of("acked")}
        for platform in self._platforms.values():
            page |= platform.board.acked_at
        return page

    async def _check_audit(self) -> None:
        store = await open_store(self._scene.url or f"sqlite:///{self._scene.data(0) / 'signalbox.db'}")
        try:
            for number in range(len(self._scene.plan.ends)):
                told = await verify(store.audit, HeadFile(self._scene.data(number)).read)
                if not told["whole"]:
                    raise Complaint("audit", f"`audit verify` on node{number} says: {told['fault']}.")
        finally:
            await store.close()

    def _check_log(self) -> None:
        for node in self._nodes.all:
            for line in node.log.read_text(encoding="utf-8").splitlines() if node.log.exists() else ():
                if '"level": "error"' in line or '"level": "critical"' in line or line.startswith("Traceback"):
                    raise Complaint("life", f"The log of {node.name} tells of a bug: {line[:2000]}")

    async def _explained(self, error: BaseException) -> NoReturn:
        """Errors: BrokenPromise with the story of a complaint; any other error as it is."""
        if not isinstance(error, Complaint):
            raise error
        self.evidence = self.evidence or await self._gathered()
        self._diary.keep(self._scene.folder / "diary")
        keep_tables(self._scene.folder / "tables.json", self.evidence.tables)
        raise BrokenPromise(story(error, self.evidence)) from None


def found(words: str, row: Row) -> Complaint:
    """A row that breaks a rule of the store. What it names by an id is what the story is about."""
    named = {name: str(row[name]) for name in ("signal", "run", "delivery", "approval", "address") if name in row}
    return Complaint("store", f"There is {words}: {dict(row)}.", **named)
