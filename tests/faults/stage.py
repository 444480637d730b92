"""One place to play: a fake channel or the web page, the program beside it, and the evidence at the end."""

from __future__ import annotations

import json
import sqlite3
from collections import defaultdict
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager, closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import aiohttp

from bot.node.lock import control_of
from bot.operator.audit import verify
from bot.operator.client import connected
from bot.testing.channel.adapter import REPEAT_MARK
from bot.testing.channel.board import recorded
from bot.testing.channel.driver import Driver
from runtime.audit.anchor import HeadFile
from runtime.contract import Address
from runtime.store.store import open_store
from tests.contract.adapters.catalogue import RIGS
from tests.contract.adapters.rig import Rig, Skill
from tests.fakes.serve import spawned
from tests.faults.app import EFFECTS
from tests.faults.checker import Evidence, Part
from tests.faults.program import Program, living, until
from tests.faults.rigside import ROOMS, RigSide
from tests.faults.sides import Button, FakeSide, Seen, Side, seen, web_side
from tests.faults.story import Story, effects_of

WEB: Final = "web"
PLATFORMS: Final = ("slack", "telegram", "discord")
"""Rigs: each channel in its usual way of connecting."""
UNBOUND: Final = 1000
"""Messages a second: what is tested is what becomes of them, not how long our own buckets make them wait."""
OPEN: Final = frozenset(
    {
        "signals.waiting",
        *("runs.running", "runs.parked", "runs.ready"),
        "approvals.pending",
        *("deliveries.queued", "deliveries.open"),
    }
)
"""By the console's overview, what is still to be done."""


@dataclass(frozen=True, slots=True)
class Stage:
    """`driver` is there on the fake channel only, `rig` on the three platforms."""

    kind: str
    program: Program
    side: Side
    story: Story
    driver: Driver | None = None
    rig: Rig | None = None

    async def until_connected(self) -> None:
        """Until every channel is."""

        async def look() -> bool | None:
            try:
                async with aiohttp.ClientSession() as http, http.get(await self.program.up() + "/readyz") as answer:
                    return answer.status == 200 or None
            except aiohttp.ClientConnectionError:
                return None

        await until(look, "a connection to every channel")

    async def introduced(self, rooms: int) -> None:
        """A life in which a line is answered in each of so many rooms; the next scenes play there.

        Only where a platform keeps nothing for a bot that is away: then what is said in a room of which we know is read
        from its history, and what is said in any other is never heard of.
        """
        if self.rig is None or Skill.ACKNOWLEDGED not in self.rig.lacks:
            return
        async with living(self.program):
            await self.until_connected()
            await self.story.lines(rooms)
            await self.story.all_answered()
            await self.until_quiet()
            await self.program.leave()
        self.story.know_all()

    async def until_taken_in(self) -> None:
        """Until every line that people wrote is a signal."""
        wanted = sum(len(talk.lines) for talk in self.story.talks)
        rows = Rows(self.program.data / "signalbox.db")

        async def look() -> bool | None:
            ((count,),) = rows.select("SELECT count(*) FROM signals WHERE kind = 'said'")
            return count >= wanted or None

        await until(look, "every line in our records")

    async def until_quiet(self) -> None:
        """Until the program has nothing left to do."""

        left: Mapping[str, int] | None = None

        async def look() -> bool | None:
            nonlocal left
            left = await self._counts()
            return None if left is None or OPEN & set(left) else True

        try:
            await until(look, "an end of all work")
        except AssertionError as error:
            raise AssertionError(f"{error}; left: {left}\n{self.program.log()}") from error

    async def _counts(self) -> Mapping[str, int] | None:
        await self.program.up()
        control = control_of(self.program.data)
        if control is None:
            return None
        async with connected(control) as client:
            overview = await client.overview()
        counts: Mapping[str, int] = overview["counts"]
        return counts

    async def evidence(self) -> Evidence:
        """What people see now, while the program still runs, and what it wrote down."""
        data, talks = self.program.data, self.story.talks
        name = self.side.room_of if isinstance(self.side, RigSide) else room_of
        rows = Rows(data / "signalbox.db", name)
        return Evidence(
            talks=talks,
            screens={talk.room: await self.side.seen(talk.room) for talk in talks},
            calls=recorded(data / EFFECTS),
            work={
                line.words[0]: effects_of(data / "workspaces", line.words[0])
                for talk in talks
                for line in talk.lines
                if line.is_asked
            },
            parts=rows.parts(),
            approvals=rows.approvals(),
            questions=await self._questions(),
            kills=self.program.kills,
            can_tell=self.kind != "none",
            log=self.program.log(),
        )

    async def _questions(self) -> Mapping[str, Sequence[Seen]]:
        if isinstance(self.side, RigSide):
            return await self.side.questions()
        return questions(self.program.data.parent / "journal")


@asynccontextmanager
async def stage(
    folder: Path,
    kind: str,
    *arguments: str,
    stutter: bool = True,
    hurry: bool = True,
    module: str = "tests.faults.app",
) -> AsyncIterator[Stage]:
    """The platform or fake channel of `kind` as a process, or the web page; the program is not started yet."""
    data = folder / "data"
    data.mkdir(mode=0o711)
    async with AsyncExitStack() as stack:
        driver: Driver | None = None
        rig: Rig | None = None
        if kind == WEB:
            program = Program(data, *arguments, module=module)
            side: Side = await stack.enter_async_context(web_side(program, stutter=stutter))
        elif kind in PLATFORMS:
            rig = await stack.enter_async_context(RIGS[kind](folder, process=True))
            program = Program(data, *account_of(rig), *["--hurry"] * hurry, *arguments, module=module)
            side = RigSide(rig, stutter=stutter)
        else:
            journal = ("--kind", kind, "--journal", str(folder / "journal"))
            _, url = await stack.enter_async_context(spawned("bot.testing.channel.server", *journal))
            program = Program(data, "--fake", f"{kind}={url}", *arguments, module=module)
            driver = Driver(url)
            side = FakeSide(driver, stutter=stutter)
        yield Stage(kind, program, side, Story(side, data / "workspaces"), driver, rig)


def account_of(rig: Rig) -> Sequence[str]:
    """For the command line: the rig's account, everybody of its places as an owner, and no bound of ours on sending."""
    account = {**rig.settings(), "messages_per_second": UNBOUND}
    owners = sorted({place.user for place in rig.places(ROOMS)} | {rig.owner})
    return ("--set", f"accounts={json.dumps([account])}", "--set", f"access.owners={json.dumps(owners)}")


class Rows:
    """What the database says, read without the program's own code."""

    def __init__(self, path: Path, name: Callable[[str], str] | None = None) -> None:
        self._path = path
        self._name = name or room_of

    def select(self, statement: str) -> list[Any]:
        with closing(sqlite3.connect(f"file:{self._path}?mode=ro", uri=True)) as database:
            return database.execute(statement).fetchall()

    def change(self, statement: str) -> None:
        """For what only time does."""
        with closing(sqlite3.connect(self._path, timeout=10)) as database, database:
            database.execute(statement)

    def parts(self) -> list[Part]:
        rows = self.select(
            "SELECT d.address, p.body, p.attempts, p.state FROM parts p JOIN deliveries d ON d.id = p.delivery_id"
        )
        return [
            Part(self._name(address), text_of(body), attempts, state == "held")
            for address, body, attempts, state in rows
        ]

    def approvals(self) -> Mapping[str, Sequence[str]]:
        found: dict[str, list[str]] = defaultdict(list)
        for address, state in self.select("SELECT address, state FROM approvals"):
            found[self._name(address)].append(state)
        return found

    def disagreements(self) -> list[str]:
        """What does not fit together at rest, in words."""
        return [f"{words}: {rows}" for words, statement in AT_REST.items() if (rows := self.select(statement))]


AT_REST: Final[Mapping[str, str]] = {
    "lanes not idle": "SELECT * FROM sessions WHERE state <> 'idle' OR owner IS NOT NULL",
    "lanes that count signals wrongly": (
        "SELECT s.key, s.waiting FROM sessions s WHERE s.waiting <> "
        "(SELECT count(*) FROM signals i WHERE i.session = s.key AND i.state = 'waiting')"
    ),
    "lanes that count runs wrongly": (
        "SELECT s.key, s.resumable FROM sessions s WHERE s.resumable <> "
        "(SELECT count(*) FROM runs r WHERE r.session = s.key AND r.state = 'ready')"
    ),
    "lanes that number turns wrongly": (
        "SELECT s.key, s.next_turn FROM sessions s WHERE s.next_turn <> "
        "(SELECT coalesce(max(number), 0) + 1 FROM turns t WHERE t.session = s.key)"
    ),
    "signals numbered twice": "SELECT session, seq FROM signals WHERE seq IS NOT NULL GROUP BY 1, 2 HAVING count(*) > 1",
    "runs not done": "SELECT id, state, error FROM runs WHERE state <> 'done'",
    "calls not done": "SELECT run_id, number, state FROM steps WHERE state <> 'done'",
    "signals not answered": "SELECT id, text FROM signals WHERE kind = 'said' AND answered_at IS NULL",
    "signals refused": "SELECT id, kind, actor FROM signals WHERE state = 'refused'",
    "parts not shown": "SELECT delivery_id, ordinal, state, reason FROM parts WHERE state <> 'shown'",
    "deliveries not shown": "SELECT id, kind, state, reason FROM deliveries WHERE state <> 'shown'",
}


async def audit_of(data: Path) -> Mapping[str, Any]:
    """`audit verify`, with the program gone."""
    store = await open_store(f"sqlite:///{data / 'signalbox.db'}")
    try:
        return await verify(store.audit, HeadFile(data).read)
    finally:
        await store.close()


def questions(journal: Path) -> Mapping[str, Sequence[Seen]]:
    """By room, each message with buttons as it was first shown on the fake channel."""
    found: dict[str, list[Seen]] = defaultdict(list)
    for line in journal.read_bytes().splitlines() if journal.exists() else ():
        record = json.loads(line)
        if record["op"] == "shown" and record["buttons"]:
            buttons = [Button(approval, choice) for approval, choice, _ in record["buttons"]]
            found[record["room"]].append(seen(record["text"], buttons))
    return found


def room_of(address: str) -> str:
    return Address.parse(address).room


def text_of(body: str) -> str:
    raw = json.loads(body)
    return str(raw.get("markdown", raw.get("text", ""))).removeprefix(REPEAT_MARK)
