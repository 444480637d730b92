"""Open questions behind a real wire: adapter, intake, agent and store at work, and all that was made of each press."""

from __future__ import annotations

import asyncio
import logging
import re
from collections import defaultdict
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from datetime import timedelta
from pathlib import Path
from typing import Any, Final

import structlog
from sqlalchemy import text

from bot.testing.clocks import HandClock
from runtime.contract import (
    AdapterContext,
    Address,
    Call,
    ChannelAdapter,
    Choice,
    Clicked,
    Connection,
    Identity,
    ModelReply,
    ModelRequest,
    OnText,
    Outcome,
    Part,
    Said,
    Signal,
    Stopped,
    UserTurn,
    Verdict,
)
from runtime.domain.approvals import ApprovalState
from runtime.domain.ids import new_id
from runtime.domain.routing import RoomRules
from runtime.store.sql.driver import Op
from runtime.store.store import Store
from tests.contract.adapters.stage import FakePlaces, FakeSink, at_work
from tests.contract.runtime.stage import FakeTool, Process, Stage, fake_tool
from tests.contract.runtime.strict import Strict
from tests.security.presses import BLOCKED, DEMOTED, HERE, PEOPLE, REMOVED, THERE, Press, Rule
from tests.security.wires.page import WebWire, token_of
from tests.security.wires.slack import SlackWire
from tests.security.wires.wire import Sent, Wire, until
from tests.unit.web.stage import FakeNotifier

REFUSALS: Final = "SELECT count(*) FROM audit WHERE kind IN ('refused', 'click refused', 'undo refused')"
QUESTIONS: Final = "SELECT id, state, choice, decided_by, arguments FROM approvals ORDER BY id"
VOTES: Final = "SELECT v.approval_id, p.name, v.choice FROM votes v JOIN people p ON p.id = v.person_id ORDER BY v.at"
WISH: Final = re.compile(r"please \w+")
WORKING: Final = ("signals.waiting", "runs.running", "runs.ready")


@dataclass(frozen=True, slots=True)
class Made:
    """What came of a press: what it was answered, and what our rows say since."""

    sent: Sent | None
    verdicts: tuple[Verdict, ...]
    changed: bool
    refusals: int
    error: str = ""


class Asking(Strict):
    """Makes one call for each thing that people say, and no other. `asked` outlives the process."""

    def __init__(self, tool: str, asked: set[str]) -> None:
        super().__init__([])
        self._tool = tool
        self._asked = asked

    async def reply(self, request: ModelRequest, on_text: OnText) -> ModelReply:
        said = {word for turn in request.turns if isinstance(turn, UserTurn) for word in WISH.findall(turn.text)}
        fresh = said - self._asked
        self._asked |= fresh
        call = Call(f"call-{len(self._asked)}", self._tool, '{"command": "uname -a"}')
        self._answers = [call if fresh else "done"]
        return await super().reply(request, on_text)


class Faults(logging.Handler):
    """Every error that is logged."""

    def __init__(self) -> None:
        super().__init__(logging.ERROR)
        self.told: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.told.append(self.format(record))


@dataclass
class House:
    """One rule and one wire. Lives follow each other; the store, its people and its questions stay."""

    stage: Stage
    wire: Wire
    rule: Rule
    tool: FakeTool
    process: Process
    heard: dict[str, list[Verdict]] = field(default_factory=lambda: defaultdict(list))
    asked: set[str] = field(default_factory=set)
    raised: list[str] = field(default_factory=list)
    faults: Faults = field(default_factory=Faults)

    # ------------------------------------------------------------------------------------------------------- lives

    @asynccontextmanager
    async def life(self) -> AsyncIterator[None]:
        """A new process: what was kept in memory is gone."""
        names = frozenset({self.wire.identity(BLOCKED)})
        rooms, rights = RoomRules(blocked=names), self.rule.rights(self.wire.identity)
        self.process = await self._begun(rooms=rooms, rights=rights)
        self.wire.heard = self.heard
        adapter = self.wire.adapter(self._given())
        async with self.wire.reachable(adapter), at_work(adapter, self._sink), self.process.running():
            await until(lambda: adapter.standing().connection is Connection.CONNECTED, f"{adapter.standing()}")
            if not self.wire.cards:
                self.wire.cards += [await self._card(adapter, room) for room in self.wire.rooms]
            yield

    async def _begun(self, **setting: Any) -> Process:
        return await self.stage.process(Asking(self.rule.tool, self.asked), [self.tool], **setting)

    def _given(self) -> AdapterContext:
        store = self.stage.store
        return AdapterContext(
            store.history,
            store.people,
            self.stage.workspaces,
            FakePlaces(FakeSink()),
            FakeNotifier(),
            self.stage.clock,
            new_id,
        )

    async def _card(self, adapter: ChannelAdapter, room: Address) -> str:
        """A real card of a real question there, on screen."""
        await self.ask(room)
        [first, *_] = await self.stage.store.outbox.open_deliveries(room)
        [wire, *_] = adapter.render(first.delivery)
        return (await adapter.show(Part(first.delivery.id, 1, room, wire.body))).message_id

    async def _sink(self, signal: Signal) -> Verdict:
        """The real one, and what it said. A key of the page holds its sender."""
        try:
            verdict = await self.process.reception.sink(signal)
        except Exception as error:
            self.raised.append(repr(error))
            raise
        self.heard[signal.natural_key or signal.dedupe_key].append(verdict)
        return verdict

    # ------------------------------------------------------------------------------------------------------ people

    async def move_in(self) -> None:
        for name, role in PEOPLE.items():
            if role is not None:
                given = [] if isinstance(self.wire, WebWire) else [self.wire.identity(name)]
                assert await self.stage.store.people.add_person(name, role, given, actor="test")
                assert await self.stage.store.people.set_link(name, token_of(name), actor="test")
            if role is not None and isinstance(self.wire, WebWire):
                known = await self.stage.store.people.person_of(token_of(name))
                assert known
                self.wire.identities[name] = known[1]

    async def change_people(self) -> None:
        """Between the card and the press: two lose their right, one is gone."""
        for name, role in DEMOTED.items():
            await self.stage.store.people.set_role(name, role, actor="test")
        who = "(SELECT id FROM people WHERE name = :name)"
        await self._write(f"DELETE FROM identities WHERE person_id = {who}", name=REMOVED)
        await self.stage.store.people.set_link(REMOVED, "another", actor="test")

    async def _write(self, sql: str, **given: object) -> None:
        """Behind the store's back: nobody can be removed yet."""

        def change() -> Op[None]:
            yield text(sql), given

        await self.stage.store.driver.write(change)

    # --------------------------------------------------------------------------------------------------- questions

    async def ask(self, room: Address | None = None) -> str:
        """Somebody asked for the call; the id of the question."""
        before = set(await self.column("SELECT id FROM approvals"))
        asker = Identity(self.wire.identity(self.rule.asker))
        await self.process.reception.sink(
            self._signal(Said(f"please {new_id()}"), asker, room or self.wire.rooms[HERE])
        )
        await self.rest()
        [asked] = set(await self.column("SELECT id FROM approvals")) - before
        return str(asked)

    def _signal(self, body: Said | Stopped | Clicked, who: Identity, room: Address) -> Signal:
        return Signal(f"{room.channel}:{room.account}", new_id(), who, "test", room, body, self.stage.clock())

    async def decide(self, question: str, choice: Choice) -> None:
        """By the usual way, and by somebody with the right."""
        who = sorted(self.rule.entitled)[0]
        made = await self.press(Press(who, f"{question}:{choice}"))
        assert [verdict.outcome for verdict in made.verdicts] == [Outcome.DECIDED], made

    async def expired(self) -> str:
        asked = await self.ask()
        self.stage.clock.advance(timedelta(hours=13))
        return asked

    async def withdrawn(self) -> str:
        """One whose run was stopped."""
        asked = await self.ask()
        who = Identity(self.wire.identity(self.rule.asker))
        await self.process.reception.sink(self._signal(Stopped(), who, self.wire.rooms[HERE]))
        await self.rest()
        assert await self.column("SELECT state FROM approvals WHERE id = :id", id=asked) == [ApprovalState.VOID]
        return asked

    async def elsewhere(self) -> str:
        return await self.ask(self.wire.rooms[THERE])

    # ----------------------------------------------------------------------------------------------------- presses

    async def press(self, press: Press) -> Made:
        return await self._watched(lambda: self.wire.send(press), is_told=press.twist is None)

    async def again(self, sent: Sent) -> Made:
        return await self._watched(lambda: self.wire.again(sent))

    async def _watched(self, send: Callable[[], Awaitable[Sent]], *, is_told: bool = True) -> Made:
        before, refusals = await self.state(), await self.refusals()
        notices = self._notices()
        known = sum(map(len, self.heard.values()))
        sent, error = None, ""
        try:
            sent = await send()
        except Exception as failure:  # noqa: BLE001 - whatever it is, the case tells of it
            error = repr(failure)
        errors = [error, *self.raised, *self.faults.told]
        self.raised.clear()
        self.faults.told.clear()
        fresh = sum(map(len, self.heard.values())) - known
        verdicts = tuple(self.heard[sent.key][-fresh:]) if sent and fresh else ()
        changed = await self.state() != before
        if sent and is_told and any(v.notice for v in verdicts) and isinstance(self.wire, SlackWire):
            await until(lambda: self._notices() > notices, f"private word about {sent.key}")  # it is said aside
            sent = replace(sent, told=self.wire.slack.board.notices[-1]["text"])
        return Made(sent, verdicts, changed, await self.refusals() - refusals, "; ".join(filter(None, errors)))

    async def together(self, press: Press) -> tuple[list[Outcome], str]:
        """One of many at once: what was made of it, and an error on the way."""
        try:
            sent = await self.wire.send(press)
        except Exception as failure:  # noqa: BLE001 - whatever it is, the case tells of it
            return [], repr(failure)
        return [verdict.outcome for verdict in self.heard[sent.key]], "; ".join([*self.raised, *self.faults.told])

    def _notices(self) -> int:
        return len(self.wire.slack.board.notices) if isinstance(self.wire, SlackWire) else 0

    # -------------------------------------------------------------------------------------------------------- rows

    async def state(self) -> tuple[Any, ...]:
        """All questions and all votes."""
        return tuple(await self.stage.rows(QUESTIONS)), tuple(await self.stage.rows(VOTES))

    async def refusals(self) -> int:
        return int((await self.column(REFUSALS))[0])

    async def votes(self, question: str) -> list[tuple[str, str]]:
        """Who decided it, and how."""
        return [(who, choice) for about, who, choice in await self.stage.rows(VOTES) if about == question]

    async def column(self, sql: str, **given: object) -> list[Any]:
        return [row[0] for row in await self.stage.rows(sql, **given)]

    async def rest(self) -> None:
        """Until the agent has nothing to do but wait for people."""

        async def at_rest() -> bool:
            counts = await self.stage.store.operations.counts()
            return not any(counts.get(name, 0) for name in WORKING)

        async with asyncio.timeout(60):
            while not await at_rest():  # noqa: ASYNC110 - no event tells
                await asyncio.sleep(0.001)


@asynccontextmanager
async def house(store: Store, clock: HandClock, wire: Wire, rule: Rule, folder: Path) -> AsyncIterator[House]:
    stage = Stage(store, clock, folder)
    tool = fake_tool(rule.tool, rule.effect)
    made = House(stage, wire, rule, tool, None)  # type: ignore[arg-type]  # the first life brings it
    await made.move_in()
    root = logging.getLogger()
    root.addHandler(made.faults)
    try:
        with structlog.testing.capture_logs():
            yield made
    finally:
        root.removeHandler(made.faults)
        await store.close()
