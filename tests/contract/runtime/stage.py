"""One life of the runtime over a real store: taking in, dispatch, agent and courier, wired as in production.

The channel is a page: what it shows is what our store says. A second `Process` over the same store is a restart.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine, Iterable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from datetime import timedelta
from functools import partial
from itertools import count
from pathlib import Path
from typing import Any, Final

from sqlalchemy import text

from bot.testing.clocks import HAND_CLOCK_START, HandClock
from runtime.agent.delegation.children import ChildRuns
from runtime.agent.duties.answering import Answerer
from runtime.agent.duties.compacting import Compactor
from runtime.agent.duties.intercepting import RunInterceptors
from runtime.agent.duties.reminders import Reminders
from runtime.agent.duties.renewing import SummaryRenewal
from runtime.agent.duties.undoing import Undoer
from runtime.agent.edits import Edits
from runtime.agent.loop import AgentLoop
from runtime.agent.outcome import LongForm, LongText
from runtime.agent.previews import Previews
from runtime.agent.questions import OwnCall, QuestionContext
from runtime.agent.registry import Agent, Agents, Limits, Prompt
from runtime.agent.run_state import Maker
from runtime.chat.audience import Places
from runtime.cluster.notifier import LocalNotifier
from runtime.cluster.poller import Poller
from runtime.cluster.topics import ASKED_BACK, COMPACTING, LANES, UNDOS
from runtime.context.prompt.prompts import Prompted
from runtime.context.watch import LoopNotices
from runtime.contract import (
    BOUNDLESS,
    CONNECTED,
    Address,
    ApprovalId,
    Attempt,
    Author,
    Body,
    Busy,
    Call,
    CallKey,
    ChannelAdapter,
    Choice,
    Clicked,
    ConnectionStatus,
    Delivery,
    Effect,
    Features,
    Fetch,
    FileRef,
    Flow,
    Identity,
    Job,
    Json,
    Model,
    NodeId,
    Part,
    Probe,
    Progress,
    Reads,
    Receipt,
    Role,
    Said,
    Settled,
    SettleResult,
    Signal,
    Sink,
    Space,
    Stopped,
    ToolContext,
    ToolSpec,
    Transcriber,
    Verdict,
    Wire,
    no_probe,
)
from runtime.delivery.context import CourierContext
from runtime.delivery.courier import Courier
from runtime.delivery.couriers import Couriers
from runtime.delivery.retry_policy import RetryPolicy
from runtime.domain.approvals import Approval, ApprovalState, Rights
from runtime.domain.ids import new_id
from runtime.domain.routing import BusyRules, RoomRules
from runtime.domain.runs import RunState
from runtime.guard.door import OPEN_DOOR
from runtime.guard.findings import Gate as GuardGate
from runtime.intake.dispatch import Dispatch
from runtime.intake.downloads import Fetching, FileBounds
from runtime.intake.reception import Reception
from runtime.interceptors.chain import Interceptors, Placed
from runtime.models.guarded import GuardedModel
from runtime.policy.rules import Policy, Rule
from runtime.policy.terms import Terms
from runtime.reports.fan_out import Reporting
from runtime.schedules.firing import Scheduler
from runtime.schedules.service import ScheduleService
from runtime.store.people.people import add_person
from runtime.store.protocol import Duty, Gate, Lease, RunRow
from runtime.store.sql.driver import Op, Unwatched
from runtime.store.store import Store
from runtime.text.emoji import any_emoji
from runtime.workspace.workspaces import WorkspaceFolders
from tests.contract.statements import statement
from tools.kit.schemas import schema_faults

START: Final = HAND_CLOCK_START
LEASE: Final = timedelta(seconds=5)
PATIENCE: Final = 45.0  # seconds until what is waited for is taken for lost: nothing takes 1 s on a machine at rest

UNTOLD_LOOKS: Final = 20
"""As many looks at what a store tells come between two at the database: another store over it tells nothing here."""

HARDY: Final = 1000
"""Deaths that no run of these tests reaches: here it is the test that kills, and never what the run does."""

ADA: Final = Identity("page:ada")  # an owner
OTTO: Final = Identity("page:otto")  # an operator
UMA: Final = Identity("page:uma")  # a user
VERA: Final = Identity("page:vera")  # a viewer
STRANGER: Final = Identity("page:nobody")
ROLES: Final = {ADA: Role.OWNER, OTTO: Role.OPERATOR, UMA: Role.USER, VERA: Role.VIEWER}

ANYONE: Final = Rights()
ROOMS: Final = RoomRules()
LIMITS: Final = Limits()
PACE: Final = RetryPolicy()
OUR_WORDS: Final = Flow(Reads.OURS)
READ: Final = Call("c-read", "look", '{"path": "."}')
WRITE: Final = Call("c-write", "write", '{"text": "b"}')
SHELL: Final = Call("c-shell", "shell", '{"command": "uname -a"}')

WORK_LEFT: Final = text(
    "SELECT EXISTS (SELECT 1 FROM signals WHERE state = 'waiting') "
    "OR EXISTS (SELECT 1 FROM runs WHERE state = 'running') OR EXISTS (SELECT 1 FROM runs WHERE state = 'ready') "
    "OR EXISTS (SELECT 1 FROM deliveries WHERE state = 'queued') "
    "OR EXISTS (SELECT 1 FROM deliveries WHERE state = 'open')"
)
"""One question, since it is asked thousands of times. Each part of it has an index of its own."""


class Commits(Unwatched):
    """How often an engine has written: until it does so again, all that it would say is known."""

    def __init__(self) -> None:
        self.count = 0

    def committed(self, operations: int, seconds: float) -> None:
        self.count += 1


class ServingAll(Couriers):
    """Serves every address, also one whose courier the test has not made."""

    def serves(self, address: Address) -> bool:
        return True

    def nudge(self, address: Address) -> None:
        next(iter(self)).nudge(address)


class Crash(BaseException):
    """Stands for kill -9: no handler of ours can catch it."""


def crash_at(point: str, hit: int = 1) -> Probe:
    """A probe that kills at the `hit`-th pass of a point, and at nothing after it: the process is gone."""
    hits = count(1)

    def probe(name: str) -> None:
        if name == point and next(hits) == hit:
            raise Crash(point)

    return probe


@dataclass
class FakeTool:
    """A tool that notes its calls; `does` may be replaced by the test."""

    spec: ToolSpec
    calls: list[Mapping[str, Json]] = field(default_factory=list)
    sessions: list[str] = field(default_factory=list)
    folders: list[Path] = field(default_factory=list)
    keys: list[CallKey] = field(default_factory=list)
    above: list[tuple[str, ...]] = field(default_factory=list)
    does: Callable[[Mapping[str, Json]], Awaitable[str]] | None = None

    async def call(self, arguments: Mapping[str, Json], context: ToolContext) -> str:
        self.calls.append(arguments)
        self.sessions.append(context.session)
        self.folders.append(context.workspace)
        self.keys.append(context.key)
        self.above.append(context.above)
        return await self.does(arguments) if self.does else f"{self.spec.name} did it"

    def caution(self) -> str:
        return ""


def fake_tool(
    name: str,
    effect: Effect,
    does: Callable[[Mapping[str, Json]], Awaitable[str]] | None = None,
    *,
    idempotent: bool = False,
    timeout: timedelta = timedelta(seconds=60),
    flow: Flow = OUR_WORDS,
) -> FakeTool:
    spec = ToolSpec(name, f"The tool {name}.", {"type": "object"}, effect, idempotent, timeout, flow=flow)
    return FakeTool(spec, does=does)


class Page:
    """A channel whose screen is our store."""

    channel = "page"
    account = "main"
    identity = "main"

    def __init__(self) -> None:
        self.seen: list[Progress] = []

    def features(self) -> Features:
        return Features(stored=True, edits=True, progress=self.progress, reacts=any_emoji)

    async def listen(self, sink: Sink) -> None:
        await asyncio.Event().wait()

    def render(self, delivery: Delivery) -> list[Wire]:
        if delivery.content.reaction:
            return [Wire(delivery.content.reaction)]
        buttons = [f"[{button.label}]" for button in delivery.content.buttons]
        return [Wire("\n".join([delivery.content.all_text, *buttons]))]

    async def show(self, part: Part) -> Receipt:
        return Receipt(part.id)

    async def edit(self, receipt: Receipt, part: Part) -> Receipt:
        return receipt

    async def settle(self, part: Part, attempt: Attempt) -> Settled:
        return SettleResult.ABSENT

    def progress(self, address: Address, event: Progress) -> None:
        self.seen.append(event)

    def standing(self) -> ConnectionStatus:
        return CONNECTED


@dataclass(frozen=True, slots=True, kw_only=True)
class Setting:
    """What a test may have otherwise in a process; by itself it is what most tests want."""

    busy: Busy = Busy.STEER
    rules: Sequence[Rule] = ()
    terms: Terms | None = None
    rights: Rights = ANYONE
    rooms: RoomRules = ROOMS
    limits: Limits = LIMITS
    max_crashes: int = HARDY
    width: int = 64
    probe: Probe = no_probe
    store: Store | None = None
    carrier: Fetch | None = None
    transcriber: Transcriber | None = None
    long_replies: LongForm = LongForm.PARTS
    adapter: ChannelAdapter | None = None
    pace: RetryPolicy = PACE
    previews: bool = False
    reporter: Callable[[Job], Maker | None] = lambda _: None
    own_call: OwnCall | None = None
    others: Sequence[Agent] = ()
    places: Places = field(default_factory=Places)
    prompt: Prompt = lambda _: Prompted("You are a test.")
    interceptors: Sequence[Placed] = ()


USUAL: Final = Setting()


class Process:
    """One life of the runtime. Its attributes are the real objects; `fresh` is whether its lease surely holds."""

    def __init__(
        self, stage: Stage, model: Model, tools: Iterable[FakeTool], lease: Lease, given: Setting = USUAL
    ) -> None:
        self.stage = stage
        self.store = given.store or stage.store
        self.lease = lease
        self.fresh = True
        self.notifier = LocalNotifier()
        self.page = Page()
        self.tools = {tool.spec.name: tool for tool in tools}
        self._given = given
        self.policy = Policy(given.rules, given.terms)
        self.gate = Gate(open_to_all=False, busy=given.busy, rights=given.rights, agent="main", rooms=given.rooms)
        self.courier = self._make_courier()
        self.asking = QuestionContext(lambda: self.gate.rights, given.places, given.own_call)
        self.reminders = Reminders(approvals=self.store.approvals, now=stage.clock, context=self.asking)
        self.agent = self._make_agent(model)
        self.undoer = self._make_undoer()
        self.children = ChildRuns(
            store=self.store.runs,
            stop=self.agent.stop,
            nudge=self.courier.nudge,
            ready=partial(self.notifier.notify, LANES),
        )
        self.answerer = self._make_answerer()
        self.compactor = self._make_compactor()
        self.renewal: SummaryRenewal | None = None
        self.previews = Previews(self.agent._agents, self.agent.surroundings, self.agent.condenser)
        self.gate = replace(self.gate, measure=self.previews.measured)
        self.dispatch = self._make_dispatch()
        self.reception = self._make_reception()
        self.pulse = self._make_pulse()
        self.timer = self._make_timer()
        self.booking = self.booking_of("main")

    def booking_of(self, agent: str) -> ScheduleService:
        return ScheduleService(
            book=self.store.schedules, agent=agent, now=self.stage.clock, new_id=new_id, serves=lambda _: True
        )

    def _make_courier(self) -> Courier:
        adapter = self._given.adapter or self.page
        return Courier(
            outbox=self.store.outbox,
            adapter=adapter,
            features=adapter.features(),
            pace=self._given.pace,
            context=CourierContext(
                take=self._take,
                now=self.stage.clock,
                on_shown=lambda address: None,
                lease_is_fresh=self._is_fresh,
                ticks=lambda: self.stage.clock() - START,
                probe=self._given.probe,
            ),
            previews=self._given.previews,
        )

    def _make_agent(self, model: Model) -> AgentLoop:
        given = self._given
        long = LongText(self.stage.workspaces, new_id, lambda _: given.carrier, given.long_replies, characters=100)
        guarded = GuardedModel(model, OPEN_DOOR)
        looks_in = self._intercepting()
        main = Agent(
            name="main",
            prompt=given.prompt,
            model=looks_in.around(guarded) if looks_in else guarded,
            tools=self.tools,
            scope="main",
            workspaces=self.stage.workspaces,
            limits=given.limits,
            intercepting=looks_in,
        )
        return AgentLoop(
            store=self.store.runs,
            agents=Agents(main, *given.others),
            policy=lambda: self.policy,
            files=self._fetching(),
            long_replies=long,
            reporting=Reporting(self.stage.workspaces, new_id, long.content, self.stage.store.schedules.report_root),
            reporter=given.reporter,
            lease_is_fresh=self._is_fresh,
            outlet=Couriers([self.courier], self.store.outbox),
            now=self.stage.clock,
            new_id=new_id,
            busy=self._busy_rules().at,
            probe=given.probe,
            asking=self.asking,
            faults=schema_faults,
            notices=LoopNotices(ready=partial(self.notifier.notify, LANES)),
        )

    def _intercepting(self) -> RunInterceptors | None:
        if not self._given.interceptors:
            return None
        chain = Interceptors(self._given.interceptors, note=self.store.cluster.note_fact, door=OPEN_DOOR)
        return RunInterceptors(chain, "main", named=str, faults=schema_faults)

    def _make_undoer(self) -> Undoer:
        return Undoer(
            approvals=self.store.approvals,
            agents=self.agent._agents,
            rung=self.notifier.listen(UNDOS),
            lease_is_fresh=self._is_fresh,
            nudge=self.courier.nudge,
            probe=self._given.probe,
            clean=partial(OPEN_DOOR.clean, gate=GuardGate.TOOL_RESULT),
        )

    def _make_answerer(self) -> Answerer:
        return Answerer(
            approvals=self.store.approvals,
            agents=self.agent._agents,
            rights=self.asking.rights,
            node=lambda: self.lease.node,
            rung=self.notifier.listen(ASKED_BACK),
            lease_is_fresh=self._is_fresh,
            now=self.stage.clock,
            nudge=self.courier.nudge,
            probe=self._given.probe,
        )

    def _make_compactor(self) -> Compactor:
        return Compactor(
            runs=self.store.runs,
            agents=self.agent._agents,
            condenser=self.agent.condenser,
            node=lambda: self.lease.node,
            rung=self.notifier.listen(COMPACTING),
            lease_is_fresh=self._is_fresh,
            nudge=self.courier.nudge,
            remembering=self.agent._remembering,
            probe=self._given.probe,
        )

    def ask(self, model: Model) -> None:
        """From now on the main agent has this model."""
        main = replace(self.agent._agents["main"], model=model)
        self.agent._agents = Agents(main, *self._given.others)

    def _fetching(self) -> Fetching:
        return Fetching(
            files_of=lambda _: self._given.carrier,
            senders=self.store.runs.senders,
            new_id=new_id,
            bounds=self.stage.bounds,
            transcriber=self._given.transcriber,
            waits=[timedelta()],
            space=self.stage.space,
        )

    def _busy_rules(self) -> BusyRules:
        return BusyRules(self.gate.busy, self.gate.rooms)

    def _make_dispatch(self) -> Dispatch:
        return Dispatch(
            store=self.store.runs,
            lease=self.lease,
            agent=self.agent,
            notifier=self.notifier,
            busy=self._busy_rules,
            lease_is_fresh=self._is_fresh,
            max_crashes=self._given.max_crashes,
            width=self._given.width,
            probe=self._given.probe,
        )

    def _make_reception(self) -> Reception:
        return Reception(
            store=self.store.intake,
            gate=lambda: self.gate,
            notifier=self.notifier,
            outlet=ServingAll([self.courier], self.store.outbox),
            stop=self.agent.stop,
            take_in=self.dispatch.take_in,
            changed=self._make_edits().check,
            probe=self._given.probe,
        )

    def _make_edits(self) -> Edits:
        return Edits(
            approvals=self.store.approvals,
            agents=self.agent._agents,
            policy=lambda: self.policy,
            named=str,
            faults=schema_faults,
        )

    def _make_pulse(self) -> Poller:
        return Poller(
            store=self.store.cluster,
            node=self.lease.node,
            notifier=self.notifier,
            reap=self._leave_alone,
            look_around=self.courier.look_around,
        )

    def _make_timer(self) -> Scheduler:
        return Scheduler(
            book=self.store.schedules,
            notifier=self.notifier,
            take=self._take,
            now=self.stage.clock,
            chance=lambda: 0.5,
            probe=self._given.probe,
        )

    def _is_fresh(self) -> bool:
        return self.fresh

    async def _take(self, role: str) -> Duty | None:
        return await self.store.cluster.take(self.lease, role)

    async def _leave_alone(self) -> None:
        """Nodes die where a test says so."""

    @asynccontextmanager
    async def running(self) -> AsyncIterator[Process]:
        """Dispatch, courier and pulse at work while the test speaks."""
        async with asyncio.TaskGroup() as group:
            tasks = [group.create_task(work.run()) for work in (self.dispatch, self.courier, self.pulse)]
            try:
                yield self
            finally:
                for task in tasks:
                    task.cancel()

    @staticmethod
    @asynccontextmanager
    async def beside(work: Coroutine[Any, Any, None]) -> AsyncIterator[None]:
        """Something else at work while the test speaks."""
        async with asyncio.TaskGroup() as group:
            task = group.create_task(work)
            try:
                yield
            finally:
                task.cancel()

    async def until_crash(self) -> None:
        """Work until the probe kills this process."""
        try:
            async with asyncio.timeout(PATIENCE), self.running():
                await asyncio.Event().wait()
        except BaseExceptionGroup as group:
            killed, other = group.split(Crash)
            if other is not None:
                raise other from None
            assert killed is not None
        else:
            raise AssertionError("nothing crashed")

    async def answer_all(self) -> None:
        """Work until nothing is left to do but wait for people."""
        async with self.running():
            await self.rest()

    async def begun(self, tool: str, times: int = 1) -> None:
        """Wait until a tool was called."""
        async with asyncio.timeout(PATIENCE):
            while len(self.tools[tool].calls) < times:  # noqa: ASYNC110 - a plain list of calls reads better in tests
                await asyncio.sleep(0)

    async def rest(self) -> None:
        """Wait until nothing is left to do but wait for people."""
        async with asyncio.timeout(PATIENCE):
            while not await self.stage.at_rest():
                await self.stage.written()

    # --------------------------------------------------------------------------------------------- what people do

    async def say(
        self, words: str, *, who: Identity = ADA, room: str = "r1", key: str = "", files: tuple[FileRef, ...] = ()
    ) -> Verdict:
        return await self.reception.sink(self.stage.signal(Said(words, files), who, room, key))

    async def stop(self, *, who: Identity = ADA, room: str = "r1") -> Verdict:
        return await self.reception.sink(self.stage.signal(Stopped(), who, room))

    async def click(
        self,
        approval: ApprovalId,
        choice: Choice = Choice.APPROVE,
        reason: str = "",
        *,
        who: Identity = ADA,
        room: str = "r1",
        key: str = "",
    ) -> Verdict:
        return await self.reception.sink(self.stage.signal(Clicked(approval, choice, reason), who, room, key))

    async def edit(
        self, approval: ApprovalId, who: Identity = ADA, *, room: str = "r1", key: str = "", **values: str
    ) -> Verdict:
        """Somebody sends the form of an edit."""
        click = Clicked(approval, Choice.EDIT, values=values)
        return await self.reception.sink(self.stage.signal(click, who, room, key))

    async def why(
        self, approval: ApprovalId, question: str = "", who: Identity = ADA, *, room: str = "r1", key: str = ""
    ) -> str:
        """Somebody asks the agent back; what they alone are told."""
        click = Clicked(approval, Choice.WHY, values={"question": question})
        return (await self.reception.sink(self.stage.signal(click, who, room, key))).notice or ""


@dataclass
class Stage:
    """A store with known people, and the processes that live on it one after another."""

    store: Store
    clock: HandClock
    folder: Path
    events: Iterable[int] = field(default_factory=lambda: count(1))
    space: Space = BOUNDLESS
    bounds: FileBounds = field(default_factory=lambda: FileBounds(1_000, 1_500, timedelta(seconds=5)))
    commits: Commits | None = None
    """What the store was opened with, where it was."""
    _looked_at: int = -1

    @property
    def workspaces(self) -> WorkspaceFolders:
        return WorkspaceFolders(self.folder, "main")

    async def open(self) -> None:
        def enter() -> Op[None]:
            for identity, role in ROLES.items():
                name = identity.partition(":")[2].title()
                assert (yield from add_person(name, role, [identity], "test", self.clock(), new_id))

        await self.store.driver.write(enter)

    async def process(self, model: Model, tools: Iterable[FakeTool] = (), **more: Any) -> Process:
        """A new life; every earlier one is dead from now on."""
        lease = await self.store.cluster.join(NodeId(new_id()), "test", LEASE, alone=True)
        return Process(self, model, tools, lease, Setting(**more))

    def signal(self, body: Body, who: Identity, room: str, key: str = "") -> Signal:
        name = who.partition(":")[2].title()
        fresh = key or f"e{next(iter(self.events))}"
        return Signal("main", fresh, who, name, address(room), body, self.clock())

    async def at_rest(self) -> bool:
        """Nothing is left to do but wait for people."""
        self._looked_at = self.commits.count if self.commits else -1

        def look() -> Op[bool]:
            return not (yield WORK_LEFT, {})[0][0]

        return await self.store.driver.read(look)

    async def written(self) -> None:
        """Wait a moment, or until something is written since the last look if the store tells that."""
        for _ in range(UNTOLD_LOOKS if self.commits else 1):
            await asyncio.sleep(0.002)
            if self.commits and self.commits.count != self._looked_at:
                return

    async def screen(self, room: str = "r1") -> list[str]:
        """What the agent shows in a room, edits applied."""
        entries = (await self.store.history.view(address(room))).entries
        return [entry.body for entry in entries if entry.author is Author.AGENT]

    async def answers(self, room: str = "r1") -> list[str]:
        """The final messages of a room, oldest first."""
        rows = await self.rows(
            "SELECT p.body FROM deliveries d JOIN parts p ON p.delivery_id = d.id "
            "WHERE d.kind = 'final' AND d.address = :room AND p.state = 'shown' ORDER BY d.number",
            room=str(address(room)),
        )
        return [row[0] for row in rows]

    async def pending(self) -> list[Approval]:
        """Open questions, oldest first."""
        pending = await self.store.approvals.approvals(state=ApprovalState.PENDING)
        return sorted(pending, key=lambda approval: (approval.asked_at, approval.step))

    async def runs(self) -> list[RunRow]:
        """Oldest first."""
        return (await self.store.operations.runs())[::-1]

    async def states(self) -> list[RunState]:
        return [run.state for run in await self.runs()]

    async def audit(self, kind: str) -> list[tuple[str, str, str]]:
        return await self.rows("SELECT actor, subject, detail FROM audit WHERE kind = :kind ORDER BY entry", kind=kind)

    async def add_turns(self, count: int, *, files: str = "[]") -> None:
        """Turns of a person and the agent behind those of the one session, as if they had been talked through."""
        [(session, first)] = await self.rows("SELECT key, next_turn FROM sessions")

        # In one statement: row by row a server takes seconds.
        fill = (
            "INSERT INTO turns (session, number, run_id, role, text, author, calls, call_id, tool, at, files) "
            f"WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < {count - 1}) "
            f"SELECT '{session}', {first} + i, 'old' || (i / 2), CASE i % 2 WHEN 0 THEN 'user' ELSE 'assistant' END, "
            f"'Turn ' || i, '', '[]', '', '', i, CASE i % 2 WHEN 0 THEN '{files}' ELSE '[]' END FROM n"
        )

        def write() -> Op[None]:
            yield text(fill.replace(":", "\\:")), {}
            yield text("UPDATE sessions SET next_turn = :n WHERE key = :k"), {"n": first + count, "k": session}

        await self.store.driver.write(write)

    async def rows(self, sql: str, **given: object) -> list[tuple[Any, ...]]:
        """What the database itself says."""

        def read() -> Op[list[tuple[Any, ...]]]:
            return (yield statement(sql), given)

        return await self.store.driver.read(read)


def address(room: str = "r1") -> Address:
    return Address("page", "main", room)
