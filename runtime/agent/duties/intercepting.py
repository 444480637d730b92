"""Interceptors of one agent, asked about its runs.

They decide about a call once, before it is recorded: what they said is recorded with it, in one transaction, and a run that goes on
after a kill acts on that. A result, and the text of an answer, are recorded as they left them.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import replace
from typing import Final

from runtime.agent.asking import not_run
from runtime.agent.run_state import LiveRun
from runtime.agent.tool_calls import parsed
from runtime.chat.forms import written
from runtime.contract import Address, Call, Effect, Json, Model, Progress, Stopping, Thinking, Tool, Working
from runtime.contract.agents.interceptors import AnswerKind, InterceptorFailed, Occasion, Point
from runtime.domain.approvals import Approval
from runtime.domain.runs import RunState, StepState
from runtime.domain.transcript import CHANGED_BY, DENIED, ERROR, OURS, changed_before
from runtime.guard.findings import Gate
from runtime.interceptors.chain import Interceptors, Outcome
from runtime.interceptors.model import HELD_BACK, intercepted
from runtime.store.protocol import Claim, NewStep, ToolStep

Faults = Callable[[Mapping[str, Json], Mapping[str, Json]], str]
"""Says what is wrong with arguments by a JSON schema; nothing where nothing is."""
Sort = Callable[[Call], Awaitable[NewStep]]
"""Asks the rules about a call."""

SEALED_CALL_WORDS: Final = "the call holds a secret, which interceptors don't see, so they can't replace its arguments"
CANNOT_SEE: Final = 'Interceptor "{name}" cannot see what is hidden here.'
"""Anything may stand where it's shown a mark, so its yes is none."""
WITHHELD: Final = f"{OURS}The call was made, but its result is withheld:"


class RunInterceptors:
    """Looks in where the agent's runs pass a point. `named` writes an address as the settings do."""

    def __init__(self, chain: Interceptors, agent: str, *, named: Callable[[Address], str], faults: Faults) -> None:
        self._chain = chain
        self._agent = agent
        self._named = named
        self._faults = faults
        self.hears_progress = chain.has(Point.ON_PROGRESS)

    def around(self, model: Model) -> Model:
        """The agent's model, between those that look at its requests and answers."""
        return intercepted(model, self._chain, self._agent)

    # -------------------------------------------------------------------------------------------------------- calls

    async def before_tool(self, run: LiveRun, tool: Tool, step: NewStep, number: int, sort: Sort) -> NewStep:
        """The call as it is recorded: as the rules left it, asked about, denied, or another one that the rules let through."""
        if not self._chain.has(Point.BEFORE_TOOL):
            return step
        occasion = self._occasion(
            run.claim, Point.BEFORE_TOOL, number, step.call.tool, _told_of(step.effect, step.call)
        )
        sorted_step = step

        async def take(before: Occasion, values: Mapping[str, Json]) -> Occasion | None:
            nonlocal sorted_step
            sorted_step = await sort(self._replaced(tool, sorted_step.call, values["arguments"], occasion.room))
            arguments = parsed(sorted_step.call.arguments)
            is_over = sorted_step.state is StepState.DONE  # a rule denies what it has become
            return None if is_over else replace(before, values={**before.values, "arguments": arguments})

        outcome = await run.unless_stopped(self._chain.judged(occasion, take))
        if sorted_step.call.sealed and outcome.kind is AnswerKind.ALLOW and (blind := self._blind(outcome.occasion)):
            outcome.kind, outcome.words = AnswerKind.ASK, [CANNOT_SEE.format(name=blind)]
        if outcome.changes:
            told_before = run.warnings.get(step.call.id, "")
            words = changed_before(f"{_by(outcome)}.")
            run.warnings[step.call.id] = "\n\n".join(filter(None, [words, told_before]))
        return _as_judged(sorted_step, tool, outcome)

    def _blind(self, occasion: Occasion) -> str:
        """Name of the first that would have to see all of a call to let it through; empty where there is none."""
        return next((one.name for one in self._chain.fitting(occasion) if one.is_closed), "")

    def _replaced(self, tool: Tool, call: Call, arguments: Mapping[str, Json], room: str) -> Call:
        """Errors: InterceptorFailed."""
        if call.sealed:
            raise InterceptorFailed(SEALED_CALL_WORDS)
        try:
            told = written(arguments)
        except (TypeError, ValueError):
            raise InterceptorFailed("its arguments cannot be written as JSON") from None
        if fault := self._faults(tool.spec.schema, arguments):
            raise InterceptorFailed(f"its arguments do not fit {tool.spec.name}: {fault}")
        return self._chain.door.call(replace(call, arguments=told), room)

    async def objection(self, asked: Approval, tool: Tool, arguments: Mapping[str, Json], person: str) -> str:
        """The reason why a call may not be made as an approver wants it; empty where it may."""
        if not self._chain.has(Point.BEFORE_TOOL):
            return ""
        call = self._chain.door.call(Call("", asked.tool, written(arguments)), self._room(asked.address))
        told = _told_of(tool.spec.effect, call)
        step, room = f"{asked.run_id}/{asked.step}", self._room(asked.address)
        occasion = Occasion(Point.BEFORE_TOOL, self._agent, room, asked.run_id, step, person, asked.tool, told)
        outcome = await self._chain.judged(occasion, _taken)
        if outcome.kind is AnswerKind.DENY:
            words = " ".join(outcome.words)
            return f"{words[0].upper()}{words[1:]}"
        if outcome.changes:
            return f"This call would be changed by {_by(outcome)}. Write it that way."
        return CANNOT_SEE.format(name=blind) if call.sealed and (blind := self._blind(occasion)) else ""

    async def after_tool(self, run: LiveRun, step: ToolStep, result: str) -> str:
        """The result as the model will read it. The call was made: where nobody can be asked, it stays unless that is closed."""
        told = {"arguments": parsed(step.call.arguments), "result": result}
        occasion = self._occasion(run.claim, Point.AFTER_TOOL, step.number, step.call.tool, told)
        if result.startswith(ERROR) and self._chain.has(Point.ON_ERROR):
            await self._chain.tell(replace(occasion, at=Point.ON_ERROR, values={"error": result}))
        if not self._chain.has(Point.AFTER_TOOL):
            return result

        async def take(before: Occasion, values: Mapping[str, Json]) -> Occasion:
            clean = str(self._chain.door.clean(values["result"], Gate.TOOL_RESULT, before.room))
            return replace(before, values={**before.values, "result": clean})

        outcome = await self._chain.judged(occasion, take)
        if outcome.kind is AnswerKind.DENY:
            return f"{WITHHELD} {' '.join(outcome.words)}"
        replaced: str = outcome.occasion.values["result"]
        return replaced

    # ---------------------------------------------------------------------------------------------------------- end

    async def closing(self, run: LiveRun, state: RunState, text: str) -> str:
        """The last words of a run as they are recorded and shown. Nobody is shown those of a child."""
        shown = text if run.claim.child else await self._shown(run, text)
        if state is RunState.FAILED:
            await self._chain.tell(self._occasion(run.claim, Point.ON_ERROR, run.next_step, "", {"error": shown}))
        ended = {"state": state.value, "text": shown}
        await self._chain.tell(self._occasion(run.claim, Point.RUN_END, run.next_step, "", ended))
        return shown

    async def _shown(self, run: LiveRun, text: str) -> str:
        async def take(before: Occasion, values: Mapping[str, Json]) -> Occasion:
            return replace(
                before, values={"text": str(self._chain.door.clean(values["text"], Gate.DELIVERY, before.room))}
            )

        occasion = self._occasion(run.claim, Point.BEFORE_SHOW, run.next_step, "", {"text": text})
        outcome = await self._chain.judged(occasion, take)
        if outcome.kind is AnswerKind.DENY:
            return f"{HELD_BACK} {' '.join(outcome.words)}"
        shown: str = outcome.occasion.values["text"]
        return shown

    # ----------------------------------------------------------------------------------------------------- progress

    def heard(self, claim: Claim, event: Progress) -> None:
        if told := _told(event):
            tool, values = str(told.get("tool", "")), {"event": told["event"]}
            self._chain.hear(self._occasion(claim, Point.ON_PROGRESS, None, tool, values))

    def _occasion(self, claim: Claim, at: Point, number: int | None, tool: str, values: Mapping[str, Json]) -> Occasion:
        step = "" if number is None else f"{claim.run_id}/{number}"
        person = claim.requester.name if claim.requester else ""
        return Occasion(at, self._agent, self._room(claim.address), claim.run_id, step, person, tool, values)

    def _room(self, address: Address) -> str:
        return self._named(address)


def _told_of(effect: Effect, call: Call) -> Mapping[str, Json]:
    """The call as people see it. `hidden`: a mark stands where something was taken out."""
    told = {"effect": effect.value, "arguments": parsed(call.arguments)}
    return {**told, "hidden": True} if call.sealed else told


def _as_judged(step: NewStep, tool: Tool, outcome: Outcome) -> NewStep:
    if step.state is StepState.DONE:
        return step
    if outcome.kind is AnswerKind.DENY:
        return not_run(step.call, step.effect, f"{DENIED}{' '.join(outcome.words)}")
    if tool.spec.asks:  # people are asked something else already, and decide by their answer
        return step
    if outcome.kind is AnswerKind.ASK:
        step = replace(step, state=StepState.ASKED, grant=None, unasked="")
    if step.state is not StepState.ASKED:
        return step
    changed = f"{CHANGED_BY}{_by(outcome)}." if outcome.changes else ""
    return replace(step, caution="\n\n".join(filter(None, [step.caution, *outcome.words, changed])))


async def _taken(before: Occasion, values: Mapping[str, Json]) -> Occasion | None:
    """Nobody changes what a person wrote: it is only told that somebody would."""
    return None


def _by(outcome: Outcome) -> str:
    names = f"interceptor{'' if len(outcome.changes) == 1 else 's'}"
    return f"the {names} {' and '.join(outcome.changes)}"


def _told(event: Progress) -> Mapping[str, Json]:
    match event:
        case Thinking():
            return {"event": "thinking"}
        case Working(tool, _, ended):
            return {"event": "ended" if ended else "working", "tool": tool}
        case Stopping():
            return {"event": "stopping"}
        case _:  # its words pass before_show, and its end is told by run_end
            return {}
