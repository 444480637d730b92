"""The calls of a model turn: which of them may be made is decided here, and those that may are made."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Coroutine, Mapping, Sequence
from dataclasses import replace
from datetime import timedelta
from functools import partial
from typing import TYPE_CHECKING, Any, Final, TypeVar

import structlog

from runtime.agent.asking import asked_by_us, not_run, refused_or_stopped, sorted_question
from runtime.agent.delegation.orders import Delegating, asked_for
from runtime.agent.duties.attached import fitting
from runtime.agent.duties.sleeping import sleep
from runtime.agent.duties.sources import Sources, fenced
from runtime.agent.duties.undoing import kept_before
from runtime.agent.guard import UNGUARDED, Judgement, LoopGuard, Made, Verdict
from runtime.agent.rulings import Answer, Rulings
from runtime.agent.run_state import Dropped, LiveRun, own
from runtime.cancellation import cancellable
from runtime.context.oversize import FOLDER, note
from runtime.contract import (
    HAND_OVER,
    REHEARSED,
    SPEND_MORE,
    Address,
    Advancing,
    Attach,
    Call,
    Effect,
    FileRef,
    Json,
    Probe,
    Progress,
    Reads,
    Tool,
    ToolContext,
    ToolSpec,
    Working,
)
from runtime.domain.approvals import Rights
from runtime.domain.ids import digest
from runtime.domain.runs import StepState
from runtime.domain.transcript import CHANGED_BY, DENIED, ERROR, NOT_RUN, told_as_changed
from runtime.errors import StoreError, ToolError
from runtime.guard.door import Door
from runtime.guard.findings import WITHHELD, Gate
from runtime.guard.sealing import Unsealable
from runtime.policy.grants import GrantId
from runtime.policy.rules import DENYING, Ask, By, Policy, Ruling, because, rule
from runtime.policy.terms import Terms
from runtime.policy.tool_forms import warning
from runtime.reports.fan_out import MOST_FILES
from runtime.store.protocol import Claim, NewStep, Recorded, Runs, ToolStep
from runtime.text.glyphs import bound, clip, visible
from runtime.text.words import marked
from runtime.workspace.whole_texts import WholeTexts

if TYPE_CHECKING:
    from runtime.agent.duties.intercepting import RunInterceptors

T = TypeVar("T")
log = structlog.get_logger("agent")

SEALED_ELSEWHERE: Final = "the arguments of this call hold a secret, and were sealed with a key that this node does not have. It was not called."
PARTLY_HIDDEN: Final = marked("What is hidden here as a secret runs with the call. Say yes only if you know it.")
READ_ONLY_BY_NOW: Final = "the read-only mode of this conversation"
ASKED_BY: Final = 'Interceptor "'
"""Stands in what a card says of a call that an interceptor has asked about: no standing yes answers it."""
NOT_ABOVE: Final = "{above}, which asked for this, may not do it either."
TELL_SECONDS: Final = 1.0
"""Between two words of a run's tools about how far they are."""
TOLD_MAX_CHARS: Final = 120
LOOKED_AT_MAX_CHARS: Final = 2_000
"""Of such words, in which secrets are looked for: one that is cut at the end of them isn't shown."""
STORE_RETRY_DELAY: Final = timedelta(seconds=0.5)
"""Between two tries to record a result."""


class Calls:
    """Sorts and makes calls in the name of each run's agent. `progress` shows what is at work, `nudge` what a room is told,
    and `findable` are the tools that a run may look for."""

    def __init__(
        self,
        *,
        store: Runs,
        policy: Callable[[], Policy],
        lease_is_fresh: Callable[[], bool],
        progress: Callable[[Claim, Progress], None],
        nudge: Callable[[Address], object],
        named: Callable[[Address], str],
        rights: Callable[[], Rights],
        rulings: Rulings,
        delegating: Delegating,
        probe: Probe,
        whole: WholeTexts,
        door: Door,
        findable: Callable[[LiveRun], Sequence[ToolSpec]],
    ) -> None:
        self._store = store
        self._policy = policy
        self._lease_is_fresh = lease_is_fresh
        self._progress = progress
        self._nudge = nudge
        self._named = named
        self._rights = rights
        self._rulings = rulings
        self._delegating = delegating
        self._probe = probe
        self._whole = whole
        self._door = door
        self._findable = findable
        self._accepted: dict[str, str] = {}
        self._sources = Sources(rulings.known)

    async def sort(self, run: LiveRun, calls: Sequence[Call]) -> list[NewStep]:
        """The calls of one answer: each open, asked, or done at once with the reason why it does not run."""
        answer = Answer()
        return [await self._judged(run, call, answer) for call in calls]

    async def sort_own(self, run: LiveRun, calls: Sequence[Call]) -> list[NewStep]:
        """The calls that a run makes on its own account: a question to people, or what goes on after one."""
        answer = Answer()
        return [await self._own(run, call, answer) for call in calls]

    async def _own(self, run: LiveRun, call: Call, answer: Answer) -> NewStep:
        tool = run.agent.tools.get(call.tool)
        if call.tool == SPEND_MORE:
            return asked_by_us(call)  # no rule, grant or mode answers for people
        if tool is None or not tool.spec.untold or tool.spec.asks:
            return await self._judged(run, call, answer, is_own=True)
        answer.sorted += 1
        return NewStep(call, tool.spec.effect, digest(call.arguments), StepState.OPEN)

    async def _judged(self, run: LiveRun, call: Call, answer: Answer, *, is_own: bool = False) -> NewStep:
        tool = run.agent.tools.get(call.tool)
        if tool and tool.spec.untold and not (is_own or run.maker):
            tool = None  # no model is told of it: one that calls it all the same was told by somebody else
        guard = await self._guard(run)
        judged = guard.judge(call, polls=bool(tool and tool.spec.polls))
        if judged.verdict is Verdict.REFUSED:
            log.warning("call refused by the loop guard", tool=call.tool)
            effect = tool.spec.effect if tool else Effect.READ
            answer.sorted += 1
            return replace(not_run(call, effect, judged.words), guard=judged.verdict.value)
        if judged.words:
            run.warnings[call.id] = judged.words
        step = await self._sorted(run, tool, call, answer)
        answer.sorted += 1
        if tool and run.agent.intercepting and step.state is not StepState.DONE:
            step, judged = await self._intercepted(run, run.agent.intercepting, tool, step, answer, judged)
        if step.state is StepState.DONE:
            guard.ended(call, step.result)
        else:
            answer.calls[call.tool] += 1
        return replace(step, guard=judged.verdict.value) if judged.words else step

    async def _intercepted(
        self, run: LiveRun, looks_in: RunInterceptors, tool: Tool, step: NewStep, answer: Answer, judged: Judgement
    ) -> tuple[NewStep, Judgement]:
        """The call as interceptors leave it. Another one is judged by the guard too, as it will be known after a kill."""
        sort, number = partial(self._sorted, run, tool, answer=answer), run.next_step + answer.sorted
        left = await looks_in.before_tool(run, tool, step, number, sort)
        if left.call.arguments == step.call.arguments:
            return left, judged
        judged = (await self._guard(run)).judge_instead(left.call, judged.verdict, polls=tool.spec.polls)
        if judged.verdict is Verdict.REFUSED:
            log.warning("call refused by the loop guard", tool=left.call.tool)
            return not_run(left.call, left.effect, judged.words), judged
        if judged.words:
            run.warnings[left.call.id] = f"{run.warnings[left.call.id]}\n\n{judged.words}"
        return left, judged

    async def _guard(self, run: LiveRun) -> LoopGuard:
        """The guard of this run, which knows every call that it made, also before a kill."""
        if run.guard is None:
            made = await self._store.calls_of(run.claim.run_id) if run.claim.resumed else []
            polls = {name for name, tool in run.agent.tools.items() if tool.spec.polls}
            known = [Made(call, result, call.tool in polls) for call, result in made]
            run.guard = LoopGuard(UNGUARDED if run.maker else run.agent.limits.guard, known)
        return run.guard

    async def _sorted(self, run: LiveRun, tool: Tool | None, call: Call, answer: Answer) -> NewStep:
        if tool is None:
            known = ", ".join(sorted(name for name, one in run.agent.tools.items() if not one.spec.untold))
            return not_run(call, Effect.READ, f"{ERROR}there is no tool {call.tool!r}; there are {known}.")
        effect, arguments = tool.spec.effect, parsed(call.arguments)
        if isinstance(arguments, str):
            return not_run(call, effect, f"{ERROR}{arguments}")
        most = run.agent.manifest.tool_calls_per_minute
        if most and (why := await self._rulings.too_many(run, most, answer)):
            return not_run(call, effect, f"{DENIED}{why}")
        ask = self._ask(run, call, effect)
        if above := self._delegating.lost_right(run, tool.spec):
            return not_run(call, effect, f"{DENIED}{NOT_ABOVE.format(above=above)}")
        ruled, facts = await self._rulings.first(run, ask, answer)
        if ruled.result in DENYING:
            return not_run(call, effect, f"{DENIED}{ruled.why}")
        if step := await refused_or_stopped(run, tool.spec, call, arguments):
            return step
        if tool.spec.asks:
            is_open = ruled.result is Ruling.ALLOW and ruled.rule is not None and ruled.rule.tool != "*"
            near = None if is_open else self._rights().approvers
            return await sorted_question(self._store, run, call, tool.spec.asks, arguments, near)
        changed = await self._changed(tool)
        ruled = await self._rulings.answered(run, tool, call, ask, replace(facts, changed=bool(changed)), answer)
        ruled, after_reading = await self._rulings.tainted(run, tool, ask, ruled, call)
        hidden = PARTLY_HIDDEN if call.sealed and ruled.result is Ruling.ASK else ""
        caution = "\n\n".join(filter(None, [tool.caution(), changed, after_reading, hidden, asked_for(run.claim)]))
        state = StepState.OPEN if ruled.result is Ruling.ALLOW else StepState.ASKED
        step = NewStep(call, effect, digest(call.arguments), state, "", caution)
        match ruled.by:
            case By.GRANT:
                return replace(step, grant=GrantId(ruled.name))
            case By.TRUST:
                return replace(step, unasked=ruled.name)
            case _:
                return step

    def terms(self, run: LiveRun, step: ToolStep | NewStep) -> Terms:
        """Terms of a question about `step`, by the rules that hold now."""
        terms = self._policy().terms(self._ask(run, step.call, step.effect))
        if step.call.tool in (SPEND_MORE, HAND_OVER) or step.call.sealed:
            return replace(terms, grants=False, editable=False)
        return replace(terms, grants=False) if ASKED_BY in step.caution else terms

    def _ask(self, run: LiveRun, call: Call, effect: Effect) -> Ask:
        """A call as the rules judge it: by its true arguments, since anything may stand where people see a mark."""
        try:
            arguments = parsed(self._door.true_arguments(call))
        except Unsealable:  # it is not made then
            arguments = parsed(call.arguments)
        known = {} if isinstance(arguments, str) else arguments
        return Ask(call.tool, effect, known, run.agent.scope, self._named(run.claim.address), run.claim.names)

    async def _changed(self, tool: Tool) -> str:
        """A warning where the tool is not as it was accepted. What is known to be accepted is not looked up again."""
        name, form = tool.spec.name, tool.spec.form
        if not form or self._accepted.get(name) == form:
            return ""
        accepted = await self._store.accepted_form(name, form)
        if accepted != form:
            return warning(accepted, form)
        self._accepted[name] = form
        return ""

    async def _accept(self, run: LiveRun, tool: Tool) -> None:
        """A person said yes to a call of the tool as it is."""
        name, form = tool.spec.name, tool.spec.form
        if form and self._accepted.get(name) != form:
            await self._store.accept_form(name, form, f"an approval in run {run.claim.run_id}")
            self._accepted[name] = form

    async def attempt_all(self, run: LiveRun, steps: Sequence[ToolStep]) -> int:
        """Calls in order, neighbours that only read side by side; how many signals wait by now."""
        waiting = 0
        for group in side_by_side(steps, partial(may_share, run.agent.tools)):
            waiting = max(await together([partial(self._attempt, run, step) for step in group]))
        return waiting

    async def _attempt(self, run: LiveRun, step: ToolStep) -> int:
        lane, run_id = run.claim.lane, run.claim.run_id
        if not self._lease_is_fresh():
            raise Dropped
        ask = self._ask(run, step.call, step.effect)  # the rules may be others than when it was sorted
        tool = run.agent.tools.get(step.call.tool)
        if tool and (above := self._delegating.lost_right(run, tool.spec)):
            return await self._refuse(run, step, f"the agent {above}, which asked for this,")
        ruled = rule(self._policy(), ask)
        if ruled.result in DENYING:
            return await self._refuse(run, step, ruled.whose, ruled.rule.reason if ruled.rule else "")
        changes = step.effect is not Effect.READ
        marked = own(await self._store.mark_tool(lane, run_id, step.number, changes=changes))
        if marked.lapsed:
            log.info("call lapsed", tool=step.call.tool, step=step.number)
            run.lapsed.append(replace(step, state=StepState.ASKED))
            return marked.waiting
        self._probe("tool-marked")
        run.obey(marked.stop)
        if marked.barred:
            return await self._refuse(run, step, READ_ONLY_BY_NOW)
        self._progress(run.claim, Working(step.call.tool, step.call.arguments))
        files: list[FileRef] = []
        kept: list[str] = []
        result = await self._call(run, step, files.append, kept.append)
        self._probe("tool-finished")
        log.info("tool ran", tool=step.call.tool, step=step.number)
        self._progress(run.claim, Working(step.call.tool, step.call.arguments, ended=True))
        if result is None:  # in the hands of others from here on
            return marked.waiting
        if run.guard:
            run.guard.ended(step.call, result)
        recorded = own(await self._record(run, step, result, files, *kept))
        for room in recorded.told:
            self._nudge(room)
        run.obey(recorded.stop, after="" if repeatable(run.agent.tools, step) else step.call.tool)
        return recorded.waiting

    async def _refuse(self, run: LiveRun, step: ToolStep, whose: str, reason: str = "") -> int:
        """Leave a call that a rule denies by now, whoever allowed it before; how many signals wait."""
        lane, run_id = run.claim.lane, run.claim.run_id
        result = f"{DENIED}{whose} no longer allows it.{because(reason)}{NOT_RUN}"
        log.info("call refused by a rule", tool=step.call.tool, step=step.number)
        if run.guard:
            run.guard.ended(step.call, result)
        refused = own(await self._store.refuse_tool(lane, run_id, step.number, result, whose, reason))
        for room in refused.told:
            self._nudge(room)
        run.obey(refused.stop)
        return refused.waiting

    async def _record(
        self, run: LiveRun, step: ToolStep, result: str, files: Sequence[FileRef], kept: str | None = None
    ) -> Recorded | None:
        """Store a result. One of a tool with effects is known to us alone: as long as we may, we keep trying."""
        warning = run.warnings.pop(step.call.id, "")
        if not warning and CHANGED_BY in step.caution:  # people were asked in between
            warning = told_as_changed(step.caution)
        if warning:
            result = f"{result}\n\n{warning}"
        if len(run.files) + len(files) > MOST_FILES:
            files, result = fitting(len(run.files), files, result)
        run.files += files  # at once: others may be attached meanwhile
        while True:
            try:
                lane, run_id = run.claim.lane, run.claim.run_id
                return await self._store.finish_tool(lane, run_id, step.number, result, files, kept)
            except StoreError as error:
                if repeatable(run.agent.tools, step) or not self._lease_is_fresh():
                    raise
                log.debug("a result is not recorded yet", reason=str(error))
                await asyncio.sleep(STORE_RETRY_DELAY.total_seconds())

    async def _call(self, run: LiveRun, step: ToolStep, attach: Attach, keep: Callable[[str], None]) -> str | None:
        """Run one tool: its result, or its failure in words for the model. Only a read is cut by a stop.

        None: other agents work on it. `keep` gets what would take the call back, before it is made.
        """
        tool = run.agent.tools.get(step.call.tool)
        if tool is None:
            return f"{ERROR}there is no tool {step.call.tool!r} any more."
        now = tool.caution()  # it may have no sandbox now, be another one of this name, or was only to be tried then
        if not step.caution.startswith(now) or step.caution.startswith(REHEARSED) > now.startswith(REHEARSED):
            return f"{ERROR}{step.call.tool} has changed since people were asked, so it was not called."
        if step.caution:
            await self._accept(run, tool)
        try:
            arguments = parsed(self._door.true_arguments(step.call))
        except Unsealable:
            return f"{ERROR}{SEALED_ELSEWHERE}"
        if isinstance(arguments, str):
            return f"{ERROR}{arguments}"
        if tool.spec.hands or tool.spec.sleeps:
            return await self._put_off(run, step, tool.spec, arguments)
        own_words = partial(self._rulings.own_words, run)
        tell = partial(self._tell, run, step.call)
        context = run.context(step.call.id, attach, partial(self._findable, run), own_words, tell)
        if tool.spec.undo and (kept := await kept_before(tool, arguments, context)) is not None:
            keep(kept)
        work = self._guarded(tool, arguments, context, run.maker.limit(step.call.id) if run.maker else None)
        flow = tool.spec.flow
        is_ours = flow.reads is Reads.OURS and not flow.writes
        source = "" if is_ours else await self._sources.of(run, tool.spec, arguments)
        told = await (run.unless_stopped(work) if repeatable(run.agent.tools, step) else work)
        room = self._door.room(run.claim.address)
        text, more = str(self._door.clean(told, Gate.TOOL_RESULT, room)), ""
        text = await looks_in.after_tool(run, step, text) if (looks_in := run.agent.intercepting) else text
        if len(text) > tool.spec.output_bound:
            text, more = await self._cut(run, step, text, tool.spec.output_bound, is_outside=bool(source))
        if source:
            text = fenced(text, tool.spec, arguments, self._door.clean(source, Gate.TOOL_RESULT, room))
        return f"{text}{more}"

    def _tell(self, run: LiveRun, call: Call, words: str) -> None:
        """Show how far a call is. They are words from outside: few, on a line, and looked at as a result is."""
        now = asyncio.get_running_loop().time()
        if now - run.told_at < TELL_SECONDS:
            return
        run.told_at = now
        clean = self._door.clean(words[:LOOKED_AT_MAX_CHARS], Gate.TOOL_RESULT, self._door.room(run.claim.address))
        shown = clip(visible(" ".join(clean.split())), TOLD_MAX_CHARS)
        self._progress(run.claim, Advancing(call.tool, call.arguments, shown))

    async def _put_off(self, run: LiveRun, step: ToolStep, spec: ToolSpec, arguments: Mapping[str, Json]) -> str | None:
        """Hand the call to other agents, or let it wait for a time; the reason in words where that can't be."""
        if spec.hands:
            return await self._delegating.hand(run, step, spec.hands, arguments)
        return await sleep(self._store, run, step, spec, arguments, self._rulings.now)

    async def _cut(self, run: LiveRun, step: ToolStep, text: str, most: int, *, is_outside: bool) -> tuple[str, str]:
        """Both ends of a result that is too long, and a line on the file with all of it, where there is space for one."""
        path = f"{FOLDER}/result-{run.claim.run_id}-{step.number}.txt"
        if is_outside:
            await self._sources.note(run, path)
        if not await self._whole.keep(run.agent.workspaces, run.claim.address, path, text):
            return bound(text, most), ""
        told = f"\n\n{note(path, len(text))}"
        return bound(text, most - len(told)), told

    async def _guarded(
        self, tool: Tool, arguments: Mapping[str, Json], context: ToolContext, less: timedelta | None
    ) -> str:
        limit = min(tool.spec.timeout, less) if less else tool.spec.timeout
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


def may_share(tools: Mapping[str, Tool], step: ToolStep) -> bool:
    """Tell whether the call may be made beside others. Work that is handed on is counted, so each waits for the last."""
    tool = tools.get(step.call.tool)
    return repeatable(tools, step) and not (tool and (tool.spec.hands or tool.spec.sleeps))


def repeatable(tools: Mapping[str, Tool], step: ToolStep) -> bool:
    """Tell whether the call may be made again unasked; for a tool that is gone, by its effect."""
    tool = tools.get(step.call.tool)
    return tool.spec.repeatable if tool else step.effect is Effect.READ


async def together(works: Sequence[Callable[[], Coroutine[Any, Any, T]]]) -> list[T]:
    """The outcomes of all, which run side by side. Errors: the first failure, after the others were cancelled."""
    if len(works) == 1:
        return [await works[0]()]
    try:
        return await cancellable(_all(works))
    except BaseExceptionGroup as failures:
        raise failures.exceptions[0] from None


async def _all(works: Sequence[Callable[[], Coroutine[Any, Any, T]]]) -> list[T]:
    async with asyncio.TaskGroup() as group:
        tasks = [group.create_task(work()) for work in works]
    return [task.result() for task in tasks]


def parsed(arguments: str) -> Mapping[str, Json] | str:
    """The arguments of a call, or what is wrong with them in words for the model."""
    if arguments.startswith(WITHHELD):
        return f"the leak guard withheld the arguments: {arguments} Nothing was called. Do without that text."
    try:
        values = json.loads(arguments or "{}")
    except (ValueError, RecursionError) as error:  # the latter for thousands of open brackets
        return f"the arguments are not valid JSON ({error}); send one JSON object."
    if not isinstance(values, dict):
        return f"the arguments are a JSON {type(values).__name__}; send one JSON object."
    return values


def side_by_side(steps: Sequence[ToolStep], may_repeat: Callable[[ToolStep], bool]) -> list[list[ToolStep]]:
    """Steps in order, cut into groups that may run at once: neighbours that only read; any other alone."""
    groups: list[list[ToolStep]] = []
    for step in steps:
        if groups and may_repeat(step) and may_repeat(groups[-1][-1]):
            groups[-1].append(step)
        else:
            groups.append([step])
    return groups
