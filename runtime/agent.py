"""The agent's loop: one run, a committed step after another, until it is answered, parked or no longer ours."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable, Coroutine, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import timedelta
from functools import partial
from typing import Any, Final, Protocol, TypeVar

import structlog

from runtime import cards
from runtime.attention import BusyAt, busy_at
from runtime.contract import (
    Address,
    ApprovalId,
    ApprovalKind,
    Attach,
    Busy,
    Call,
    Content,
    DeliveryId,
    Effect,
    FileRef,
    Job,
    Json,
    Kind,
    Model,
    ModelReply,
    ModelRequest,
    NewId,
    Now,
    Probe,
    Progress,
    Resting,
    RunId,
    Speaking,
    TaskKind,
    Thinking,
    Tool,
    ToolContext,
    Turn,
    Working,
    Workspaces,
    no_probe,
)
from runtime.errors import ModelFailed, StoreError, ToolError
from runtime.longreplies import LongReplies
from runtime.output import bound
from runtime.policy import Ask, Policy, Ruling
from runtime.reporting import MOST_FILES, Reporting
from runtime.runs import RunState, StepState
from runtime.store.common import digest
from runtime.store.protocol import Claim, Lanes, NewDelivery, NewStep, Question, Recorded, Released, ToolStep
from runtime.transcript import DENIED, ERROR, OURS, not_seen, repair

T = TypeVar("T")
log = structlog.get_logger("agent")

PATIENCE: Final = timedelta(seconds=0.5)
"""Between two tries to record a result."""
STOPPED: Final = "Stopped."
NOTHING: Final = "The model answered nothing. Please ask again, perhaps in other words."


@dataclass(frozen=True, slots=True)
class Limits:
    """Bounds of one run."""

    iterations: int = 25
    approval_time: timedelta = timedelta(hours=12)
    model_time: timedelta = timedelta(minutes=10)


class Outlet(Protocol):
    """The way out: implemented by `runtime.couriers`."""

    async def prepare(self, new: NewDelivery, claim: Claim) -> NewDelivery:
        """The same, rendered where it could be shown at once. The run shows nothing of itself from here on."""

    def carry_on(self, new: NewDelivery, run_id: RunId, *, begun: bool) -> None:
        """After the commit, or in place of it: `begun` with it, or it waits its turn, or was never stored."""

    def nudge(self, address: Address) -> None: ...

    def progress(self, claim: Claim, event: Progress) -> None: ...


class Files(Protocol):
    """Files that people sent: implemented by `runtime.fetching`."""

    async def gather(self, address: Address, turns: Sequence[Turn]) -> list[str]:
        """Fetch what is missing of the files that the model has not seen yet; what it must be told of them."""


class Dropped(Exception):
    """The lane is not surely ours any more: whoever owns it goes on, and we say nothing more."""


class Ended(Exception):
    """A person asked that this run ends."""


@dataclass(slots=True)
class Cursor:
    """Where a run stands: its claim, how many model calls it made, and the number of its next step.

    `turns` came along with the claim, for its first model call. `stopped` is set when a person ends it; `cuts` are the
    waits that end with it at once. `files` are what its tools put onto its reply so far.
    """

    claim: Claim
    iterations: int
    next_step: int
    turns: Sequence[Turn] | None = None
    stopped: bool = False
    cuts: set[asyncio.Timeout] = field(default_factory=set)
    files: list[FileRef] = field(default_factory=list)

    @property
    def address(self) -> Address:
        return self.claim.address


class Agent:
    """Works on claimed runs. One object serves all of them; what a run needs is in its Cursor.

    `policy` and `prompt` give what holds at this moment, so that a reload counts from the next decision on. So does
    `tools`: what is in it may change, and the next model call is told of what is there then. `reporting`
    makes the deliveries of scheduled runs, and `reporter` what speaks in place of the model where their task is none for it.
    """

    def __init__(
        self,
        *,
        store: Lanes,
        model: Model,
        tools: Mapping[str, Tool],
        policy: Callable[[], Policy],
        prompt: Callable[[], str],
        limits: Limits,
        workspaces: Workspaces,
        lease_is_fresh: Callable[[], bool],
        outlet: Outlet,
        now: Now,
        new_id: NewId,
        name: str = "main",
        named: Callable[[Address], str] = str,
        busy: Busy | BusyAt = Busy.STEER,
        probe: Probe = no_probe,
        files: Files | None = None,
        long_replies: LongReplies | None = None,
        reporting: Reporting | None = None,
        reporter: Callable[[Job], Model] | None = None,
    ) -> None:
        self._reporting = reporting
        self._reporter = reporter
        self._store = store
        self._files = files
        self._long_replies = long_replies
        self._model = model
        self._tools = tools
        self._policy = policy
        self._prompt = prompt
        self._limits = limits
        self._workspaces = workspaces
        self._lease_is_fresh = lease_is_fresh
        self._live: dict[RunId, Cursor] = {}
        self._outlet = outlet
        self._now = now
        self._new_id = new_id
        self._name = name
        self._named = named
        self._busy = busy_at(busy)
        self._probe = probe

    async def work(self, claim: Claim) -> bool:
        """Carry a run as far as it goes; whether its lane has more to do.

        Errors: StoreError when a step could not be recorded; the lane is then still ours and must be given back.
        """
        run = Cursor(claim, claim.iterations, claim.next_step, claim.turns, files=list(claim.files))
        self._live[claim.run_id] = run
        try:
            return (await self._until_end(run)).more
        except Dropped:
            log.info("run dropped", reason="its lane is not surely ours any more")
            await self._store.release(claim.lane)  # nothing happens if it has another owner; else our lease was late
            return False
        finally:
            del self._live[claim.run_id]
            self._progress(run.claim, Resting())

    async def fail(self, claim: Claim, text: str) -> bool:
        """End a run that cannot go on with words to the person; whether its lane has more to do."""
        run = Cursor(claim, claim.iterations, claim.next_step)
        try:
            return (await self._finish(run, None, RunState.FAILED, text)).more
        except Dropped:
            return False

    def stop(self, run_id: RunId) -> bool:
        """A person ends this run: a model call or a read is cut at once, a tool with effects ends first.

        Shape:  whether it is at work here; else another node has it, and sees the mark with its next step.
        """
        run = self._live.get(run_id)
        if run is None:
            return False
        run.stopped = True
        for cut in run.cuts:
            cut.reschedule(0)  # a moment long past: it expires now
        return True

    # ------------------------------------------------------------------------------------------------- the loop

    async def _until_end(self, run: Cursor) -> Released:
        try:
            if released := await self._pick_up(run):
                return released
            while run.iterations < self._limits.iterations:
                reply = await self._ask_model(run)
                if not reply.calls:
                    return await self._finish(run, reply, RunState.DONE, reply.text)
                if released := await self._act(run, reply):
                    return released
            return await self._finish(run, None, RunState.FAILED, self._too_long())
        except ModelFailed as error:
            log.warning("model failed", reason=str(error), detail=error.detail)
            return await self._finish(run, None, RunState.FAILED, str(error))
        except Ended:
            return await self._finish(run, None, RunState.STOPPED, STOPPED)

    async def _pick_up(self, run: Cursor) -> Released | None:
        """What an earlier owner left open, in order, up to the first call whose outcome only a person can tell."""
        self._obey(run, run.claim.stop)
        doubted = next((i for i, step in enumerate(run.claim.steps) if self._in_doubt(step)), None)
        before = run.claim.steps if doubted is None else run.claim.steps[:doubted]
        await self._attempt_all(run, [step for step in before if step.state is not StepState.ASKED])
        asked = [step for step in run.claim.steps if step.state is StepState.ASKED]
        if doubted is not None:
            asked.append(run.claim.steps[doubted])
        if asked:
            return await self._park(run, asked)
        if run.claim.overtaken:
            self._own(await self._store.note(run.claim.lane, run.claim.run_id, overtaken_note()))
        if run.claim.resumed:
            await self._join(run)
        return None

    async def _ask_model(self, run: Cursor) -> ModelReply:
        self._progress(run.claim, Thinking())
        turns = repair(await self._with_files(run, await self._turns(run)))
        reply = await self._unless_stopped(run, self._reply(run, turns))
        self._probe("model-answered")
        if not reply.calls and not reply.text.strip():
            raise ModelFailed(NOTHING)
        return reply

    async def _turns(self, run: Cursor) -> Sequence[Turn]:
        known, run.turns = run.turns, None  # they came with the claim; every step adds some
        return known or await self._store.turns(run.claim.lane.session, run.claim.since)

    async def _with_files(self, run: Cursor, turns: Sequence[Turn]) -> Sequence[Turn]:
        """`turns` once the files that came with them are here; what is to be said of those becomes turns too."""
        if self._files is None or not any(turn.files for turn in not_seen(turns)):
            return turns
        told = await self._unless_stopped(run, self._files.gather(run.address, turns))
        for text in told:
            self._obey(run, self._own(await self._store.note(run.claim.lane, run.claim.run_id, text)).stop)
        return await self._turns(run) if told else turns

    def _progress(self, claim: Claim, event: Progress) -> None:
        """Nobody waits in the room for scheduled work, so nothing is shown of it before its end."""
        if claim.job is None:
            self._outlet.progress(claim, event)

    def _speaker(self, claim: Claim) -> Model:
        """Who answers: the model, or for a report without one what makes it."""
        if claim.job is None or claim.job.task.kind is TaskKind.PROMPT or self._reporter is None:
            return self._model
        return self._reporter(claim.job)

    async def _reply(self, run: Cursor, turns: Sequence[Turn]) -> ModelReply:
        specs = [tool.spec for tool in self._tools.values()]
        request = ModelRequest(self._prompt(), turns, specs, partial(self._workspaces.open, run.address))
        try:
            async with asyncio.timeout(self._limits.model_time.total_seconds()):
                return await self._speaker(run.claim).reply(
                    request, lambda text: self._progress(run.claim, Speaking(text))
                )
        except TimeoutError:
            raise ModelFailed(f"The model gave no answer within {self._limits.model_time}.") from None

    async def _act(self, run: Cursor, reply: ModelReply) -> Released | None:
        """One model turn with calls: recorded, then those allowed run, then those asked go up together."""
        lane, number = run.claim.lane, run.next_step
        sorted_calls = [self._sort(run, call) for call in reply.calls]
        recorded = await self._store.record_model(lane, run.claim.run_id, number, reply, sorted_calls)
        steps = self._own(recorded).steps
        self._probe("step-recorded")
        run.iterations, run.next_step = run.iterations + 1, number + len(reply.calls) + 1
        self._obey(run, self._own(recorded).stop)
        waiting = await self._attempt_all(run, [step for step in steps if step.state is StepState.OPEN])
        if asked := [step for step in steps if step.state is StepState.ASKED]:
            return await self._park(run, asked)
        if waiting or self._own(recorded).waiting:
            await self._join(run)
        return None

    async def _join(self, run: Cursor) -> None:
        """Where it is so set, what people said meanwhile reaches the model before its next call."""
        if self._busy(run.address) is Busy.STEER:
            self._own(await self._store.steer(run.claim.lane, run.claim.run_id))

    # ------------------------------------------------------------------------------------------------ the tools

    def _sort(self, run: Cursor, call: Call) -> NewStep:
        """Open, asked, or done at once with the reason why it does not run."""
        hashed = digest(call.arguments)
        tool = self._tools.get(call.tool)
        if tool is None:
            known = ", ".join(sorted(self._tools))
            return NewStep(
                call, Effect.READ, hashed, StepState.DONE, f"{ERROR}there is no tool {call.tool!r}; there are {known}."
            )
        effect = tool.spec.effect
        arguments = parsed(call.arguments)
        if isinstance(arguments, str):
            return NewStep(call, effect, hashed, StepState.DONE, f"{ERROR}{arguments}")
        ask = Ask(call.tool, effect, arguments, self._name, self._named(run.address), run.claim.names)
        match self._policy().ruling(ask):
            case Ruling.ALLOW:
                return NewStep(call, effect, hashed, StepState.OPEN)
            case Ruling.ASK:
                return NewStep(call, effect, hashed, StepState.ASKED, "", tool.caution())
            case Ruling.DENY:
                return NewStep(
                    call, effect, hashed, StepState.DONE, f"{DENIED}the policy of this place does not allow it."
                )

    async def _attempt_all(self, run: Cursor, steps: Sequence[ToolStep]) -> int:
        """Calls in order, neighbours that only read side by side; how many signals wait by now."""
        waiting = 0
        for group in side_by_side(steps, self._repeatable):
            waiting = max(await together([self._attempt(run, step) for step in group]))
        return waiting

    async def _attempt(self, run: Cursor, step: ToolStep) -> int:
        lane, run_id = run.claim.lane, run.claim.run_id
        if not self._lease_is_fresh():
            raise Dropped
        marked = self._own(await self._store.mark_tool(lane, run_id, step.number))
        self._probe("tool-marked")
        self._obey(run, marked.stop)
        self._progress(run.claim, Working(step.call.tool, step.call.arguments))
        files: list[FileRef] = []
        result = await self._call(run, step, files.append)
        self._probe("tool-finished")
        log.info("tool ran", tool=step.call.tool, step=step.number)
        self._progress(run.claim, Working(step.call.tool, step.call.arguments, ended=True))
        recorded = self._own(await self._record(run, step, result, files))
        run.files += files
        self._obey(run, recorded.stop)
        return recorded.waiting

    async def _record(self, run: Cursor, step: ToolStep, result: str, files: Sequence[FileRef]) -> Recorded | None:
        """Store a result. One of a tool with effects is known to us alone: as long as we may, we keep trying."""
        while True:
            try:
                return await self._store.finish_tool(run.claim.lane, run.claim.run_id, step.number, result, files)
            except StoreError as error:
                if self._repeatable(step) or not self._lease_is_fresh():
                    raise
                log.debug("a result is not recorded yet", reason=str(error))
                await asyncio.sleep(PATIENCE.total_seconds())

    async def _call(self, run: Cursor, step: ToolStep, attach: Attach) -> str:
        """Run one tool: its result, or its failure in words for the model. Only a read is cut by a stop."""
        tool = self._tools.get(step.call.tool)
        if tool is None:
            return f"{ERROR}there is no tool {step.call.tool!r} any more."
        if step.caution and step.caution != tool.caution():
            return f"{ERROR}{step.call.tool} is not what was asked about any more, so it was not called."
        arguments = parsed(step.call.arguments)
        if isinstance(arguments, str):
            return f"{ERROR}{arguments}"
        claim, folder = run.claim, self._workspaces.folder(run.address)
        context = ToolContext(
            folder,
            claim.lane.session,
            claim.run_id,
            step.call.id,
            run.address,
            claim.requester,
            attach,
            scheduled=claim.job is not None,
        )
        work = self._guarded(tool, arguments, context)
        text = await (self._unless_stopped(run, work) if self._repeatable(step) else work)
        return bound(text, tool.spec.output_bound)

    async def _guarded(self, tool: Tool, arguments: Mapping[str, Json], context: ToolContext) -> str:
        limit = tool.spec.timeout
        try:
            async with asyncio.timeout(limit.total_seconds()):
                return await tool.call(arguments, context)
        except ToolError as error:
            return f"{ERROR}{error}"
        except TimeoutError:
            return f"{ERROR}{tool.spec.name} did not end within {limit.total_seconds():g} seconds and was stopped."
        except Exception as error:
            # A tool's bug must not end the run: the model and the log are told.
            log.exception("tool broke", tool=tool.spec.name)
            return f"{ERROR}{tool.spec.name} failed unexpectedly ({type(error).__name__})."

    def _repeatable(self, step: ToolStep) -> bool:
        tool = self._tools.get(step.call.tool)
        return tool.spec.repeatable if tool else step.effect is Effect.READ

    def _in_doubt(self, step: ToolStep) -> bool:
        return step.state is StepState.MARKED and not self._repeatable(step)

    # ------------------------------------------------------------------------------------------------ the endings

    async def _park(self, run: Cursor, asked: Sequence[ToolStep]) -> Released:
        questions = [self._question(run, step) for step in asked]
        claim = run.claim
        prepared = [replace(one, card=await self._outlet.prepare(one.card, claim)) for one in questions]
        released = await self._handed_on(
            run,
            [question.card for question in prepared],
            self._store.park(claim.lane, claim.run_id, prepared),
            point="approval-stored",
        )
        log.info("run parked", approvals=[question.id for question in questions])
        return released

    def _question(self, run: Cursor, step: ToolStep) -> Question:
        kind = ApprovalKind.OUTCOME if step.state is StepState.MARKED else ApprovalKind.CALL
        approval = ApprovalId(self._new_id())
        content = cards.question(approval, kind, step.call.tool, step.call.arguments, step.caution)
        origin = f"approval:{approval}"
        card = self._made(run, origin, Kind.APPROVAL, content)
        expires = self._now() + self._limits.approval_time
        return Question(approval, kind, step.number, expires, self._policy().version, step.caution, card)

    async def _finish(self, run: Cursor, reply: ModelReply | None, state: RunState, text: str) -> Released:
        last = [await self._outlet.prepare(new, run.claim) for new in await self._last_words(run, state, text)]
        lane, run_id = run.claim.lane, run.claim.run_id
        finish = self._store.finish(lane, run_id, run.next_step, reply, state, text, last)
        released = await self._handed_on(run, last, finish, point="delivery-stored")
        log.info("run ended", state=state.value, deliveries=[new.id for new in last])
        return released

    async def _last_words(self, run: Cursor, state: RunState, text: str) -> Sequence[NewDelivery]:
        """What a run ends with: its answer, or for scheduled work its reports; of one that failed the store tells."""
        claim = run.claim
        if claim.job and self._reporting and state is RunState.DONE:
            return await self._reporting.deliveries(claim.job, claim.run_id, text, run.files)
        if claim.job and state is RunState.FAILED:
            return []
        content = await self._content(run.address, claim.run_id, text)
        files = tuple(run.files[:MOST_FILES])
        return [self._made(run, f"run:{claim.run_id}", Kind.FINAL, replace(content, files=files))]

    async def _content(self, address: Address, run: RunId, text: str) -> Content:
        if self._long_replies is None:
            return Content(text)
        return await self._long_replies.content(address, run, text)

    def _made(self, run: Cursor, origin: str, kind: Kind, content: Content) -> NewDelivery:
        delivery, answers = DeliveryId(self._new_id()), run.claim.reply_to
        return NewDelivery(delivery, origin, 0, kind, run.address, content, reply_to=answers)

    async def _handed_on(
        self, run: Cursor, prepared: Sequence[NewDelivery], commit: Awaitable[Released | None], *, point: str
    ) -> Released:
        """Commit what ends our turn in the lane, and hand what was made for people on to the couriers."""
        begun: frozenset[DeliveryId] = frozenset()
        try:
            released = self._own(await commit)
            begun = released.begun
            self._probe(point)
            for room in released.told:
                self._outlet.nudge(room)
            return released
        finally:
            for delivery in prepared:
                self._outlet.carry_on(delivery, run.claim.run_id, begun=delivery.id in begun)

    def _too_long(self) -> str:
        return (
            f"I stopped after {self._limits.iterations} steps without coming to an end. What was done so far stands "
            "above; tell me to go on, or ask for less at once."
        )

    # ----------------------------------------------------------------------------------------- stop and ownership

    def _own(self, written: T | None) -> T:
        """The outcome of an owner's write. Errors: Dropped when its fence was refused."""
        if written is None:
            raise Dropped
        return written

    def _obey(self, run: Cursor, stop: bool) -> None:
        if stop or run.stopped:
            raise Ended

    async def _unless_stopped(self, run: Cursor, work: Awaitable[T]) -> T:
        """The outcome of `work`, which is cancelled at once when a person stops the run. Errors: Ended."""
        cut = asyncio.timeout(None)
        try:
            async with cut:
                run.cuts.add(cut)
                if run.stopped:  # since we last looked
                    cut.reschedule(0)
                return await work
        except TimeoutError:
            if cut.expired():
                raise Ended from None
            raise
        finally:
            run.cuts.discard(cut)


async def together(works: Sequence[Coroutine[Any, Any, T]]) -> list[T]:
    """The outcomes of all, which run side by side. Errors: the first failure, after the others were cancelled."""
    if len(works) == 1:
        return [await works[0]]
    try:
        async with asyncio.TaskGroup() as group:
            tasks = [group.create_task(work) for work in works]
    except BaseExceptionGroup as failures:
        raise failures.exceptions[0] from None
    return [task.result() for task in tasks]


def parsed(arguments: str) -> Mapping[str, Json] | str:
    """The arguments of a call, or what is wrong with them in words for the model."""
    try:
        values = json.loads(arguments or "{}")
    except (ValueError, RecursionError) as error:  # the latter for thousands of open brackets
        return f"the arguments are not valid JSON ({error}); send one JSON object."
    if not isinstance(values, dict):
        return f"the arguments are a JSON {type(values).__name__}; send one JSON object."
    return values


def side_by_side(steps: Sequence[ToolStep], repeatable: Callable[[ToolStep], bool]) -> list[list[ToolStep]]:
    """Steps in order, cut into groups that may run at once: neighbours that only read; any other alone."""
    groups: list[list[ToolStep]] = []
    for step in steps:
        if groups and repeatable(step) and repeatable(groups[-1][-1]):
            groups[-1].append(step)
        else:
            groups.append([step])
    return groups


def overtaken_note() -> str:
    """Said to the model when others spoke while the run waited, since a history must not end with its own words."""
    return (
        f"{OURS}The calls that were waiting have been decided; their results stand above, where they were called. "
        "Go on with the request they belong to."
    )
