"""The agent's loop: one run, a committed step after another, until it is answered, parked or no longer ours."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace
from datetime import datetime
from functools import partial
from operator import attrgetter
from typing import Final, Protocol

import structlog

from runtime.agent.delegation.orders import Delegating, Faults
from runtime.agent.duties.bounding import bounded
from runtime.agent.duties.remembering import Remembering, actor_of
from runtime.agent.guard import tripped
from runtime.agent.outcome import LongText, RunOutcome
from runtime.agent.questions import QuestionContext, Questions
from runtime.agent.registry import Agents
from runtime.agent.rulings import Rulings
from runtime.agent.run_state import MADE_ROUNDS_MAX, Dropped, Ended, LiveRun, Maker, own
from runtime.agent.surroundings import Surroundings
from runtime.agent.tool_calls import Calls, repeatable
from runtime.chat import budgets
from runtime.context.builder import UNBOUNDED, Partitions, RunFacts, is_short, may_be_full, partitions
from runtime.context.condenser import Condenser, Conversation, Whose, is_full
from runtime.context.oversize import sent_by, shortened, told_of
from runtime.context.prompt.proposals import Proposing
from runtime.context.resting import SHORTENED_BY_RESTS, Restore, restored
from runtime.context.watch import LoopNotices
from runtime.contract import (
    BOUNDLESS,
    SPEND_MORE,
    Address,
    Busy,
    Call,
    DeliveryId,
    Effect,
    Job,
    ModelReply,
    NewId,
    Now,
    Probe,
    Progress,
    Resting,
    RunId,
    SessionKey,
    Space,
    Speaking,
    Stopping,
    TaskKind,
    Thinking,
    Turn,
    Usage,
    Work,
    no_probe,
)
from runtime.domain.agents.bounds import BOUNDED_ROOM, is_bounded
from runtime.domain.agents.delegation import correction
from runtime.domain.runs import RunState, StepState
from runtime.domain.schedules import NO_MODEL
from runtime.domain.transcript import OURS, not_seen
from runtime.errors import BudgetSpent, ContextOverflow, ModelFailed, StoreError
from runtime.guard.door import OPEN_DOOR, Door
from runtime.guard.findings import Gate
from runtime.models.guarded import GuardedModel
from runtime.policy.budgets import Then
from runtime.policy.rules import Policy
from runtime.reports.fan_out import Reporting
from runtime.store.protocol import Claim, History, NewDelivery, Released, Runs, Summary, SummaryKind, ToolStep
from runtime.text.outside import sources_in
from runtime.text.words import AT_PLACE, marked
from runtime.workspace.outside_files import note_outside
from runtime.workspace.whole_texts import WholeTexts
from runtime.workspace.workspaces import WorkspaceFolders

log = structlog.get_logger("agent")

NO_ROOM: Final = marked(
    "This conversation no longer fits into the model, not even its summary. Write /compact "
    "to condense what it can, or /new to start fresh. Everything said stays here to read."
)
WAITING: Final = (StepState.ASKED, StepState.HANDED)
"""States of a call that is in the hands of others."""
STOPPED: Final = marked("Stopped here.")
STOPPED_WITHIN: Final = marked("*Stopped here.*")
STOPPED_AFTER: Final = marked("Stopped here. `{tool}` was already running, so I let it finish.")
EMPTY_REPLY: Final = marked("The model gave no answer. Please ask again, perhaps in other words.")


class Outlet(Protocol):
    """The way out: implemented by `runtime.delivery.couriers`."""

    async def prepare(self, new: NewDelivery, claim: Claim) -> NewDelivery:
        """The same, rendered where it could be shown at once. The run shows nothing of itself from here on."""

    def carry_on(self, new: NewDelivery, run_id: RunId, *, begun: bool) -> None:
        """After the commit, or in place of it: `begun` with it, or it waits its turn, or was never stored."""

    def nudge(self, address: Address) -> None: ...

    def progress(self, claim: Claim, event: Progress) -> None: ...


class Files(Protocol):
    """Files that people sent: implemented by `runtime.intake.downloads`."""

    async def gather(
        self, session: SessionKey, address: Address, turns: Sequence[Turn], into: WorkspaceFolders
    ) -> list[str]:
        """Fetch what is missing of the files that the model has not seen yet; what it must be told of them."""


class AgentLoop:
    """Works on claimed runs. One object serves all of them, each with the things of its agent, which `LiveRun` holds.

    `policy` gives what holds at this moment, so that a reload counts from the next decision on. `reporting` makes the
    deliveries of scheduled runs, `faults` checks JSON against a schema, and `reporter` what speaks in place of the model where their task is none for it.
    """

    def __init__(
        self,
        *,
        store: Runs,
        agents: Agents,
        policy: Callable[[], Policy],
        lease_is_fresh: Callable[[], bool],
        outlet: Outlet,
        now: Now,
        new_id: NewId,
        named: Callable[[Address], str] = str,
        busy: Callable[[Address], Busy] = lambda _: Busy.STEER,
        probe: Probe = no_probe,
        files: Files | None = None,
        long_replies: LongText | None = None,
        reporting: Reporting | None = None,
        reporter: Callable[[Job], Maker | None] = lambda _: None,
        asking: QuestionContext | None = None,
        space: Space = BOUNDLESS,
        notices: LoopNotices | None = None,
        door: Door = OPEN_DOOR,
        faults: Faults = lambda schema, values: "",
        remembering: Remembering | None = None,
    ) -> None:
        self._store, self._agents, self._outlet, self._door = store, agents, outlet, door
        self._busy, self._probe, self._files, self._live = busy, probe, files, dict[RunId, LiveRun]()
        self._remembering, self._reporter = remembering, reporter
        context, self._notices = asking or QuestionContext(), notices or LoopNotices()
        self._whole, self.condenser = WholeTexts(new_id, space), Condenser(self._notices.watch)
        self.surroundings = Surroundings(store=store, policy=policy, named=named, now=now, remembering=remembering)
        self._rulings = rulings = Rulings(store=store, policy=policy, rights=context.rights, now=now)
        ready, known, self._own_call = self._notices.ready, rulings.known, context.own_call
        self._delegating = Delegating(store, agents, door, known, ready, outlet.nudge, faults, probe)
        self._calls = Calls(
            store=store,
            policy=policy,
            lease_is_fresh=lease_is_fresh,
            progress=self._progress,
            nudge=outlet.nudge,
            named=named,
            rights=context.rights,
            rulings=rulings,
            delegating=self._delegating,
            probe=probe,
            whole=self._whole,
            door=door,
            findable=self.surroundings.findable,
        )
        self._questions = Questions(store=store, policy=policy, now=now, new_id=new_id, context=context)
        self._last_words = RunOutcome(new_id=new_id, long_replies=long_replies, reporting=reporting)

    async def work(self, claim: Claim) -> bool:
        """Carry a run as far as it goes; whether its lane has more to do.

        Errors: StoreError when a step could not be recorded; the lane is then still ours and must be given back.
        """
        AT_PLACE.set(claim.address)  # each run has its own task
        agent, job = self._agents[claim.agent], claim.job
        if claim.address.room.startswith(BOUNDED_ROOM) and is_bounded(claim.address):
            agent = bounded(agent, await self._store.bounds_of(claim.address))
        maker = agent.sprinting(claim.task) if agent.sprinting and claim.task else None
        if job and job.task.kind is not TaskKind.PROMPT:
            maker = self._reporter(job)
        run = LiveRun(
            *(claim, agent, claim.iterations, claim.next_step, claim.turns),
            files=list(claim.files),
            allowance=claim.allowance,
            maker=maker,
            goes_on=bool(maker and maker.goes_on),
        )
        self._live[claim.run_id] = run
        try:
            more = (await self._until_end(run)).more
        except Dropped:
            log.info("run dropped", reason="its lane is not surely ours any more")
            await self._store.release(claim.lane)  # nothing happens if it has another owner; else our lease was late
            return False
        finally:
            del self._live[claim.run_id]
            self._progress(run.claim, Resting())
        if run.facts and run.is_full and not more:
            await self._tidy(run, run.facts)
        return more

    async def _tidy(self, run: LiveRun, facts: RunFacts) -> None:
        """Summarise a conversation that is nearly full, now that it was answered and nobody waits there."""
        run.has_ended = True
        try:
            await self.condenser.tidy(self._conversation(run, facts))
        except StoreError as error:
            log.warning("not summarised yet", reason=str(error))

    async def fail(self, claim: Claim, text: str) -> bool:
        """End a run that cannot go on with words to the person; whether its lane has more to do."""
        run = LiveRun(claim, self._agents[claim.agent], claim.iterations, claim.next_step)
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
        run.stop()
        self._progress(run.claim, Stopping())
        return True

    # ------------------------------------------------------------------------------------------------- the loop

    async def _until_end(self, run: LiveRun) -> Released:
        most = MADE_ROUNDS_MAX if run.maker else run.agent.limits.iterations
        try:
            run.obey(run.claim.stop)
            if run.claim.resumed and (released := await self._pick_up(run)):
                return released
            while run.iterations < most:
                reply = await self._ask_model(run)
                if await self._sent_back(run, reply):
                    continue
                if not reply.calls:
                    waits = run.awaits and not reply.text
                    ending = (
                        self._park(run, run.asked) if waits else self._finish(run, reply, RunState.DONE, reply.text)
                    )
                    return await ending
                if released := await self._act(run, reply):
                    return released
                if run.guard and run.guard.is_tripped:
                    self._notices.watch.ended_by_guard()
                    return await self._finish(run, None, RunState.FAILED, tripped())
            return await self._finish(run, None, RunState.FAILED, too_long(most))
        except ModelFailed as error:
            log.warning("model failed", reason=str(error), detail=error.detail)
            return await self._finish(run, None, RunState.FAILED, str(error))
        except BudgetSpent as error:
            log.info("budget spent", reason=str(error))
            return await self._finish(run, None, RunState.FAILED, str(error), error.until)
        except Ended as ended:
            return await self._finish(run, None, RunState.STOPPED, stopped(run.said, ended.after))

    async def _pick_up(self, run: LiveRun) -> Released | None:
        """Pick up what an earlier owner left open, in order, up to the first call whose outcome only a person can tell."""
        tools, steps = run.agent.tools, run.claim.steps
        if run.maker and steps:
            run.maker.recall((await self._read(run)).turns if run.turns is None else run.turns)
        if run.goes_on and any(step.state is StepState.OPEN for step in steps) and (fresh := unasked(steps)):
            return await self._park(run, fresh, works_on=True)
        marked = (index for index, step in enumerate(steps) if step.state is StepState.MARKED)
        doubted = next((index for index in marked if not repeatable(tools, steps[index])), None)
        await self._calls.attempt_all(run, [step for step in steps[:doubted] if step.state not in WAITING])
        run.handed |= any(step.state is StepState.HANDED for step in steps)
        asked = [step for step in steps if step.state is StepState.ASKED] + run.lapsed
        if doubted is not None:
            asked.append(steps[doubted])
        fresh = [step for step in asked if not step.is_asked]
        if run.goes_on and doubted is None and not any(step.call.tool == SPEND_MORE for step in asked):
            run.awaits, run.asked = run.handed or bool(asked), fresh
        elif asked or run.handed:
            return await self._park(run, fresh)
        if run.claim.overtaken:
            own(await self._store.note(run.claim.lane, run.claim.run_id, overtaken_note()))
        await self._join(run)
        return None

    async def _sent_back(self, run: LiveRun, reply: ModelReply) -> bool:
        """Send an answer back to its child, once, where it does not fit what was asked for; whether that was done."""
        fault = "" if reply.calls or run.corrected else self._delegating.fault(run, reply)
        if not fault:
            return False
        lane, run_id, number = run.claim.lane, run.claim.run_id, run.next_step
        recorded = own(await self._store.record_model(lane, run_id, number, reply, []))
        run.iterations, run.next_step, run.allowance = run.iterations + 1, number + 1, recorded.allowance
        run.corrected = True
        run.obey(own(await self._store.note(lane, run_id, correction(fault))).stop)
        return True

    async def _ask_model(self, run: LiveRun) -> ModelReply:
        if run.allowance and run.allowance.over and (question := await self._beyond_budget(run)):
            return question
        if run.claim.child:
            await self._delegating.look_at_budget(run, run.claim.child)
        self._progress(run.claim, Thinking())
        history = await self._with_files(run, await self._history(run))
        if self._own_call and (call := await self._own_call(run.claim.run_id, history.turns)):
            run.own_call = call.id
            return ModelReply("", (call,), Usage(NO_MODEL))
        run.history, run.known = history, None
        run.facts = facts = await self.surroundings.of(run, history.turns)
        reply = await run.unless_stopped(self._reply(run, facts, history))
        run.said = ""
        self._probe("model-answered")
        if not reply.calls and not reply.text.strip() and not run.awaits:
            raise ModelFailed(EMPTY_REPLY)
        return reply

    async def _beyond_budget(self, run: LiveRun) -> ModelReply | None:
        """Look again at the budget that forbids a call; None where one is made all the same, else a question to people.

        Errors: BudgetSpent where it is not.
        """
        run.allowance = own(await self._store.reserve(run.claim.lane, run.claim.run_id))
        over = run.allowance.over
        if over is None or over.then is Then.CHEAPEST:
            return None
        if over.then is Then.ASK and not over.was_asked and not over.is_held:
            return budgets.question(over, f"budget-{run.next_step}")
        raise BudgetSpent(budgets.spent(over, run.claim.clocks), None if over.is_held else over.ends_at)

    async def _affords(self, run: LiveRun) -> bool:
        """True if a summary may be asked for: with what is held back for the run, or once it has ended as budgets allow."""
        if run.has_ended:
            return await self._store.affords(run.claim.run_id)
        return run.allowance is None or run.allowance.over is None

    async def _history(self, run: LiveRun) -> History:
        known, run.turns = run.turns, None  # they came with the claim; every step adds some
        limits = run.agent.limits
        if known and limits.rest.restore is Restore.TRANSCRIPT and is_short(known, limits.window.tokens):
            return History(known)
        return await self._read(run)

    async def _read(self, run: LiveRun) -> History:
        """The conversation as the run knows it: from its last rest on where so set, and of what is too large both ends."""
        claim, limits = run.claim, run.agent.limits
        history = await self._store.history(claim.lane.session, claim.since)
        if limits.rest.restore in SHORTENED_BY_RESTS:
            reads = [name for name, tool in run.agent.tools.items() if tool.spec.effect is Effect.READ]
            history = restored(history, limits.rest, claim.run_id, reads)
        if run.maker or is_short(history.turns, limits.window.tokens):
            return history  # and so is each text in it, or no model reads it
        history, long = shortened(history, limits.window.tokens, claim.run_id)
        for one in long:
            if sources_in(one.text):
                await asyncio.to_thread(note_outside, run.agent.workspaces, claim.address, one.path)
            await self._whole.keep(run.agent.workspaces, claim.address, one.path, one.text)
        if own := sent_by(long, claim.run_id):
            run.long = [told_of(one) for one in own]
        return history

    async def _with_files(self, run: LiveRun, history: History) -> History:
        """`history` once the files that came with it are here; what is to be said of those becomes turns too."""
        if self._files is None or not any(turn.files for turn in not_seen(history.turns)):
            return history
        fetching = self._files.gather(run.claim.lane.session, run.claim.address, history.turns, run.agent.workspaces)
        strangers = [file for turn in not_seen(history.turns) if sources_in(turn.text) for file in turn.files]
        for file in strangers:
            await asyncio.to_thread(note_outside, run.agent.workspaces, run.claim.address, file.path)
        told = await run.unless_stopped(fetching)
        for text in told:
            run.obey(own(await self._store.note(run.claim.lane, run.claim.run_id, text)).stop)
        return await self._read(run) if told else history

    def _progress(self, claim: Claim, event: Progress) -> None:
        """Nobody waits in the room for work in the background, so nothing is shown of it before its end."""
        if (look := self._agents[claim.agent].intercepting) and look.hears_progress:
            look.heard(claim, event)
        if not (claim.job or claim.task or claim.child):
            self._outlet.progress(claim, event)

    def _spoken(self, run: LiveRun, text: str) -> None:
        run.said = text
        step = 0 if run.agent.intercepting else run.next_step
        self._progress(run.claim, Speaking(text, step) if text else Thinking(long=True))

    async def _reply(self, run: LiveRun, facts: RunFacts, history: History) -> ModelReply:
        """The model's answer to as much of `history` as fits. A request that is refused as too large is sent smaller, once."""
        limits = run.agent.limits
        if run.maker:
            return await self._answer(run, facts, partitions(facts, history, UNBOUNDED))
        if limits.rest.restore is Restore.SUMMARY or may_be_full(history, limits.window.tokens):
            parts = await self.condenser.fitted(self._conversation(run, facts), history)
            run.is_full = is_full(parts, history, limits.window.tokens)
        else:
            parts = partitions(facts, history, UNBOUNDED)
        for smaller in (self.condenser.refused, self.condenser.renewed):
            try:
                return await self._answer(run, facts, parts)
            except ContextOverflow:
                parts = await smaller(self._conversation(run, facts), parts, await self._read(run))
        try:
            return await self._answer(run, facts, parts)
        except ContextOverflow as error:
            limits.window.refuse(parts.sent)
            raise ModelFailed(NO_ROOM, detail=error.detail) from None

    async def _answer(self, run: LiveRun, facts: RunFacts, parts: Partitions) -> ModelReply:
        limit, job = run.agent.limits.model_time, run.claim.job
        speaker = GuardedModel(run.maker, self._door) if run.maker else run.agent.model
        work, kept = Work.REPORT if job else Work.CHAT, run.model or run.claim.model
        room = self._door.room(run.claim.address)
        step, wanted = f"{run.claim.run_id}/{run.next_step}", run.claim.wanted
        request = replace(parts.request(facts), work=work, wanted=wanted, kept=kept, room=room, step=step)
        if run.allowance:
            self._probe("budget-reserved")
            request = replace(request, cheapest=run.allowance.over is not None)
        try:
            async with asyncio.timeout(limit.total_seconds()):
                reply = await speaker.reply(request, partial(self._spoken, run))
        except TimeoutError:
            raise ModelFailed(marked("The model gave no answer within {limit}.").format(limit=limit)) from None
        run.model = reply.choice.model
        if parts.sent and not reply.choice.instead_of:
            self.condenser.learn(run.claim.lane.session, parts.sent, reply.usage.input_tokens)
        return reply

    def _conversation(self, run: LiveRun, facts: RunFacts) -> Conversation:
        claim, limits = run.claim, run.agent.limits
        return Conversation(
            Whose(claim.lane.session, claim.run_id, limits.rest),
            facts,
            run.agent.model,
            limits.window,
            read=partial(self._read, run),
            counted=partial(self._store.counted, claim.lane.session, claim.since),
            keep=partial(self._keep, run),
            affords=partial(self._affords, run),
            proposing=self._proposing(run),
        )

    def _proposing(self, run: LiveRun) -> Proposing | None:
        """Takes what a summary proposes to keep, where people alone led to the conversation."""
        if self._remembering is None:
            return None
        return self._remembering.proposing(actor_of(run.claim), run.agent, partial(self._rulings.own_words, run))

    async def _keep(self, run: LiveRun, summary: Summary, usage: Usage | None) -> bool:
        """Store a summary: with the lane, or once the run has ended. Errors: Dropped when fenced."""
        lane = None if run.has_ended else run.claim.lane
        kept = await self._store.keep_summary(run.claim.run_id, lane, summary, usage)
        if summary.kind is SummaryKind.HANDOFF:
            self._probe("handoff-made")
        else:
            self._probe("summary-made")
        if kept:
            self._notices.changed(run.claim.address)
        if lane:
            own(kept or None)
            run.next_step += 1
        return kept

    async def _act(self, run: LiveRun, reply: ModelReply) -> Released | None:
        """One model turn with calls: recorded, then those allowed run, then those asked go up together."""
        lane, number = run.claim.lane, run.next_step
        is_own = reply.usage.model == NO_MODEL and is_on_its_own_account(run, reply.calls[0])
        sorted_calls = await (self._calls.sort_own if is_own else self._calls.sort)(run, reply.calls)
        recorded = own(await self._store.record_model(lane, run.claim.run_id, number, reply, sorted_calls))
        self._probe("step-recorded")
        if run.maker:
            self._probe("workflow-step")
        run.iterations, run.next_step = run.iterations + 1, number + len(reply.calls) + 1
        run.allowance = recorded.allowance
        for room in recorded.told:
            self._outlet.nudge(room)
        run.obey(recorded.stop)
        due = [step for step in recorded.steps if step.state is StepState.OPEN]
        if run.goes_on and not is_own and due and (fresh := unasked(recorded.steps)):
            return await self._park(run, fresh, works_on=True)  # people needn't wait for the end of the other work
        waiting = await self._calls.attempt_all(run, due)
        if run.watches:  # at once: a maker's run may go on for long before it parks
            self._notices.watched()
            run.watches = False
        asked = unasked(recorded.steps) + run.lapsed
        if run.goes_on and not is_own:
            run.awaits |= run.handed or bool(asked) or any(step.is_asked for step in recorded.steps)
            run.asked, run.lapsed = asked, []
        elif asked or run.handed:
            return await self._park(run, asked)
        if waiting or recorded.waiting:
            await self._join(run)
        return None

    async def _join(self, run: LiveRun) -> None:
        """Bring what people said meanwhile to the model before its next call, where it is so set."""
        if self._busy(run.claim.address) is Busy.STEER:
            own(await self._store.steer(run.claim.lane, run.claim.run_id))

    # ------------------------------------------------------------------------------------------------ the endings

    async def _park(self, run: LiveRun, asked: Sequence[ToolStep], *, works_on: bool = False) -> Released:
        in_order = sorted(asked, key=attrgetter("number"))
        questions = await self._questions.of(run, [(step, self._calls.terms(run, step)) for step in in_order])
        claim = run.claim
        prepared = [replace(one, card=await self._outlet.prepare(one.card, claim)) for one in questions]
        cards = [one.card for one in prepared]
        parking = self._store.park(claim.lane, claim.run_id, prepared, works_on=works_on)
        if prepared:
            released = await self._handed_on(run, cards, parking, point="approval-stored")
        else:
            released = await self._handed_on(run, cards, parking, point="children-awaited")
        self._notices.asked()
        log.info("run parked", approvals=[question.id for question in questions])
        return released

    async def _finish(
        self, run: LiveRun, reply: ModelReply | None, state: RunState, text: str, until: datetime | None = None
    ) -> Released:
        text = str(self._door.clean(text, Gate.DELIVERY, self._door.room(run.claim.address)))
        if run.agent.intercepting:
            text = await run.agent.intercepting.closing(run, state, text)
        words = "\n\n".join([text, *run.long]) if run.claim.job is None else text
        last = [await self._outlet.prepare(new, run.claim) for new in await self._last_words.closing(run, state, words)]
        lane, run_id = run.claim.lane, run.claim.run_id
        finish = self._store.finish(
            lane,
            run_id,
            run.next_step,
            reply,
            state,
            text,
            last,
            until,
            valid=not (reply and self._delegating.fault(run, reply)),
        )
        if run.claim.child:
            released = await self._handed_on(run, last, finish, point="child-ended")
        else:
            released = await self._handed_on(run, last, finish, point="delivery-stored")
        if released.woken:
            self._notices.ready()
        log.info("run ended", state=state.value, deliveries=[new.id for new in last])
        return released

    async def _handed_on(
        self, run: LiveRun, prepared: Sequence[NewDelivery], commit: Awaitable[Released | None], *, point: str
    ) -> Released:
        """Commit what ends our turn in the lane, and hand what was made for people on to the couriers."""
        begun: frozenset[DeliveryId] = frozenset()
        try:
            released = own(await commit)
            begun = released.begun
            self._probe(point)
            for room in released.told:
                self._outlet.nudge(room)
            return released
        finally:
            for delivery in prepared:
                self._outlet.carry_on(delivery, run.claim.run_id, begun=delivery.id in begun)


def unasked(steps: Sequence[ToolStep]) -> list[ToolStep]:
    """Calls that people are to be asked about, and were not yet."""
    return [step for step in steps if step.state is StepState.ASKED and not step.is_asked]


def is_on_its_own_account(run: LiveRun, call: Call) -> bool:
    """True for a call that neither a model nor a workflow chose."""
    return call.tool == SPEND_MORE or call.id == run.own_call


def too_long(iterations: int) -> str:
    """Last words of a run that comes to no end."""
    return marked(
        "I stopped after {number} steps without finishing. What I've done so far is above. "
        "Tell me to continue, or give me a smaller task."
    ).format(number=iterations)


def stopped(said: str, after: str) -> str:
    """The last words of a stopped run: what it had written stays, and a tool that could not be cut short is named."""
    if said.strip():
        return f"{said.rstrip()}\n\n{STOPPED_WITHIN}"
    return STOPPED_AFTER.format(tool=after) if after else STOPPED


def overtaken_note() -> str:
    """Said to the model when others spoke while the run waited, since a history must not end with its own words."""
    return (
        f"{OURS}The calls that were waiting have been decided; their results stand above, where they were called. "
        "Go on with the request they belong to."
    )
